"""Reading and writing a gradebook. Every change is on disk when the call returns, so a killed run loses none."""

from __future__ import annotations

import hashlib
import secrets
import sqlite3
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from tritonkata.gradebook.problems import problems
from tritonkata.gradebook.types import GradebookProblem, Pending, Run, Settings, Submitted
from tritonkata.model.record import Override, Record, Student
from tritonkata.model.report import Report

SEED_BITS = 63


def now() -> str:
    """The time in UTC, ISO 8601."""
    return datetime.now(UTC).isoformat(timespec="seconds")


class Gradebook:
    """One file, open. Use it from one thread."""

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self.path = path
        self._connection = connection

    def run(self, kata: str, settings: Settings, seed: int | None, attempts: str = "latest") -> Run:
        """The run with these settings, which is the last one from now on.

        Without a seed that of the kata's last run is used, so that the same command goes on; the first one draws it.
        """
        encoded = msgspec.json.encode(settings)
        with problems(self.path), self._connection as connection:
            if seed is None:
                last = connection.execute(
                    "SELECT seed FROM run WHERE kata = ? ORDER BY turn DESC, id DESC LIMIT 1", (kata,)
                ).fetchone()
                seed = int(last[0]) if last else secrets.randbits(SEED_BITS)
            sql = (
                "INSERT INTO run (kata, settings, seed, started_at, attempts, turn)"
                " VALUES (?, ?, ?, ?, ?, (SELECT coalesce(max(turn), 0) + 1 FROM run))"
                " ON CONFLICT (kata, settings, seed) DO UPDATE SET attempts = excluded.attempts, turn = excluded.turn"
            )
            connection.execute(sql, (kata, encoded, seed, now(), attempts))
            sql = "SELECT id FROM run WHERE kata = ? AND settings = ? AND seed = ?"
            (number,) = connection.execute(sql, (kata, encoded, seed)).fetchone()
            return Run(number, kata, settings, seed, attempts)

    def last_run(self, kata: str) -> Run | None:
        """The run that was asked for last."""
        with problems(self.path):
            sql = (
                "SELECT id, kata, settings, seed, attempts FROM run WHERE kata = ? ORDER BY turn DESC, id DESC LIMIT 1"
            )
            row = self._connection.execute(sql, (kata,)).fetchone()
        if row is None:
            return None
        return Run(row[0], row[1], msgspec.json.decode(row[2], type=Settings), row[3], row[4])

    def katas(self) -> tuple[str, ...]:
        """The katas that have submissions, by name."""
        with problems(self.path):
            rows = self._connection.execute("SELECT DISTINCT kata FROM submission ORDER BY kata")
            return tuple(row[0] for row in rows)

    def take_in(self, kata: str, submitted: Iterable[Submitted], left_out: Iterable[tuple[str, str, str]]) -> int:
        """Note what a download holds; how many submissions. What is no longer there is kept, and not counted.

        `left_out` are (path, student, reason). A submission whose bytes changed loses its report to the earlier ones.
        """
        count = 0
        with problems(self.path), self._connection as connection:
            connection.execute("UPDATE submission SET present = 0 WHERE kata = ?", (kata,))
            for one in submitted:
                self._put(connection, kata, one)
                count += 1
            connection.execute("DELETE FROM left_out WHERE kata = ?", (kata,))
            connection.executemany("INSERT INTO left_out VALUES (?, ?, ?, ?)", ((kata, *row) for row in left_out))
        return count

    def _put(self, connection: sqlite3.Connection, kata: str, one: Submitted) -> None:
        digest = hashlib.sha256(one.source if one.source is not None else one.problem.encode()).hexdigest()
        # In whatever order a platform names a group, its submission is the same one.
        student = min(student.id for student in one.students)
        known = connection.execute(
            "SELECT id, sha256, source IS NULL FROM submission WHERE kata = ? AND student = ? AND file = ?",
            (kata, student, one.file),
        ).fetchone()
        if known is not None and known[1:] != (digest, one.source is None):
            _put_aside(connection, "submission = ?", (known[0],))
        late = None if one.late is None else int(one.late)
        connection.execute(
            "INSERT INTO submission"
            " (kata, student, students, file, attempt, sha256, source, problem, submitted_at, late, present)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 1) ON CONFLICT (kata, student, file) DO UPDATE SET"
            " students = excluded.students, attempt = excluded.attempt, sha256 = excluded.sha256,"
            " source = excluded.source, problem = excluded.problem, submitted_at = excluded.submitted_at,"
            " late = excluded.late, present = 1",
            (
                kata,
                student,
                msgspec.json.encode(one.students),
                one.file,
                one.attempt,
                digest,
                one.source,
                one.problem,
                one.submitted_at,
                late,
            ),
        )
        if known is None:
            _inherit(connection, (kata, student, one.file), digest)

    def pending(self, run: Run, *, stale: bool = True) -> Iterator[Pending]:
        """Submissions without a report of this run, or with one that a fault of the grader spoilt.

        Without `stale` a report of another run is as good as one of this.
        """
        wanted = (
            "SELECT submission.id FROM submission LEFT JOIN report ON report.submission = submission.id"
            " WHERE kata = ? AND present = 1 AND"
            " (report.run IS NULL OR (? AND report.run <> ?) OR report.verdict = 'grader_error') ORDER BY submission.id"
        )
        with problems(self.path):
            numbers = [row[0] for row in self._connection.execute(wanted, (run.kata, stale, run.id))]
            for number in numbers:
                yield self.submission(number)

    def submission(self, number: int) -> Pending:
        """One submission, whether it is graded or not."""
        sql = "SELECT id, student, file, source, problem FROM submission WHERE id = ?"
        with problems(self.path):
            return Pending(*self._connection.execute(sql, (number,)).fetchone())

    def count(self, kata: str) -> int:
        """Submissions of the last download."""
        with problems(self.path):
            row = self._connection.execute("SELECT count(*) FROM submission WHERE kata = ? AND present = 1", (kata,))
            return int(row.fetchone()[0])

    def put_report(self, submission: int, run: Run, report: Report) -> None:
        """Keep a report; the one before goes to the earlier ones."""
        with problems(self.path), self._connection as connection:
            _put_aside(connection, "submission = ?", (submission,))
            connection.execute(
                "INSERT INTO report VALUES (?, ?, ?, ?, ?, ?)",
                (submission, run.id, msgspec.json.encode(report), report.verdict, report.score, now()),
            )

    def forget(self, kata: str, students: Iterable[str] | None, verdict: str | None, diagnosis: str | None) -> int:
        """Put reports aside so that they are graded again; how many. None stands for any."""
        chosen = [
            number
            for number, record in self._records(kata)
            if (students is None or {one.id for one in record.students} & set(students))
            and (verdict is None or record.report.verdict == verdict)
            and (diagnosis is None or record.diagnosis == diagnosis)
        ]
        with problems(self.path), self._connection as connection:
            for number in chosen:
                _put_aside(connection, "submission = ?", (number,))
        return len(chosen)

    def override(self, kata: str, student: str, override: Override | None, reason: str = "", author: str = "") -> None:
        """Set a student's score by hand, or take it back (None). Every decision stays on record.

        It is the student's, whatever they hand in later and with whom; others of a group keep theirs.
        """
        values = (
            (None, reason, author, now())
            if override is None
            else (
                override.score,
                override.reason,
                override.author,
                override.at,
            )
        )
        if student not in self.students(kata):
            what = f"{student} has no submission to {kata} in the last download; `kata report` lists who has"
            raise GradebookProblem(f"{self.path}: {what}")
        with problems(self.path), self._connection as connection:
            sql = "INSERT INTO override (kata, student, score, reason, author, at) VALUES (?, ?, ?, ?, ?, ?)"
            connection.execute(sql, (kata, student, *values))

    def students(self, kata: str, *, present: bool = True) -> set[str]:
        """Ids of who handed in, in the last download or else in earlier ones alone."""
        there = set[str]().union(*self._groups(kata, present=True))
        return there if present else set[str]().union(*self._groups(kata, present=False)) - there

    def groups(self, kata: str) -> list[set[str]]:
        """Ids of the students of each submission of the last download that several handed in together."""
        return [students for students in self._groups(kata, present=True) if len(students) > 1]

    def ungraded(self, kata: str) -> int:
        """Submissions of the last download that have no report."""
        sql = (
            "SELECT count(*) FROM submission LEFT JOIN report ON report.submission = submission.id"
            " WHERE kata = ? AND present = 1 AND report.run IS NULL"
        )
        with problems(self.path):
            return int(self._connection.execute(sql, (kata,)).fetchone()[0])

    def records(self, kata: str, attempts: str = "latest") -> Iterator[Record]:
        """Records of the last download, by student; with `best`, the best of each student's alone.

        A member of a group whose score was set by hand has a record apart.
        """
        overrides = self._overrides(kata)
        for record in self._best(kata) if attempts == "best" else (record for _, record in self._records(kata)):
            yield from _by_override(record, overrides)

    def _best(self, kata: str) -> Iterator[Record]:
        best: dict[str, tuple[float, int]] = {}
        for number, record in self._records(kata):
            for student in record.students:
                held = best.get(student.id)
                if held is None or record.report.score > held[0]:
                    best[student.id] = (record.report.score, number)
        for number, record in self._records(kata):
            # A member of a group can have a better attempt of their own, which leaves the group's to the others.
            students = tuple(one for one in record.students if best[one.id][1] == number)
            if students:
                yield msgspec.structs.replace(record, students=students)

    def source(self, kata: str, record: Record) -> str | None:
        """The text of a record's submission, for excerpts."""
        sql = "SELECT source FROM submission WHERE kata = ? AND file = ? AND present = 1"
        with problems(self.path):
            row = self._connection.execute(sql, (kata, record.file)).fetchone()
        return None if row is None or row[0] is None else bytes(row[0]).decode("utf-8", errors="replace")

    def left_out(self, kata: str) -> list[tuple[str, str, str]]:
        """What the last download held and was not graded: path, student, reason."""
        with problems(self.path):
            return self._connection.execute(
                "SELECT path, student, reason FROM left_out WHERE kata = ?", (kata,)
            ).fetchall()

    def close(self) -> None:
        """Let go of the file."""
        self._connection.close()

    def _groups(self, kata: str, *, present: bool) -> list[set[str]]:
        """Ids of the students of each submission that is, or is no longer, in the last download."""
        sql = "SELECT students FROM submission WHERE kata = ? AND present = ?"
        with problems(self.path):
            rows = self._connection.execute(sql, (kata, present)).fetchall()
        return [{one.id for one in _students(row[0])} for row in rows]

    def _records(self, kata: str) -> Iterator[tuple[int, Record]]:
        sql = (
            "SELECT submission.id, students, file, report, graded_at, submitted_at, late, attempt"
            " FROM submission JOIN report ON report.submission = submission.id"
            " WHERE kata = ? AND present = 1 ORDER BY student, attempt, file"
        )
        with problems(self.path):
            for row in self._connection.execute(sql, (kata,)):
                yield row[0], _record(row)

    def _overrides(self, kata: str) -> dict[str, Override]:
        sql = "SELECT student, score, reason, author, at FROM override WHERE kata = ? ORDER BY id"
        with problems(self.path):
            rows = self._connection.execute(sql, (kata,)).fetchall()
        found: dict[str, Override] = {}
        for student, score, reason, author, at in rows:
            if score is None:
                found.pop(student, None)
            else:
                found[student] = Override(score, reason, author, at)
        return found


