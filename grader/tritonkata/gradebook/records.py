"""Records as they stand in a gradebook's tables: the report of a submission, for those whose report it is."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from typing import Any

import msgspec

from tritonkata.model.record import Override, Record, Student
from tritonkata.model.report import Report

Numbered = tuple[int, Record]
"""The submission's number in the gradebook, and the record."""


def records_of(connection: sqlite3.Connection, kata: str) -> Iterator[Numbered]:
    """The graded submissions of the last download, by student and attempt."""
    sql = (
        "SELECT submission.id, students, file, report, graded_at, submitted_at, late, attempt"
        " FROM submission JOIN report ON report.submission = submission.id"
        " WHERE kata = ? AND present = 1 ORDER BY student, attempt, file"
    )
    for row in connection.execute(sql, (kata,)):
        yield row[0], _record(row)


def best_of(connection: sqlite3.Connection, kata: str) -> Iterator[Numbered]:
    """The best of each student's alone."""
    best: dict[str, tuple[float, int]] = {}
    for number, record in records_of(connection, kata):
        for student in record.students:
            held = best.get(student.id)
            if held is None or record.report.score > held[0]:
                best[student.id] = (record.report.score, number)
    for number, record in records_of(connection, kata):
        # A member of a group can have a better attempt of their own, which leaves the group's to the others.
        students = tuple(one for one in record.students if best[one.id][1] == number)
        if students:
            yield number, msgspec.structs.replace(record, students=students)


def overrides_of(connection: sqlite3.Connection, kata: str) -> dict[str, Override]:
    """The last decision for each student who has one, by id."""
    sql = "SELECT student, score, reason, author, at FROM override WHERE kata = ? ORDER BY id"
    found: dict[str, Override] = {}
    for student, score, reason, author, at in connection.execute(sql, (kata,)):
        if score is None:
            found.pop(student, None)
        else:
            found[student] = Override(score, reason, author, at)
    return found


def by_override(record: Record, overrides: dict[str, Override]) -> Iterator[Record]:
    """The record, and one apart for each student whose score was set by hand."""
    others = tuple(one for one in record.students if one.id not in overrides)
    if others:
        yield msgspec.structs.replace(record, students=others)
    for one in record.students:
        if one.id in overrides:
            yield msgspec.structs.replace(record, students=(one,), override=overrides[one.id])


def students_of(encoded: bytes) -> tuple[Student, ...]:
    """The students of a submission, from its row."""
    return msgspec.json.decode(encoded, type=tuple[Student, ...])


def _record(row: tuple[Any, ...]) -> Record:
    return Record(
        students=students_of(row[1]),
        file=row[2],
        report=msgspec.json.decode(row[3], type=Report),
        graded_at=row[4],
        submitted_at=row[5],
        late=None if row[6] is None else bool(row[6]),
        attempt=row[7],
    )
