"""Medals, and the figures of a report, from what was measured."""

from __future__ import annotations

import pytest

from tritonkata import scoring
from tritonkata.hidden.budget import TrafficLedger
from tritonkata.hidden.candidate import TimedCall
from tritonkata.hidden.plugin import CheckMark, Outcome, Session
from tritonkata.model.course import TrafficBudget
from tritonkata.model.faults import Verdict
from tritonkata.model.observation import Level, Speed, Traffic, TrafficSource
from tritonkata.model.report import CheckResult, TrafficEvidence

BUDGET = TrafficBudget("x", budget=4.0, par=2.0)


def session(traversals: float, source: TrafficSource, fraction: float | None, timed: Verdict = "pass") -> Session:
    outcomes = {"full_size": Outcome(CheckMark("full_size", "Full size", 1.0), verdict=timed)}
    made = Session(outcomes, [], TrafficLedger(BUDGET))
    add(made, traversals, source, 1000)
    if fraction is not None:
        speed = Speed(100.0, 100.0 * fraction, fraction, 2000, 10, 1, ("hot",))
        made.speeds.append(TimedCall("full_size", "softmax", (8192, 4096), "float32", speed))
    return made


def add(made: Session, traversals: float, source: TrafficSource, unit_bytes: int) -> None:
    evidence = TrafficEvidence("x", unit_bytes, traversals - 1, 1.0, BUDGET.budget, BUDGET.par, source)
    dram = None if source == "interpreter" else Level(unit_bytes, unit_bytes)
    traffic = Traffic(source, round((traversals - 1) * unit_bytes), unit_bytes, dram=dram)
    made.traffic.measured.append((evidence, traffic))


def checks(*verdicts: Verdict) -> tuple[CheckResult, ...]:
    return tuple(CheckResult(str(index), "title", verdict, 0, 1) for index, verdict in enumerate(verdicts))


@pytest.mark.parametrize(
    ("traversals", "fraction", "engine", "medal"),
    [
        (2.0, 0.95, "gpu", "gold"),
        (2.01, 0.95, "gpu", "gold"),
        (2.0, 0.90, "gpu", "gold"),
        (2.0, 0.89, "gpu", "silver"),
        (2.0, None, "gpu", "silver"),
        (3.0, 0.95, "gpu", "silver"),
        (2.0, None, "interpreter", "gold"),
        (2.01, None, "interpreter", "silver"),
    ],
)
def test_gold_is_par_and_on_a_gpu_the_speed_of_a_copy(
    traversals: float, fraction: float | None, engine: str, medal: str
) -> None:
    source: TrafficSource = "cupti" if engine == "gpu" else "interpreter"
    assert scoring.medal_of(checks("pass", "pass"), session(traversals, source, fraction), engine) == medal


def test_over_budget_alone_is_bronze_and_anything_wrong_is_no_medal() -> None:
    made = session(5.0, "cupti", 0.95)
    assert scoring.medal_of(checks("pass", "over_budget"), made, "gpu") == "bronze"
    assert scoring.medal_of(checks("wrong_output", "over_budget"), made, "gpu") == "none"
    assert scoring.medal_of(checks("pass", "skipped"), made, "gpu") == "none"


def test_the_speed_of_a_wrong_result_is_no_speed() -> None:
    made = session(2.0, "cupti", 0.99, timed="wrong_output")
    assert scoring.speed_of(made) is None
    assert scoring.medal_of(checks("pass"), made, "gpu") == "silver"
    assert "speed" in scoring.not_measured("gpu", made)


def test_the_speed_in_the_report_is_the_slowest_with_its_conditions() -> None:
    made = session(2.0, "cupti", 0.95)
    slow = Speed(200.0, 100.0, 0.5, 4000, 7, 3, ())
    made.speeds.append(TimedCall("full_size", "softmax", (16, 16), "float16", slow))
    speed = scoring.speed_of(made)
    assert speed is not None
    assert (speed.fraction_of_copy, speed.shape, speed.dtype, speed.repeated) == (0.5, (16, 16), "float16", 3)
    assert scoring.not_measured("gpu", made) == {}


def test_the_graded_traffic_is_the_worst_and_the_whole_matrix_stands_beside_it() -> None:
    made = session(3.0, "cupti", None)
    add(made, 2.0, "cupti", scoring.FULL_SIZE)
    graded, whole = scoring.traffic_of(made), scoring.full_size_traffic_of(made)
    assert graded is not None
    assert whole is not None
    assert (graded.traversals.requested, graded.unit_bytes) == (3.0, 1000)
    assert (whole.traversals.requested, whole.traversals.dram, whole.unit_bytes) == (2.0, 2.0, scoring.FULL_SIZE)


def test_small_inputs_say_nothing_of_caches() -> None:
    assert scoring.full_size_traffic_of(session(2.0, "cupti", None)) is None
    assert scoring.full_size_traffic_of(session(2.0, "interpreter", None)) is None


def test_nothing_measured_is_nothing_reported() -> None:
    made = Session({}, [], TrafficLedger(BUDGET))
    assert scoring.traffic_of(made) is None
    assert scoring.speed_of(made) is None
