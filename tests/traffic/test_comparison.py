"""CUPTI and Nsight Compute side by side."""

from __future__ import annotations

import msgspec
import pytest

from tritonkata.launcher.traffic import metrics
from tritonkata.launcher.traffic.comparison import Comparison, Source

COPIED = 251_658_240
RECORDED_COPY = {
    metrics.LOADED: 251658240.0,
    metrics.STORED: 251658240.0,
    metrics.SPILLED: 0.0,
    metrics.L2_READ: 7864320.0,
    metrics.L2_WRITTEN: 7864320.0,
    metrics.DRAM_READ: 251678464.0,
    metrics.DRAM_WRITTEN: 250274304.0,
}


def compared(cupti: Source, ncu: Source) -> Comparison:
    return Comparison("NVIDIA H200", COPIED, (cupti, ncu))


BOTH = (Source("cupti", RECORDED_COPY), Source("ncu", RECORDED_COPY))


def test_equal_counters_agree() -> None:
    found = compared(*BOTH)
    assert found.agrees
    assert {line.agrees for line in found.lines} == {True}


@pytest.mark.parametrize(
    ("metric", "factor", "agrees"),
    [
        (metrics.LOADED, 1.0001, False),
        (metrics.L2_READ, 1.001, True),
        (metrics.L2_READ, 1.1, False),
        (metrics.DRAM_WRITTEN, 0.97, True),
        (metrics.DRAM_WRITTEN, 0.5, False),
    ],
)
def test_requested_bytes_must_be_equal_and_deeper_levels_close(metric: str, factor: float, agrees: bool) -> None:
    other = {**RECORDED_COPY, metric: RECORDED_COPY[metric] * factor}
    assert compared(BOTH[0], Source("ncu", other)).agrees is agrees


def test_one_source_alone_is_enough() -> None:
    found = compared(BOTH[0], Source("ncu", problem="not found"))
    assert found.agrees
    assert {line.agrees for line in found.lines} == {None}


def test_no_trusted_source_is_none() -> None:
    assert not compared(Source("cupti", problem="no permission"), Source("ncu", problem="not found")).agrees


def test_a_comparison_survives_the_way_between_processes() -> None:
    found = compared(*BOTH)
    assert msgspec.json.decode(msgspec.json.encode(found), type=Comparison) == found