def _students(encoded: bytes) -> tuple[Student, ...]:
    return msgspec.json.decode(encoded, type=tuple[Student, ...])


def _by_override(record: Record, overrides: dict[str, Override]) -> Iterator[Record]:
    others = tuple(one for one in record.students if one.id not in overrides)
    if others:
        yield msgspec.structs.replace(record, students=others)
    for one in record.students:
        if one.id in overrides:
            yield msgspec.structs.replace(record, students=(one,), override=overrides[one.id])


def _record(row: tuple[Any, ...]) -> Record:
    return Record(
        students=_students(row[1]),
        file=row[2],
        report=msgspec.json.decode(row[3], type=Report),
        graded_at=row[4],
        submitted_at=row[5],
        late=None if row[6] is None else bool(row[6]),
        attempt=row[7],
    )


def _inherit(connection: sqlite3.Connection, key: tuple[str, str, str], digest: str) -> None:
    """Give a new submission the report of the same file of a group that others handed in before, if there is one.

    A group is filed under one of its members, and another when that one leaves.
    """
    student = key[1]
    sql = (
        "SELECT new.id, report.run, report.report, report.verdict, report.score, report.graded_at"
        " FROM submission AS new JOIN submission AS old"
        " ON old.kata = new.kata AND old.file = new.file AND old.sha256 = new.sha256 AND old.id <> new.id"
        " JOIN report ON report.submission = old.id"
        " WHERE new.kata = ? AND new.student = ? AND new.file = ? AND new.sha256 = ?"
        " AND new.source IS NOT NULL AND old.source IS NOT NULL ORDER BY report.graded_at DESC LIMIT 1"
    )
    found = connection.execute(sql, (*key, digest)).fetchone()
    if found is not None:
        number, run, encoded, *rest = found
        report = msgspec.json.decode(encoded, type=Report)
        named = msgspec.structs.replace(report.submission, student=student)
        renamed = msgspec.json.encode(msgspec.structs.replace(report, submission=named))
        connection.execute("INSERT INTO report VALUES (?, ?, ?, ?, ?, ?)", (number, run, renamed, *rest))


def _put_aside(connection: sqlite3.Connection, where: str, values: tuple[Any, ...]) -> None:
    sql = f"INSERT INTO earlier_report SELECT submission, run, report, graded_at FROM report WHERE {where}"
    connection.execute(sql, values)
    connection.execute(f"DELETE FROM report WHERE {where}", values)
