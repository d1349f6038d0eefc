"""Who is expected: a table of students, as a spreadsheet or a platform writes one."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence
from pathlib import Path

from tritonkata.intake.names import known_as, printable
from tritonkata.intake.types import IntakeProblem
from tritonkata.model.record import Student
from tritonkata.submission import readable

MAX_ROSTER_BYTES = 16 << 20
_COLUMNS = ("id", "name", "email")
_DELIMITERS = (",", ";", "\t")
_HEADING = re.compile(r"\b(id|(user|first|last|full|sur)?name|e-?mail)\b")

_Row = tuple[int, list[str]]
"""A row that has something in it, and its number in the file."""


def read_roster(path: Path) -> tuple[Student, ...]:
    """Read who is expected: a CSV with the columns id, name and email, in this order or as its first line names them.

    Commas, semicolons (Excel's in much of Europe) or tabs stand between the columns.

    Raises:
        IntakeProblem: it cannot be read, has a header without id, a line has no id, or an id comes twice.
    """
    try:
        rows = _rows(_text(path))
        columns = _columns(rows[0]) if rows else None
    except csv.Error as error:
        raise IntakeProblem(f"{readable(path)}: is no CSV in UTF-8 ({error}); export it again") from error
    except IntakeProblem as problem:
        raise IntakeProblem(f"{readable(path)}: {problem}") from problem
    students: dict[str, Student] = {}
    for number, row in rows[1:] if columns else rows:
        student = _expected(row, columns or dict(zip(_COLUMNS, range(3), strict=True)))
        if not student.id or student.id in students:
            what = f"the id {student.id} comes a second time" if student.id else "has no id"
            raise IntakeProblem(f"{readable(path)}: row {number}: {what}; give each student one id of their own")
        students[student.id] = student
    return tuple(students.values())


def _text(path: Path) -> str:
    try:
        if path.stat().st_size > MAX_ROSTER_BYTES:
            raise IntakeProblem(f"is larger than {MAX_ROSTER_BYTES >> 20} MiB; name a CSV of students")
        return path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise IntakeProblem(f"cannot be read: {error.strerror}; correct the path") from error
    except UnicodeDecodeError as error:
        raise IntakeProblem(f"is no CSV in UTF-8 ({error}); export it again") from error


def _rows(text: str) -> list[_Row]:
    first = text.lstrip().partition("\n")[0]
    # The comma where none is there more often.
    delimiter = max(_DELIMITERS, key=first.count)
    found = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    return [(number, row) for number, row in enumerate(found, start=1) if any(map(str.strip, row))]


def _columns(first: _Row) -> dict[str, int] | None:
    """Where each column is, if the first row names them.

    Raises:
        IntakeProblem: it names some, and none is the id.
    """
    number, row = first
    names = [cell.strip().casefold() for cell in row]
    if "id" in names:
        return {name: names.index(name) for name in _COLUMNS if name in names}
    if any(map(_HEADING.search, names)) and not any("@" in name for name in names):
        listed = ", ".join(printable(cell.strip()) for cell in row)
        raise IntakeProblem(f"row {number} has no column id: {listed}; name the one with the ids id")
    return None


def _expected(row: Sequence[str], columns: dict[str, int]) -> Student:
    cells = {name: known_as(row[place].strip()) for name, place in columns.items() if place < len(row)}
    return Student(cells.get("id", ""), cells.get("name", ""), cells.get("email", ""))
