"""CSV of our own: one row a submission, or one row a check."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TextIO

from tritonkata.exports.cells import Cell, write_rows
from tritonkata.exports.words import has_score, no_score_warning, outcome, score_of
from tritonkata.model.record import Record

COLUMNS = (
    "student",
    "name",
    "email",
    "students",
    "kata",
    "verdict",
    "score",
    "max_score",
    "medal",
    "diagnosis",
    "outcome",
    "submitted_at",
    "graded_at",
    "late",
    "attempt",
    "file",
    "override",
    "override_reason",
    "override_author",
    "override_at",
    "graded_score",
    "traversals",
    "fraction_of_copy",
    "checks_passed",
    "checks_failed",
    "checks_not_run",
    "engine",
    "sha256",
)
"""Of `write`. `graded_score` is what the grader gave, whatever a person set; `students` are all of a group."""

CHECK_COLUMNS = (
    "student",
    "kata",
    "attempt",
    "check",
    "title",
    "verdict",
    "points",
    "max_points",
    "diagnosis",
    "message",
    "seconds",
)
"""Of `write_checks`."""


def write(records: Iterable[Record], file: TextIO) -> tuple[str, ...]:
    """Write one row a submission; returns a warning for each one without a score."""
    warnings: list[str] = []

    def rows() -> Iterator[Iterable[Cell]]:
        yield COLUMNS
        for record in records:
            if not has_score(record):
                warnings.append(no_score_warning(record))
            yield _row(record)

    write_rows(file, rows())
    return tuple(warnings)


def write_checks(records: Iterable[Record], file: TextIO) -> tuple[str, ...]:
    """Write one row a check, and one for the whole file where it could not be graded; there are no warnings."""
    write_rows(file, _check_table(records))
    return ()


def _row(record: Record) -> tuple[Cell, ...]:
    report, student, override = record.report, record.student, record.override
    verdicts = [check.verdict for check in report.checks]
    passed, left = verdicts.count("pass"), verdicts.count("skipped")
    return (
        student.id,
        student.name,
        student.email,
        "; ".join(one.id for one in record.students),
        report.kata,
        report.verdict,
        score_of(record),
        record.max_score if has_score(record) else None,
        record.medal,
        record.diagnosis,
        outcome(record),
        record.submitted_at,
        record.graded_at,
        record.late,
        record.attempt,
        record.file,
        override.score if override else None,
        override.reason if override else None,
        override.author if override else None,
        override.at if override else None,
        None if report.verdict == "grader_error" else report.score,
        report.traffic.traversals.requested if report.traffic else None,
        report.speed.fraction_of_copy if report.speed else None,
        passed,
        len(verdicts) - passed - left,
        left + len(report.unavailable),
        report.engine.name,
        report.submission.sha256,
    )


def _check_table(records: Iterable[Record]) -> Iterator[Iterable[Cell]]:
    yield CHECK_COLUMNS
    for record in records:
        report = record.report
        whose = (record.student.id, report.kata, record.attempt)
        if report.fault is not None:
            yield (
                *whose,
                "submission",
                "The whole file",
                report.fault.verdict,
                *(None,) * 3,
                report.fault.message,
                None,
            )
        for check in report.checks:
            points = None if check.verdict == "grader_error" else check.points
            named = (check.name, check.title, check.verdict, points, check.max_points)
            yield (*whose, *named, check.diagnosis, check.message, check.seconds)
        for title, reason in report.unavailable.items():
            yield (*whose, "", title, "unavailable", None, None, None, reason, None)
