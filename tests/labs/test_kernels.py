"""The labs' kernels in the interpreter: right on every layout, and their bytes as predicted."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tritonkata.engine.base import Engine
from tritonkata.hidden.inputs import DTYPES, padded
from tritonkata.labs import inputs, variants
from tritonkata.labs.truth import check, truth_of
from tritonkata.labs.variants import FUSION, SOFTMAX, SWEPT, Variant
from tritonkata.model.faults import Fault
from tritonkata.model.observation import Level

SOFTMAX_SHAPES = [(3, 1), (2, 31), (3, 128), (2, 1000), (2, 4099)]
FUSION_SHAPES = [(3, 1), (5, 5), (7, 3), (3, 70), (150, 64), (131, 130)]


def of_names(found: tuple[Variant, ...]) -> list[str]:
    return [variant.name for variant in found]


def requested(engine: Engine, variant: Variant, x: Any) -> Level:
    observation = engine.traffic(variant.entry, (x,), counted=False)
    assert observation.fault is None, observation.fault
    assert observation.traffic is not None
    return observation.traffic.requested


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SOFTMAX_SHAPES, ids=str)
@pytest.mark.parametrize("variant", SOFTMAX, ids=of_names(SOFTMAX))
def test_softmax_is_right_whatever_lies_between_the_rows(
    softmax_engine: Engine, variant: Variant, shape: tuple[int, int], dtype: str
) -> None:
    x = padded(inputs.scores(shape, dtype, seed=1, spread=3.0))
    observation = softmax_engine.run(variant.entry, (x,))
    assert observation.fault is None, observation.fault
    checked = check(truth_of("softmax"), x, observation.outputs[0])
    assert checked.passed, checked
    assert not observation.inputs_changed


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", FUSION_SHAPES, ids=str)
@pytest.mark.parametrize("variant", FUSION, ids=of_names(FUSION))
def test_fusion_is_right_whatever_lies_between_the_rows(
    fusion_engine: Engine, variant: Variant, shape: tuple[int, int], dtype: str
) -> None:
    x = padded(inputs.scores(shape, dtype, seed=1, spread=8.0))
    observation = fusion_engine.run(variant.entry, (x,))
    assert observation.fault is None, observation.fault
    checked = check(truth_of("fusion"), x, observation.outputs[0])
    assert checked.passed, checked
    hidden = np.arange(shape[1])[None, :] > (np.arange(shape[0]) % shape[1])[:, None]
    assert not observation.outputs[0][hidden].astype(np.float32).any()


@pytest.mark.parametrize("dtype", DTYPES)
def test_only_the_naive_kernel_falls_to_a_score_of_100(softmax_engine: Engine, dtype: str) -> None:
    x = inputs.scores((3, 700), dtype, seed=2, poisoned=True)
    passed = {}
    for variant in SOFTMAX:
        result = softmax_engine.run(variant.entry, (x,)).outputs[0]
        checked = check(truth_of("softmax"), x, result)
        passed[variant.name] = checked.passed
        if variant.overflows:
            assert checked.largest_relative_error == "nan"
            assert checked.wrong_row is not None
            assert (checked.wrong_row.row, checked.wrong_row.scores[0], checked.wrong_row.got[0]) == (0, 100.0, "nan")
            assert checked.wrong_row.right[0] == pytest.approx(1.0)
    assert passed == {variant.name: not variant.overflows for variant in SOFTMAX}


@pytest.mark.parametrize("variant", SWEPT, ids=of_names(SWEPT))
def test_minus_infinity_in_a_row_is_a_zero(softmax_engine: Engine, variant: Variant) -> None:
    x = inputs.scores((2, 600), "float32", seed=3)
    x[0, 1:] = -np.inf
    x[1, ::2] = -np.inf
    result = softmax_engine.run(variant.entry, (x,)).outputs[0]
    assert result[0].tolist() == [1.0] + [0.0] * 599
    assert not result[1, ::2].any()
    assert result[1].sum() == pytest.approx(1.0, abs=1e-5)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(4, 4096), (3, 1000), (2, 64), (1, 20_000)], ids=str)
def test_softmax_asks_for_3_4_3_and_2_traversals_to_the_byte(
    softmax_engine: Engine, shape: tuple[int, int], dtype: str
) -> None:
    x = inputs.scores(shape, dtype, seed=0)
    found = {variant.name: requested(softmax_engine, variant, x) for variant in SOFTMAX}
    assert found == {
        "naive_unsafe": Level(2 * x.nbytes, x.nbytes),
        "safe_three_pass": Level(3 * x.nbytes, x.nbytes),
        "online_two_pass": Level(2 * x.nbytes, x.nbytes),
        "online_one_pass": Level(x.nbytes, x.nbytes),
    }


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(40, 300), (130, 64), (150, 100)], ids=str)
def test_fusion_asks_for_7_and_2_traversals_and_the_skipping_kernel_for_less(
    fusion_engine: Engine, shape: tuple[int, int], dtype: str
) -> None:
    x = inputs.scores(shape, dtype, seed=0)
    found = {variant.name: requested(fusion_engine, variant, x) for variant in FUSION}
    blocks = [min((row % shape[1] // 64 + 1) * 64, shape[1]) for row in range(shape[0])]
    assert found == {
        "unfused": Level(4 * x.nbytes, 3 * x.nbytes),
        "fused": Level(x.nbytes, x.nbytes),
        "fused_skipping": Level(sum(blocks) * x.itemsize, x.nbytes),
    }
    for variant in FUSION:
        assert found[variant.name] == variants.predicted(variant, *shape, x.itemsize)


@pytest.mark.parametrize(
    ("rows", "cols"), [(1, 1), (5, 3), (64, 64), (65, 64), (200, 130), (130, 200), (8192, 4096)], ids=str
)
def test_what_a_causal_mask_leaves_is_the_sum_over_rows(rows: int, cols: int) -> None:
    by_row = sum(min((row % cols // 64 + 1) * 64, cols) for row in range(rows))
    assert variants.visible(rows, cols) == by_row


def test_unfused_is_three_launches_and_fused_is_one(fusion_engine: Engine) -> None:
    x = inputs.scores((4, 40), "float32", seed=0)
    launches = {variant.name: fusion_engine.run(variant.entry, (x,)).launches for variant in FUSION}
    assert launches == {"unfused": 3, "fused": 1, "fused_skipping": 1}


def test_a_row_of_65536_columns_spills_and_one_of_32768_does_not(softmax_engine: Engine) -> None:
    spilled = {}
    for cols in (32_768, 65_536):
        plan = softmax_engine.compile(SOFTMAX[-1].entry, (np.empty((1, cols), np.float32),))
        assert not isinstance(plan, Fault), plan
        spilled[cols] = plan.kernels[0].spilled_bytes
    assert spilled[32_768] == 0
    assert spilled[65_536]
