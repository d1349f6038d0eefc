"""Canvas's gradebook CSV: the one that an instructor exported, filled in, or one made from records.

Canvas matches a row by its ID, then by SIS or login id, then by name, and so does this.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TextIO

from tritonkata.exports import sheets
from tritonkata.exports.cells import Cell, number_cell, write_rows
from tritonkata.exports.sheets import Entries, Index, Sheet
from tritonkata.exports.words import ExportProblem, has_score, no_score_warning, override_note
from tritonkata.feedback.clean import one_line
from tritonkata.model.course import Kata
from tritonkata.model.record import Record, Student

STUDENT_COLUMNS = ("Student", "ID", "SIS User ID", "SIS Login ID", "Section")
POINTS_POSSIBLE = "    Points Possible"

_ASSIGNMENT = re.compile(r"(?P<title>.*) \((?P<id>\d+)\)", re.DOTALL)
_WHAT = "the Canvas gradebook"


def write(
    records: Iterable[Record],
    kata: Kata,
    file: TextIO,
    gradebook: str | None = None,
    *,
    column: str | None = None,
    called: str = "",
) -> tuple[str, ...]:
    """Write a gradebook to import; returns warnings for the instructor.

    Args:
        records: what was graded; every student of a group gets the score.
        kata: its title is the assignment's, where `column` does not say otherwise.
        file: where to.
        gradebook: the text of the exported gradebook, every other cell of which is kept; without one a file is made.
        column: the assignment's column: its whole heading, its title, or its id.
        called: what messages call the gradebook, such as its path.

    Raises:
        ExportProblem: the gradebook is none, or its column for this kata cannot be told.
    """
    what = called or _WHAT
    if gradebook is None:
        return _write_made(records, column or kata.file.title, file)
    sheet = sheets.read(gradebook, what)
    place = _column(sheet, kata, column, what)
    people = [row for row, cells in enumerate(sheet.rows) if _is_person(sheet, cells)]
    index = Index(sheet, people)
    entries = Entries(records, lambda student: index.find(_tiers(sheet, student)), what, notes=True)
    most = 0.0
    for record, row in entries:
        sheet.rows[row][place] = number_cell(record.score)
        most = max(most, record.max_score)
    sheets.write(sheet, file)
    points = [cells[place] for cells in sheet.rows if "Points Possible" in cells[0]]
    warning = sheets.points_warning(points[0], most, "Points Possible", what) if points else None
    return (*entries.warnings, *([warning] if warning else []))


def _column(sheet: Sheet, kata: Kata, column: str | None, what: str) -> int:
    header = sheet.header
    if len(header) < 4 or "Student" not in header[0] or "ID" not in header[1]:
        raise ExportProblem(
            f"{what}: does not begin with the columns Student and ID but with {sheets.listed(header[:2])}; "
            "export it from Canvas (Grades, Export) and give it unchanged"
        )
    wanted = {sheets.folded(name) for name in ((column,) if column else (kata.file.title, kata.slug))}
    found = [place for place, heading in enumerate(header) if wanted & _names(heading)]
    if len(found) != 1:
        named = f"the assignment {column or kata.file.title!r}"
        have = sheets.listed(heading for heading in header if _ASSIGNMENT.fullmatch(heading))
        problem = "no column is" if not found else f"{len(found)} columns are"
        raise ExportProblem(
            f"{what}: {problem} {named}; name one with --column, by its heading, title or id (it has: {have})"
        )
    return found[0]


def _names(heading: str) -> set[str]:
    assignment = _ASSIGNMENT.fullmatch(heading)
    if assignment is None:
        return set()
    return {sheets.folded(name) for name in (heading, assignment["title"], assignment["id"])}


def _is_person(sheet: Sheet, cells: list[str]) -> bool:
    """Whether a row is of a student, and not of points or posting policies."""
    if "Points Possible" in cells[0]:
        return False
    return any(cell.strip() for heading, cell in zip(sheet.header, cells, strict=True) if heading in STUDENT_COLUMNS)


def _tiers(sheet: Sheet, student: Student) -> sheets.Tiers:
    def columns(*headings: str) -> list[int]:
        return [place for place, heading in enumerate(sheet.header) if heading in headings]

    ids, sis, login = columns("ID"), columns("SIS User ID"), columns("SIS Login ID")
    numbers = student.numbers
    return (
        ((ids, numbers.get("canvas", "")),),
        ((sis, numbers.get("sis", "")), (sis, numbers.get("sid", "")), (login, numbers.get("login", ""))),
        # An id that a folder was named after may be any of the three; one that is two people's is nobody's.
        (([*ids, *sis, *login], student.id), (login, student.email)),
        ((columns("Student"), student.name), (columns("Student"), _sortable(student.name))),
    )


def _sortable(name: str) -> str:
    first, _, last = name.strip().rpartition(" ")
    return f"{last}, {first}" if first else ""


def _write_made(records: Iterable[Record], title: str, file: TextIO) -> tuple[str, ...]:
    warnings: list[str] = []
    rows: dict[str, tuple[int, tuple[Cell, ...]]] = {}
    most = 0.0
    for record in records:
        if not has_score(record):
            warnings.append(no_score_warning(record))
        elif record.override is not None:
            warnings.append(override_note(record))
        most = max(most, record.max_score)
        for student in record.students:
            before = rows.get(student.id)
            if before is not None:
                kept = max(before[0], record.attempt)
                warnings.append(one_line(f"{student.id}: has several records; that of attempt {kept} counts here"))
            if before is None or record.attempt >= before[0]:
                rows[student.id] = (record.attempt, (*_made(student), record.score if has_score(record) else None))
    write_rows(file, [(*STUDENT_COLUMNS, title)])
    # The blanks in front of these words are Canvas's own.
    file.write(f"{POINTS_POSSIBLE},,,,,{number_cell(most)}\n")
    write_rows(file, (row for _, row in rows.values()))
    return tuple(warnings)


def _made(student: Student) -> tuple[Cell, ...]:
    numbers = student.numbers
    login = numbers.get("login") or student.email or student.id
    return (student.name or student.id, numbers.get("canvas", ""), numbers.get("sis") or numbers.get("sid"), login, "")
