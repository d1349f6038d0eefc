"""One submission of a download into a gradebook: what was graded and has not changed keeps its report."""

from __future__ import annotations

import hashlib
import sqlite3
from typing import Any

import msgspec

from tritonkata.gradebook.types import Submitted
from tritonkata.model.report import Report


def put(connection: sqlite3.Connection, kata: str, one: Submitted) -> None:
    """Note a submission as one of the last download. If its bytes changed, its report goes to the earlier ones."""
    digest = hashlib.sha256(one.source if one.source is not None else one.problem.encode()).hexdigest()
    # In whatever order a platform names a group, its submission is the same one.
    student = min(student.id for student in one.students)
    known = connection.execute(
        "SELECT id, sha256, source IS NULL FROM submission WHERE kata = ? AND student = ? AND file = ?",
        (kata, student, one.file),
    ).fetchone()
    if known is not None and known[1:] != (digest, one.source is None):
        put_aside(connection, known[0])
    students, late = msgspec.json.encode(one.students), None if one.late is None else int(one.late)
    connection.execute(
        "INSERT INTO submission"
        " (kata, student, students, file, attempt, sha256, source, problem, submitted_at, late, present)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 1) ON CONFLICT (kata, student, file) DO UPDATE SET"
        " students = excluded.students, attempt = excluded.attempt, sha256 = excluded.sha256,"
        " source = excluded.source, problem = excluded.problem, submitted_at = excluded.submitted_at,"
        " late = excluded.late, present = 1",
        (kata, student, students, one.file, one.attempt, digest, one.source, one.problem, one.submitted_at, late),
    )
    if known is None:
        _inherit(connection, (kata, student, one.file, digest))


def put_aside(connection: sqlite3.Connection, submission: int) -> None:
    """Keep a submission's report, if it has one, among the earlier ones."""
    sql = "INSERT INTO earlier_report SELECT submission, run, report, graded_at FROM report WHERE submission = ?"
    connection.execute(sql, (submission,))
    connection.execute("DELETE FROM report WHERE submission = ?", (submission,))


def _inherit(connection: sqlite3.Connection, key: tuple[str, str, str, str]) -> None:
    """Give a new submission the report of the same file, as others handed it in before, if there is one.

    A group is filed under one of its members, and under another when that one leaves.
    """
    sql = (
        "SELECT new.id, new.student, report.run, report.report, report.verdict, report.score, report.graded_at,"
        " report.again"
        " FROM submission AS new JOIN submission AS old"
        " ON old.kata = new.kata AND old.file = new.file AND old.sha256 = new.sha256 AND old.id <> new.id"
        " JOIN report ON report.submission = old.id"
        " WHERE new.kata = ? AND new.student = ? AND new.file = ? AND new.sha256 = ?"
        " AND new.source IS NOT NULL AND old.source IS NOT NULL ORDER BY report.graded_at DESC LIMIT 1"
    )
    found: tuple[Any, ...] | None = connection.execute(sql, key).fetchone()
    if found is not None:
        number, student, run, encoded, *rest = found
        report = msgspec.json.decode(encoded, type=Report)
        named = msgspec.structs.replace(report.submission, student=student)
        renamed = msgspec.json.encode(msgspec.structs.replace(report, submission=named))
        connection.execute("INSERT INTO report VALUES (?, ?, ?, ?, ?, ?, ?)", (number, run, renamed, *rest))
