"""The traffic budget, with counts from the interpreter and from hardware."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from tritonkata.engine.client import GraderError
from tritonkata.hidden.asserts import CheckFailed
from tritonkata.hidden.budget import TrafficLedger, assert_within_budget, ledger
from tritonkata.model.course import TrafficBudget
from tritonkata.model.observation import Level, Observation, TensorTraffic, Traffic, TrafficSource

UNIT = np.zeros((4, 8000), np.float32)
BYTES = UNIT.nbytes


@pytest.fixture
def book() -> Iterator[TrafficLedger]:
    made = TrafficLedger(TrafficBudget("x", budget=4.0, par=2.0))
    token = ledger.set(made)
    yield made
    ledger.reset(token)


def observed(source: TrafficSource, traversals: float, counted: float | None = None) -> Observation:
    loaded = round((traversals - 1) * BYTES)
    beside = None if counted is None else Level(round((counted - 1) * BYTES), BYTES)
    traffic = Traffic(source, loaded, BYTES, (TensorTraffic("x", loaded),), spilled=64, counted=beside)
    return Observation("gpu", traffic=traffic)


@pytest.mark.parametrize("source", ["interpreter", "cupti", "ncu"])
def test_the_budget_itself_passes_and_the_measurement_is_kept(book: TrafficLedger, source: TrafficSource) -> None:
    assert_within_budget(observed(source, 4.0), UNIT)
    (evidence, traffic) = book.measured[0]
    assert (evidence.loads, evidence.stores, evidence.source) == (3.0, 1.0, source)
    assert traffic.source == source


@pytest.mark.parametrize(("source", "passes"), [("interpreter", False), ("cupti", True), ("ncu", True)])
def test_a_descriptor_in_a_hardware_count_is_no_pass(book: TrafficLedger, source: TrafficSource, passes: bool) -> None:
    observation = observed(source, 4.0 + 4 * 128 / BYTES)
    if passes:
        assert_within_budget(observation, UNIT)
    else:
        with pytest.raises(CheckFailed):
            assert_within_budget(observation, UNIT)


@pytest.mark.parametrize("source", ["interpreter", "cupti"])
def test_a_further_pass_fails_with_all_that_the_feedback_needs(book: TrafficLedger, source: TrafficSource) -> None:
    with pytest.raises(CheckFailed) as raised:
        assert_within_budget(observed(source, 5.0, counted=6.0), UNIT)
    assert raised.value.verdict == "over_budget"
    evidence = raised.value.evidence.traffic
    assert evidence is not None
    assert (evidence.loads, evidence.stores, evidence.counted, evidence.spilled_bytes) == (4.0, 1.0, 6.0, 64)
    assert evidence.per_tensor[0].tensor == "x"
    assert len(book.measured) == 1


def test_no_traffic_is_the_graders_fault_with_the_reason(book: TrafficLedger) -> None:
    with pytest.raises(GraderError, match="ncu was not found"):
        assert_within_budget(Observation("gpu", absent={"traffic": "ncu was not found"}), UNIT)
