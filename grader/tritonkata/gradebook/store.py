"""Reading and writing a gradebook. Every change is on disk when the call returns, so a killed run loses none."""

from __future__ import annotations

import secrets
import sqlite3
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from tritonkata.gradebook.problems import problems
from tritonkata.gradebook.records import best_of, by_override, overrides_of, records_of, students_of
from tritonkata.gradebook.standing import standing_of
from tritonkata.gradebook.taking_in import put, put_aside
from tritonkata.gradebook.types import GradebookProblem, LeftOut, Pending, Run, Settings, Standing, Submitted
from tritonkata.model.record import Override, Record
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

    def take_in(self, kata: str, submitted: Iterable[Submitted], left_out: Iterable[LeftOut]) -> int:
        """Note what a download holds; how many submissions. What is no longer there is kept, and not counted.

        A submission whose bytes changed loses its report to the earlier ones.
        """
        count = 0
        with problems(self.path), self._connection as connection:
            connection.execute("UPDATE submission SET present = 0 WHERE kata = ?", (kata,))
            for one in submitted:
                put(connection, kata, one)
                count += 1
            connection.execute("DELETE FROM left_out WHERE kata = ?", (kata,))
            sql = "INSERT INTO left_out (kata, path, student, reason, name) VALUES (?, ?, ?, ?, ?)"
            connection.executemany(sql, ((kata, *row) for row in left_out))
        return count

    def pending(self, run: Run, *, stale: bool = True) -> Iterator[Pending]:
        """Submissions without a report of this run, to be graded again, or whose report a fault of the grader spoilt.

        Without `stale` a report of another run is as good as one of this.
        """
        wanted = (
            "SELECT submission.id FROM submission LEFT JOIN report ON report.submission = submission.id"
            " WHERE kata = ? AND present = 1 AND"
            " (report.run IS NULL OR again OR (? AND report.run <> ?) OR report.verdict = 'grader_error')"
            " ORDER BY submission.id"
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

    def members(self, number: int) -> list[str]:
        """Ids of all who handed in a submission."""
        with problems(self.path):
            row = self._connection.execute("SELECT students FROM submission WHERE id = ?", (number,)).fetchone()
        return [one.id for one in students_of(row[0])]

    def count(self, kata: str) -> int:
        """Submissions of the last download."""
        with problems(self.path):
            row = self._connection.execute("SELECT count(*) FROM submission WHERE kata = ? AND present = 1", (kata,))
            return int(row.fetchone()[0])

    def put_report(self, submission: int, run: Run, report: Report) -> None:
        """Keep a report; the one before goes to the earlier ones."""
        with problems(self.path), self._connection as connection:
            put_aside(connection, submission)
            connection.execute(
                "INSERT INTO report (submission, run, report, verdict, score, graded_at) VALUES (?, ?, ?, ?, ?, ?)",
                (submission, run.id, msgspec.json.encode(report), report.verdict, report.score, now()),
            )

    def ask_again(self, kata: str, students: Iterable[str] | None, verdict: str | None, diagnosis: str | None) -> int:
        """Have submissions graded again, whose reports count until then; how many. None stands for any."""
        with problems(self.path), self._connection as connection:
            chosen = [
                number
                for number, record in records_of(connection, kata)
                if (students is None or {one.id for one in record.students} & set(students))
                and (verdict is None or record.report.verdict == verdict)
                and (diagnosis is None or record.diagnosis == diagnosis)
            ]
            connection.executemany("UPDATE report SET again = 1 WHERE submission = ?", ((one,) for one in chosen))
        return len(chosen)

    def override(self, kata: str, student: str, override: Override | None, reason: str = "", author: str = "") -> None:
        """Set a student's score by hand, or take it back (None). Every decision stays on record.

        It is the student's, whatever they hand in later and with whom; others of a group keep theirs.
        """
        values: tuple[Any, ...] = (None, reason, author, now())
        if override is not None:
            values = (override.score, override.reason, override.author, override.at)
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

    def standing(self, kata: str) -> Standing:
        """How many submissions of the last download have no report, or one that is not of the last run."""
        last = self.last_run(kata)
        with problems(self.path):
            return standing_of(self._connection, kata, last)

    def records(self, kata: str, attempts: str = "latest") -> Iterator[Record]:
        """Records of the last download, by student; with `best`, the best of each student's alone.

        A member of a group whose score was set by hand has a record apart.
        """
        with problems(self.path):
            overrides = overrides_of(self._connection, kata)
            found = best_of(self._connection, kata) if attempts == "best" else records_of(self._connection, kata)
            for _, record in found:
                yield from by_override(record, overrides)

    def source(self, kata: str, record: Record) -> str | None:
        """The text of a record's submission, for excerpts."""
        sql = "SELECT source FROM submission WHERE kata = ? AND file = ? AND present = 1"
        with problems(self.path):
            row = self._connection.execute(sql, (kata, record.file)).fetchone()
        return None if row is None or row[0] is None else bytes(row[0]).decode("utf-8", errors="replace")

    def left_out(self, kata: str) -> list[LeftOut]:
        """What the last download held and was not graded."""
        with problems(self.path):
            rows = self._connection.execute("SELECT path, student, reason, name FROM left_out WHERE kata = ?", (kata,))
            return [LeftOut(*row) for row in rows]

    def close(self) -> None:
        """Let go of the file."""
        self._connection.close()

    def _groups(self, kata: str, *, present: bool) -> list[set[str]]:
        """Ids of the students of each submission that is, or is no longer, in the last download."""
        sql = "SELECT students FROM submission WHERE kata = ? AND present = ?"
        with problems(self.path):
            rows = self._connection.execute(sql, (kata, present)).fetchall()
        return [{one.id for one in students_of(row[0])} for row in rows]
