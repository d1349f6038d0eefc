"""A platform's CSV file that comes back with scores in it: read as it is, changed in single cells, written as it was.

The other cells are the platform's own words, and it matches people by them; they are left alone.
"""

from __future__ import annotations

import csv
import io
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TextIO

from tritonkata.exports.words import ExportProblem, has_score, no_score_warning, override_note
from tritonkata.feedback.clean import one_line
from tritonkata.model.record import Record, Student

Tiers = Sequence[Sequence[tuple[Iterable[int], str]]]
"""The surest first: in each tier, a text and the columns in which it may stand."""


@dataclass(frozen=True)
class Sheet:
    """`header` and every row have the same length; `delimiter` is the file's own."""

    header: list[str]
    rows: list[list[str]]
    delimiter: str = ","


class Ambiguous(Exception):
    """Several rows could be meant; the message says how many."""


class Index:
    """Rows of a sheet by what stands in a column, whatever the case and the blanks around it."""

    def __init__(self, sheet: Sheet, rows: Iterable[int]) -> None:
        self._rows: dict[tuple[int, str], set[int]] = {}
        for row in rows:
            for column, cell in enumerate(sheet.rows[row]):
                self._rows.setdefault((column, folded(cell)), set()).add(row)

    def find(self, tiers: Tiers) -> int | None:
        """The row of the first tier in which anything matches; None where nothing does.

        Raises:
            Ambiguous: several rows match there.
        """
        for tier in tiers:
            found: set[int] = set()
            for columns, text in tier:
                if folded(text):
                    found = found.union(*(self._rows.get((column, folded(text)), set()) for column in columns))
            if len(found) > 1:
                raise Ambiguous(f"{len(found)} rows match")
            if found:
                return found.pop()
        return None


class Entries:
    """Rows for records: `warnings` has a line for each person without a row or a score, once iterated."""

    def __init__(
        self, records: Iterable[Record], find: Callable[[Student], int | None], where: str, *, notes: bool
    ) -> None:
        """`notes` asks for a line about each score that was set by hand, where the file cannot say so."""
        self._records, self._find, self._where, self._notes = records, find, where, notes
        self._filled: dict[int, tuple[str, int]] = {}
        self.warnings: list[str] = []

    def __iter__(self) -> Iterator[tuple[Record, int]]:
        """Each record with each row that its score goes into; of several of a student, the latest attempt counts."""
        for record in self._records:
            if not has_score(record):
                self.warnings.append(no_score_warning(record))
                continue
            if self._notes and record.override is not None:
                self.warnings.append(override_note(record))
            for student in record.students:
                row = self._place(student)
                if row is not None and self._counts(student, record.attempt, row):
                    yield record, row

    def _place(self, student: Student) -> int | None:
        try:
            row = self._find(student)
        except Ambiguous as problem:
            self._warn(student, f"{problem} in {self._where}; enter the score by hand")
            return None
        if row is None:
            self._warn(student, f"no row matches in {self._where}; enter the score by hand")
        return row

    def _counts(self, student: Student, attempt: int, row: int) -> bool:
        """Whether this score goes into the row, which may have one already."""
        whose, before = self._filled.get(row, (student.id, 0))
        if whose != student.id:
            self._warn(student, f"the row matches {whose} as well and keeps that score; enter this one by hand")
            return False
        if before:
            self._warn(student, f"has several records; that of attempt {max(attempt, before)} counts here")
        if attempt < before:
            return False
        self._filled[row] = (student.id, attempt)
        return True

    def _warn(self, student: Student, words: str) -> None:
        self.warnings.append(one_line(f"{student.id}: {words}"))


def read(text: str, what: str) -> Sheet:
    """Read a CSV file with a header; `what` names it in errors.

    Raises:
        ExportProblem: it is empty or no CSV.
    """
    text = text.removeprefix("\ufeff")
    first = text.partition("\n")[0]
    delimiter = ";" if first.count(";") > first.count(",") else ","
    try:
        found = list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True))
    except csv.Error as error:
        raise ExportProblem(f"{what}: is no CSV ({error}); download it again and give it unchanged") from error
    rows = [row for row in found if any(cell.strip() for cell in row)]
    if not rows:
        raise ExportProblem(f"{what}: is empty; download it again")
    width = max(len(row) for row in rows)
    padded = [row + [""] * (width - len(row)) for row in rows]
    return Sheet(padded[0], padded[1:], delimiter)


def write(sheet: Sheet, file: TextIO) -> None:
    """Write it with its own delimiter."""
    writer = csv.writer(file, delimiter=sheet.delimiter, lineterminator="\n")
    writer.writerow(sheet.header)
    writer.writerows(sheet.rows)


def folded(text: str) -> str:
    """For comparisons, with accents in one form: some programs take letters apart."""
    return unicodedata.normalize("NFC", " ".join(text.split()).casefold())


def listed(names: Iterable[str]) -> str:
    """Names for an error message."""
    return ", ".join(repr(one_line(name, limit=80)) for name in names) or "none"


def points_warning(points: str, most: float, name: str, what: str) -> str | None:
    """A warning where the platform's maximum, as it stands in the file, is not the kata's; None where it is.

    Scores are written as points and never scaled.
    """
    try:
        found = float(points.replace(",", "."))
    except ValueError:
        return None
    if most <= 0 or found == most:
        return None
    return f"{name} is {found:g} in {what}, but the scores are points of {most:g}; set it to {most:g} there"
