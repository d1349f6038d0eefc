"""Tables of text, and how numbers stand in them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from tritonkata.feedback.numbers import number
from tritonkata.labs.model import Value
from tritonkata.model.observation import Level

Mood = Literal["plain", "good", "bad"]
NOTHING = "-"
"""Stands where there is no figure."""

_HUGE = 1e7


@dataclass(frozen=True)
class Cell:
    """What stands in one place, and how it is meant."""

    text: str
    mood: Mood = "plain"


@dataclass(frozen=True)
class Column:
    """A heading of one or two lines. Numbers stand on the right."""

    heading: str
    is_number: bool = True


@dataclass(frozen=True)
class Grid:
    """A table."""

    caption: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]


def without_empty(grid: Grid) -> Grid:
    """The table without the columns in which nothing stands."""
    kept = [place for place in range(len(grid.columns)) if any(row[place].text != NOTHING for row in grid.rows)]
    return Grid(
        grid.caption,
        tuple(grid.columns[place] for place in kept),
        tuple(tuple(row[place] for place in kept) for row in grid.rows),
    )


def value(one: Value | None) -> str:
    """A number with four digits, and `-` for none."""
    return NOTHING if one is None else number(one, 4)


def traversals(level: Level | None, unit_bytes: int, digits: int = 3) -> str:
    """Bytes of a level in units of the tensor."""
    return NOTHING if level is None else f"{level.total / unit_bytes:.{digits}f}"


def short(amount: float | None) -> str:
    """Two digits after the point for a small amount, none for a large one, a power of ten for a huge one."""
    if amount is None:
        return NOTHING
    if amount >= _HUGE:
        return number(float(amount), 3)
    return f"{amount:,.0f}" if amount >= 1000 else f"{amount:.1f}" if amount >= 10 else f"{amount:.2f}"
