"""Gradescope's results.json of one record.

Tests are visible, because one hidden test would hide the student's total. Without a score (the grader failed) the
result has none at all, which Gradescope shows as a failed run and not as a zero.
"""

from __future__ import annotations

import json
from typing import Any, Literal

from tritonkata.exports.explaining import check_markdown, explanations_of, markdown_of, of_checks, of_whole_file
from tritonkata.exports.words import GRADER_FAULT, engine_words, has_score, outcome, override_line, score_line
from tritonkata.feedback import summary
from tritonkata.feedback.clean import escape_markdown, one_line
from tritonkata.feedback.facts import fact_lines
from tritonkata.feedback.render import Explanation
from tritonkata.model.course import Kata
from tritonkata.model.record import Record
from tritonkata.model.report import CheckResult, Report

Visibility = Literal["hidden", "after_due_date", "after_published", "visible"]


def to_json(record: Record, kata: Kata, source: str | None = None, *, visibility: Visibility = "visible") -> str:
    """The text of results.json.

    Args:
        record: what was graded.
        kata: its kata, for the words of the explanations.
        source: the text of the submission, for its own lines; None if it is not at hand.
        visibility: when students see the tests.
    """
    explanations = explanations_of(record, kata, source)
    explained = of_checks(explanations)
    result: dict[str, Any] = {
        "output": _output(record, kata, explanations),
        "output_format": "md",
        "test_output_format": "md",
        "test_name_format": "text",
        "visibility": "visible",
        "stdout_visibility": "hidden",
        "execution_time": round(record.report.seconds),
        "tests": [_test(check, explained, visibility) for check in record.report.checks],
        "leaderboard": _leaderboard(record.report),
        "extra_data": _extra(record),
    }
    if has_score(record):
        result["score"] = record.score
    elif not result["tests"]:
        result["tests"] = [_fault_test(GRADER_FAULT)]
    return json.dumps(result, allow_nan=False, indent=2) + "\n"


def fault_json(message: str) -> str:
    """The result of a check that could not be run: an infrastructure fault in words, and no score.

    Args:
        message: what a student may read of the reason, one plain line.
    """
    words = f"The autograder could not run the check: {one_line(message)}. This is no fault of the submission."
    result = {
        "output": f"**{escape_markdown(words)}** No score was given; please tell your instructor.",
        "output_format": "md",
        "test_output_format": "md",
        "visibility": "visible",
        "stdout_visibility": "hidden",
        "tests": [_fault_test(words)],
        "extra_data": {"verdict": "grader_error"},
    }
    return json.dumps(result, allow_nan=False, indent=2) + "\n"


def _output(record: Record, kata: Kata, explanations: tuple[Explanation, ...]) -> str:
    report = record.report
    lines = [f"**{escape_markdown(outcome(record))}**", escape_markdown(score_line(record))]
    lines += [escape_markdown(line) for line in (override_line(record), summary.next_medal_line(report, kata)) if line]
    lines += [markdown_of(one) for one in of_whole_file(explanations)]
    measured = [*fact_lines(report, kata), engine_words(report)]
    return "\n\n".join([*lines, "\n".join(f"- {escape_markdown(line)}" for line in measured)])


def _test(check: CheckResult, explained: Any, visibility: Visibility) -> dict[str, Any]:
    test: dict[str, Any] = {
        "name": one_line(check.title or check.name),
        "max_score": check.max_points,
        "status": "passed" if check.verdict == "pass" else "failed",
        "output": check_markdown(check, explained),
        "output_format": "md",
        "visibility": visibility,
        "extra_data": {"check": check.name, "verdict": check.verdict, "diagnosis": check.diagnosis},
    }
    # Where the grader failed there are no points to speak of, rather than none earned.
    if check.verdict != "grader_error":
        test["score"] = check.points
    return test


def _fault_test(words: str) -> dict[str, Any]:
    return {
        "name": "The grader failed",
        "status": "failed",
        "output": escape_markdown(words),
        "output_format": "md",
        "visibility": "visible",
    }


def _leaderboard(report: Report) -> list[dict[str, Any]]:
    """Right kernels only: a wrong one moves as few bytes as it likes."""
    if report.medal == "none":
        return []
    board: list[dict[str, Any]] = []
    if report.traffic is not None and report.traffic.traversals.requested is not None:
        board.append({"name": "Traversals", "value": round(report.traffic.traversals.requested, 4), "order": "asc"})
    if report.speed is not None:
        board.append({"name": "Fraction of a copy", "value": report.speed.fraction_of_copy, "order": "desc"})
    return board


def _extra(record: Record) -> dict[str, Any]:
    report, override = record.report, record.override
    return {
        "kata": report.kata,
        "verdict": report.verdict,
        "medal": report.medal,
        "diagnosis": record.diagnosis,
        "max_score": report.max_score,
        "graded_score": None if report.verdict == "grader_error" else report.score,
        "overridden": override is not None,
        "attempt": record.attempt,
        "late": record.late,
        "submitted_at": record.submitted_at,
        "graded_at": record.graded_at,
        "engine": report.engine.name,
        "sha256": report.submission.sha256,
    }
