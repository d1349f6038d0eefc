"""JSON Lines: one object a submission, for scripts. Only ASCII is written, so that a terminal shows it safely."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, TextIO

from tritonkata.exports.words import has_score, no_score_warning, outcome, score_of
from tritonkata.feedback.clean import clean
from tritonkata.model.record import Override, Record, Student
from tritonkata.model.report import CheckResult, Traversals


def write(records: Iterable[Record], file: TextIO) -> tuple[str, ...]:
    """Write one line a submission; returns a warning for each one without a score."""
    warnings: list[str] = []
    for record in records:
        file.write(to_line(record) + "\n")
        if not has_score(record):
            warnings.append(no_score_warning(record))
    return tuple(warnings)


def to_line(record: Record) -> str:
    """One record. `score` is null where the grader failed and nobody set one; what was not measured is null."""
    report = record.report
    line = {
        "student": record.student.id,
        "name": record.student.name,
        "email": record.student.email,
        "students": [_student(one) for one in record.students],
        "kata": report.kata,
        "verdict": report.verdict,
        "score": score_of(record),
        "max_score": record.max_score,
        "medal": record.medal,
        "diagnosis": record.diagnosis,
        "outcome": outcome(record),
        "submitted_at": record.submitted_at,
        "graded_at": record.graded_at,
        "late": record.late,
        "attempt": record.attempt,
        "file": clean(record.file),
        "sha256": report.submission.sha256,
        "override": _override(record.override),
        "graded_score": None if report.verdict == "grader_error" else report.score,
        "engine": report.engine.name,
        "device": clean(report.engine.device),
        "traversals": _traversals(report.traffic.traversals) if report.traffic else None,
        "fraction_of_copy": report.speed.fraction_of_copy if report.speed else None,
        "fault": clean(report.fault.message) if report.fault else None,
        "checks": [_check(check) for check in report.checks],
        "unavailable": report.unavailable,
    }
    return json.dumps(line, allow_nan=False)


def _student(student: Student) -> dict[str, Any]:
    return {"id": student.id, "name": student.name, "email": student.email, "numbers": student.numbers}


def _override(override: Override | None) -> dict[str, Any] | None:
    if override is None:
        return None
    return {"score": override.score, "reason": override.reason, "author": override.author, "at": override.at}


def _traversals(found: Traversals) -> dict[str, float | None]:
    return {"requested": found.requested, "l2": found.l2, "dram": found.dram}


def _check(check: CheckResult) -> dict[str, Any]:
    return {
        "name": check.name,
        "title": clean(check.title),
        "verdict": check.verdict,
        "points": check.points,
        "max_points": check.max_points,
        "diagnosis": check.diagnosis,
        "message": clean(check.message),
        "seconds": check.seconds,
    }
