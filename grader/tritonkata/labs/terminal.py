"""A result on a terminal, in at most 100 columns."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table
from rich.text import Text

from tritonkata.labs import words
from tritonkata.labs.grids import Grid, Mood
from tritonkata.labs.model import CeilingResult, LabResult
from tritonkata.labs.tables import tables_of

WIDTH = 100
_STYLES: dict[Mood, str] = {"plain": "", "good": "green", "bad": "red"}


def print_result(result: LabResult | CeilingResult, console: Console) -> None:
    """The tables of a result, with what they say before and after."""
    console.print(Text(words.title(result), style="bold"))
    console.print(Text(words.where(result), style="dim"))
    for line in words.introduction(result):
        console.print(Text(line))
    for grid in tables_of(result):
        console.print()
        console.print(_table(grid))
    console.print()
    for line in words.findings(result):
        console.print(Text(line))
    for line in words.remarks(result):
        console.print(Text(line, style="yellow" if line.startswith("Note:") else "dim"))


def _table(grid: Grid) -> Table:
    table = Table(
        title=grid.caption,
        title_justify="left",
        title_style="bold",
        box=None,
        padding=(0, 2, 0, 0),
        pad_edge=False,
        header_style="dim",
    )
    for column in grid.columns:
        side = "right" if column.is_number else "left"
        table.add_column(Text(column.heading), justify=side, no_wrap=True, vertical="bottom")  # type: ignore[arg-type]
    for row in grid.rows:
        table.add_row(*(Text(cell.text, style=_STYLES[cell.mood]) for cell in row))
    return table
