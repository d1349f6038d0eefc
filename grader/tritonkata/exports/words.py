"""What every export says of a record, as single plain lines (cleaned, not escaped for any markup)."""

from __future__ import annotations

from tritonkata.feedback import summary
from tritonkata.feedback.clean import one_line
from tritonkata.feedback.numbers import number
from tritonkata.model.record import Record
from tritonkata.model.report import CheckResult, Report

GRADER_FAULT = "The grader failed; this says nothing about the submission, and no score was given."


class ExportProblem(Exception):
    """An export that cannot be made: one line with what, where, and what to do next."""


def has_score(record: Record) -> bool:
    """Whether there is a score to hand on: a fault of the grader gives none, unless someone set one by hand."""
    return record.override is not None or record.report.verdict != "grader_error"


def score_of(record: Record) -> float | None:
    """The score that counts, or None where the grader failed."""
    return record.score if has_score(record) else None


def outcome(record: Record) -> str:
    """How the grading ended, in a sentence that claims no more than what ran."""
    report = record.report
    if report.verdict == "grader_error" and not summary.lacks_gpu(report.fault):
        return GRADER_FAULT
    return summary.outcome_line(report)


def score_line(record: Record) -> str:
    """Score and medal, and whether a person set the score."""
    report = record.report
    if not has_score(record):
        return "No score"
    if record.override is not None:
        medal = "no medal yet" if record.medal == "none" else f"{record.medal} medal"
        return f"Score {number(record.score)}{_of(record.max_score)}, set by hand, {medal}"
    return summary.score_line(report) if report.verdict in ("pass", "fail") else f"Score {number(record.score)}"


def override_line(record: Record) -> str:
    """Who set the score, when and why, and what the grader had given; empty where nobody did."""
    override = record.override
    if override is None:
        return ""
    graded = "no score" if record.report.verdict == "grader_error" else number(record.report.score)
    who = f" by {override.author}" if override.author else ""
    when = f" at {override.at}" if override.at else ""
    why = f": {override.reason.rstrip('.')}." if override.reason else "."
    return one_line(f"The score was set to {number(override.score)}{who}{when}{why} The grader gave {graded}.")


def override_note(record: Record) -> str:
    """The line for the instructor where a format has no room to say that the score was set by hand."""
    return one_line(f"{record.student.id}: {override_line(record)}")


def no_score_warning(record: Record) -> str:
    """The line for the instructor about a cell that stays empty."""
    fault = record.report.fault
    reason = f" ({fault.message})" if fault is not None and fault.message else ""
    return one_line(
        f"{record.student.id}: the grader failed{reason}, so there is no score and the cell stays empty; "
        "grade it again, or set the score by hand"
    )


def engine_words(report: Report) -> str:
    """Engine, device, target and versions. The seed is secret and stays out."""
    engine = report.engine
    name = "GPU" if engine.name == "gpu" else engine.name
    versions = [f"{what} {which}" for what, which in (("triton", engine.triton), ("torch", engine.torch)) if which]
    target = [f"target {engine.target}"] if engine.target else []
    where = f"{name} on {engine.device}" if engine.device else name
    return one_line(", ".join([where, *target, *versions]))


def result_words(check: CheckResult) -> str:
    """How one check ended, in a few words."""
    if check.verdict == "pass":
        return "passed"
    if check.verdict == "skipped":
        reason = check.message
        return one_line(reason if reason.startswith("not run") else f"not run: {reason}" if reason else "not run")
    if check.verdict == "grader_error":
        return "the grader failed here"
    return one_line(check.diagnosis or check.verdict.replace("_", " "))


def yes_or_no(late: bool | None) -> str:
    """A mark of the platform; empty where it says nothing."""
    return "" if late is None else "yes" if late else "no"


def _of(most: float) -> str:
    return f" of {number(most)}" if most else ""
