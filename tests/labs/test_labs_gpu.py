"""What only a GPU shows: requested bytes at full size, and whole labs. Needs one NVIDIA GPU."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
import numpy as np
import pytest

from tritonkata.engine.arrays import numpy_dtype
from tritonkata.engine.engines import GpuEngine
from tritonkata.hidden.inputs import DTYPES
from tritonkata.labs import variants
from tritonkata.labs.model import CeilingResult, LabResult
from tritonkata.labs.variants import VARIANTS, Lab

pytestmark = pytest.mark.gpu

SHAPES = [(8192, 4096), (512, 1000), (2048, 131_072)]


@pytest.fixture(scope="module", params=["softmax", "fusion"])
def loaded(request: pytest.FixtureRequest) -> Iterator[tuple[Lab, GpuEngine]]:
    """A lab's kernels on the GPU."""
    engine = GpuEngine(variants.assignment(request.param))
    try:
        engine.load()
        yield request.param, engine
    finally:
        engine.close()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES, ids=[f"{rows}x{cols}" for rows, cols in SHAPES])
def test_requested_bytes_are_the_predicted_ones_to_the_byte(
    loaded: tuple[Lab, GpuEngine], shape: tuple[int, int], dtype: str
) -> None:
    lab, engine = loaded
    x = np.zeros(shape, numpy_dtype(dtype))
    found = {}
    for variant in VARIANTS[lab]:
        observation = engine.traffic(variant.entry, (x,), counted=False)
        assert observation.fault is None, observation.fault
        assert observation.traffic is not None, observation.absent
        assert observation.traffic.source == "cupti"
        found[variant.name] = observation.traffic.requested
    assert found == {one.name: variants.predicted(one, *shape, x.itemsize) for one in VARIANTS[lab]}


@pytest.mark.parametrize("name", ["softmax", "fusion"])
def test_a_lab_measures_time_and_three_levels(kata: Any, name: str) -> None:
    done = kata("lab", name, "--engine", "gpu", "--rows", "2048", "--cols", "2048", "--rounds", "5", "--json")
    assert done.returncode == 0, done.stderr
    result = msgspec.json.decode(done.stdout, type=LabResult)
    assert result.environment.card
    assert result.environment.driver
    assert result.environment.l2_bytes
    for row in result.rows:
        assert row.fault is None
        assert row.speed is not None
        assert row.speed.kernel_us > 0
        assert row.effective
        assert row.traffic is not None
        assert row.traffic.l2 is not None or "L2" in row.traffic.absent
        assert row.checked is not None
        assert row.checked.passed == (row.variant != "naive_unsafe")
        if row.variant != "torch":
            assert row.as_predicted
    if name == "fusion":
        assert result.ratios[0].predicted == result.ratios[0].requested == 3.5
    else:
        assert "torch.softmax" in result.missing or result.rows[-1].variant == "torch"


def test_the_sweep_measures_every_row_length(kata: Any) -> None:
    done = kata("lab", "ceiling", "--engine", "gpu", "--rows", "1024", "--cols", "512", "--rounds", "3", "--json")
    assert done.returncode == 0, done.stderr
    result = msgspec.json.decode(done.stdout, type=CeilingResult)
    assert [point.cols for point in result.points] == [64, 128, 256, 512]
    assert result.outgrows_l2
    for point in result.points:
        for row in point.rows:
            assert row.speed is not None
            assert row.as_predicted
            assert row.checked is not None
            assert row.checked.passed


def test_a_shape_beyond_the_gpu_is_one_line(kata: Any) -> None:
    done = kata("lab", "softmax", "--engine", "gpu", "--rows", "2147483647", "--cols", "131072")
    assert done.returncode == 2
    assert "try --rows" in done.stderr
