"""Cells of a CSV file that a spreadsheet opens: text stays text, numbers stay numbers.

A spreadsheet runs a cell that begins like a formula. Such a cell gets an apostrophe in front, which spreadsheets
take for "this is text".
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable
from typing import TextIO

from tritonkata.feedback.clean import one_line

# The full-width forms count as the plain ones in some spreadsheets; quotes and blanks in front are skipped by some.
_FORMULA = re.compile(r"[\s\"'\u2018\u2019\u201c\u201d`]*[=+\-@\uff1d\uff0b\uff0d\uff20]|[\t\r\n]")
_NUMBER = re.compile(r"[+-]?[0-9]+(?:[.,][0-9]+)?")

Cell = str | float | bool | None


def guarded(text: str) -> str:
    """One harmless line of text that no spreadsheet takes for a formula."""
    shown = one_line(text)
    if _NUMBER.fullmatch(shown):
        return shown
    return f"'{shown}" if _FORMULA.match(text) or _FORMULA.match(shown) else shown


def cell(value: Cell) -> str:
    """A value as it stands in the file; None is an empty cell."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return guarded(value) if isinstance(value, str) else number_cell(value)


def number_cell(value: float) -> str:
    """A number with a decimal point and without grouping; a whole one without a point."""
    return f"{value:.10g}"


def write_rows(file: TextIO, rows: Iterable[Iterable[Cell]]) -> None:
    """Write rows as CSV (comma, quotes where needed, LF)."""
    writer = csv.writer(file, lineterminator="\n")
    writer.writerows([cell(value) for value in row] for row in rows)
