"""What the outcomes of the hidden tests add up to: check results, verdict, medal, traffic and speed."""

from __future__ import annotations

from tritonkata.hidden.budget import graded, slack
from tritonkata.hidden.candidate import TimedCall
from tritonkata.hidden.plugin import Outcome, Session
from tritonkata.model.report import (
    GOLD_FRACTION_OF_COPY,
    CheckResult,
    Medal,
    ReportVerdict,
    SpeedReport,
    TrafficReport,
    traffic_report,
)

FULL_SIZE = 64 << 20
"""Bytes of the unit from which no L2 holds the tensors of a kata."""


def check_result(outcome: Outcome) -> CheckResult:
    """One check of the report."""
    verdict, message = outcome.verdict, outcome.message
    if verdict == "pass" and outcome.ran == 0:
        verdict, message = "skipped", "not run, because the grading ended before it"
    return CheckResult(
        name=outcome.mark.name,
        title=outcome.mark.title,
        verdict=verdict,
        points=outcome.mark.points if verdict == "pass" else 0.0,
        max_points=outcome.mark.points,
        message=message,
        evidence=outcome.evidence,
        seconds=round(outcome.seconds, 3),
    )


def verdict_of(checks: tuple[CheckResult, ...]) -> ReportVerdict:
    """The report's own verdict."""
    verdicts = {check.verdict for check in checks}
    if "grader_error" in verdicts or not checks:
        return "grader_error"
    return "pass" if verdicts == {"pass"} else "fail"


def medal_of(checks: tuple[CheckResult, ...], session: Session, engine: str) -> Medal:
    """Bronze: right, over the traffic budget. Silver: every check passed. Gold: at par as well.

    On a GPU gold also needs 90 % of a copy's speed, so without a measured speed there is no gold.
    """
    failed = [check for check in checks if check.verdict != "pass"]
    if any(check.verdict != "over_budget" for check in failed):
        return "none"
    if failed:
        return "bronze"
    measured = session.traffic.measured
    at_par = bool(measured) and all(
        graded(row, session.traffic.budget) <= row.par + slack(row.source) for row, _ in measured
    )
    fast = min((timed.speed.fraction_of_copy for timed in timed_calls(session)), default=0.0) >= GOLD_FRACTION_OF_COPY
    return "gold" if at_par and (fast or engine == "interpreter") else "silver"


def traffic_of(session: Session) -> TrafficReport | None:
    """The measurement with the most traversals; of two with as many, one that knows each tensor."""
    if not session.traffic.measured:
        return None
    evidence, traffic = max(
        session.traffic.measured, key=lambda pair: (round(pair[0].loads + pair[0].stores, 2), bool(pair[0].per_tensor))
    )
    return traffic_report(traffic, evidence.unit, evidence.unit_bytes)


def full_size_traffic_of(session: Session) -> TrafficReport | None:
    """Of the largest input that the hardware counted, where L2 and DRAM tell more than on the graded one."""
    measured = [pair for pair in session.traffic.measured if pair[1].dram is not None]
    if not measured:
        return None
    evidence, traffic = max(measured, key=lambda pair: pair[0].unit_bytes)
    return traffic_report(traffic, evidence.unit, evidence.unit_bytes) if evidence.unit_bytes >= FULL_SIZE else None


def timed_calls(session: Session) -> list[TimedCall]:
    """What was timed by checks that passed: the speed of a wrong result is no speed."""
    return [timed for timed in session.speeds if session.outcomes[timed.check].verdict == "pass"]


def speed_of(session: Session) -> SpeedReport | None:
    """The slowest of what was timed."""
    calls = timed_calls(session)
    if not calls:
        return None
    timed = min(calls, key=lambda one: one.speed.fraction_of_copy)
    return SpeedReport(
        fraction_of_copy=round(timed.speed.fraction_of_copy, 4),
        kernel_us=round(timed.speed.kernel_us, 3),
        copy_us=round(timed.speed.copy_us, 3),
        shape=timed.shape,
        dtype=timed.dtype,
        copy_bytes=timed.speed.copy_bytes,
        rounds=timed.speed.rounds,
        repeated=timed.speed.repeated,
        notes=timed.speed.notes,
    )


def not_measured(engine: str, session: Session) -> dict[str, str]:
    """Reasons that are not those of a level of traffic, which stand in the traffic itself."""
    if engine == "interpreter":
        reason = "needs a GPU"
        return {"speed": reason, "traffic in L2 and DRAM": reason}
    return {} if timed_calls(session) else {"speed": "a kernel is timed once its values are right"}
