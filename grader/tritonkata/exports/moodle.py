"""Moodle's grading worksheet, filled in.

Moodle takes back only the worksheet that it gave out: the headings are in the language of the site, and each row
has the number of a participant in this one assignment. So none is made here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TextIO

from tritonkata.exports import sheets
from tritonkata.exports.cells import guarded, number_cell
from tritonkata.exports.sheets import Entries, Index, Sheet
from tritonkata.exports.words import ExportProblem, outcome, override_line, score_line
from tritonkata.model.record import Record, Student

_WHAT = "the Moodle worksheet"
_IDENTIFIER = re.compile(r"\D*?(\d+)\s*")
_MAXIMUM = re.compile(r"\d+[.,]\d+")
_HOW = "in Moodle: the assignment, View all submissions, Download grading worksheet"


@dataclass(frozen=True)
class _Columns:
    identifier: int
    grade: int
    maximum: int | None
    feedback: int | None


def write(
    records: Iterable[Record],
    file: TextIO,
    worksheet: str | None,
    *,
    column: str | None = None,
    feedback: str | None = None,
    called: str = "",
) -> tuple[str, ...]:
    """Write the worksheet with grades, and comments where it has a column for them; returns warnings.

    Args:
        records: what was graded; every student of a group gets the score.
        file: where to.
        worksheet: the text of the downloaded worksheet; all other cells are kept.
        column: the heading of the grades, where it is neither "Grade" nor left of the maximum grade.
        feedback: the heading of the comments, where it is not "Feedback comments".
        called: what messages call the worksheet, such as its path.

    Raises:
        ExportProblem: there is no worksheet, or its columns cannot be told.
    """
    if worksheet is None:
        raise ExportProblem(
            "Moodle only takes back a grading worksheet that it gave out, since its headings are in the site's "
            f"language and its rows have Moodle's own numbers; download it ({_HOW}) and name it with --into"
        )
    what = called or _WHAT
    sheet = sheets.read(worksheet, what)
    columns = _columns(sheet, column, feedback, what)
    numbered = _numbered(sheet, columns)
    index = Index(numbered, range(len(numbered.rows)))
    entries = Entries(
        records, lambda student: index.find(_tiers(sheet, columns, student)), what, notes=columns.feedback is None
    )
    most = 0.0
    for record, row in entries:
        sheet.rows[row][columns.grade] = _grade(record.score, sheet.rows[row], columns)
        if columns.feedback is not None:
            sheet.rows[row][columns.feedback] = guarded(_comment(record))
        most = max(most, record.max_score)
    sheets.write(sheet, file)
    maxima = [row[columns.maximum] for row in sheet.rows] if columns.maximum is not None else []
    warning = sheets.points_warning(maxima[0], most, "the maximum grade", what) if maxima else None
    return (*entries.warnings, *([warning] if warning else []))


def _columns(sheet: Sheet, grade: str | None, feedback: str | None, what: str) -> _Columns:
    maximum = _named(sheet, "Maximum grade")
    if maximum is None:
        maximum = _maximum(sheet)
    found = _named(sheet, grade or "Grade")
    if found is None and grade is None and maximum:
        found = maximum - 1
    identifier = _named(sheet, "Identifier")
    if identifier is None and sheet.rows and all(_IDENTIFIER.fullmatch(row[0]) for row in sheet.rows):
        identifier = 0
    if found is None or identifier is None:
        missing = f"grades ({grade or 'Grade'!r})" if found is None else "identifiers ('Identifier')"
        mend = "name one of these with --column, or " if found is None else ""
        raise ExportProblem(
            f"{what}: has no column of {missing}, but {sheets.listed(sheet.header)}; {mend}download it again ({_HOW})"
        )
    comments = _named(sheet, feedback or "Feedback comments")
    if feedback is not None and comments is None:
        raise ExportProblem(f"{what}: has no column {feedback!r}, but {sheets.listed(sheet.header)}; name one of these")
    return _Columns(identifier, found, maximum, comments)


def _named(sheet: Sheet, heading: str) -> int | None:
    places = [place for place, name in enumerate(sheet.header) if sheets.folded(name) == sheets.folded(heading)]
    return places[0] if places else None


def _maximum(sheet: Sheet) -> int | None:
    """The one column with the same decimal number in every row; Moodle puts it right of the grades."""
    columns = [[row[place] for row in sheet.rows] for place in range(len(sheet.header))]
    places = [
        place for place, cells in enumerate(columns) if place and len(set(cells)) == 1 and _MAXIMUM.fullmatch(cells[0])
    ]
    return places[0] if len(places) == 1 else None


def _numbered(sheet: Sheet, columns: _Columns) -> Sheet:
    """The sheet with bare numbers as identifiers: the word before them is in the site's language."""

    def bare(row: list[str]) -> list[str]:
        found = _IDENTIFIER.fullmatch(row[columns.identifier])
        number = found[1] if found else row[columns.identifier]
        return [number if place == columns.identifier else cell for place, cell in enumerate(row)]

    return Sheet(sheet.header, [bare(row) for row in sheet.rows], sheet.delimiter)


def _tiers(sheet: Sheet, columns: _Columns, student: Student) -> sheets.Tiers:
    written = {columns.identifier, columns.grade, columns.maximum, columns.feedback}
    others = [place for place in range(len(sheet.header)) if place not in written and place < columns.grade]
    return (
        (([columns.identifier], student.numbers.get("moodle", "")),),
        ((others, student.email), (others, student.numbers.get("sid", ""))),
        (([columns.identifier, *others], student.id),),
        ((others, student.name),),
    )


def _grade(score: float, row: list[str], columns: _Columns) -> str:
    """With a decimal comma where the site writes one."""
    comma = columns.maximum is not None and "," in row[columns.maximum]
    return number_cell(score).replace(".", ",") if comma else number_cell(score)


def _comment(record: Record) -> str:
    return " ".join(line for line in (outcome(record), f"{score_line(record)}.", override_line(record)) if line)
