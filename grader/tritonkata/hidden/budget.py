"""The traffic budget: what hidden tests measured against it, and the assertion."""

from __future__ import annotations

from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from numpy.typing import NDArray

from tritonkata.engine.client import GraderError
from tritonkata.hidden.asserts import CheckFailed, assert_no_fault
from tritonkata.model.course import TrafficBudget
from tritonkata.model.observation import Observation, Traffic, TrafficSource
from tritonkata.model.report import Evidence, TrafficEvidence

HARDWARE_SLACK = 0.02
"""Traversals."""

Array = NDArray[Any]


@dataclass
class TrafficLedger:
    """The kata's budget, and what the assertions below measured against it, worst first."""

    budget: TrafficBudget
    measured: list[tuple[TrafficEvidence, Traffic]] = field(default_factory=list)


ledger: ContextVar[TrafficLedger] = ContextVar("ledger")
"""Set by the plugin around each hidden test."""


def assert_within_budget(observation: Observation, unit: Array) -> None:
    """Requested bytes, loads plus stores, at most the kata's budget in units of the bytes of `unit`.

    Hardware also counts what every warp loads for itself: the maximum and the sum of a row. So a count from
    hardware may pass the budget by `HARDWARE_SLACK`; a pass over the unit is fifty times that.

    Raises:
        CheckFailed: `over_budget`.
    """
    assert_no_fault(observation)
    traffic = observation.traffic
    if traffic is None:
        raise GraderError(f"no traffic was measured: {observation.absent.get('traffic', 'the engine says nothing')}")
    budget = ledger.get().budget
    unit_bytes = unit.size * unit.dtype.itemsize
    evidence = TrafficEvidence(
        unit=budget.unit,
        unit_bytes=unit_bytes,
        loads=traffic.loaded / unit_bytes,
        stores=traffic.stored / unit_bytes,
        budget=budget.budget,
        par=budget.par,
        source=traffic.source,
        counted=None if traffic.counted is None else traffic.counted.total / unit_bytes,
        spilled_bytes=traffic.spilled,
        per_tensor=traffic.per_tensor,
    )
    ledger.get().measured.append((evidence, traffic))
    total = graded(evidence, budget)
    if total > budget.budget + slack(traffic.source):
        message = f"{total:.2f} traversals of {budget.unit}, the budget is {budget.budget:g}"
        raise CheckFailed("over_budget", message, Evidence(traffic=evidence))


def graded(evidence: TrafficEvidence, budget: TrafficBudget) -> float:
    """The traversals that the budget speaks of."""
    return evidence.loads if budget.counts == "loads" else evidence.loads + evidence.stores


def slack(source: TrafficSource) -> float:
    """How many traversals a count may lie above a limit and still keep it."""
    return 0.0 if source == "interpreter" else HARDWARE_SLACK
