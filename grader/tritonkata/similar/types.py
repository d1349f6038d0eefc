"""What is compared, and what comes of it."""

from __future__ import annotations

import msgspec

FORMAT_VERSION = 1

Lines = tuple[tuple[int, int], ...]
"""Ranges of lines, from 1, both ends included."""


class Candidate(msgspec.Struct, frozen=True):
    """One submission to compare. `students` are the ids of everyone who handed it in."""

    students: tuple[str, ...]
    file: str
    source: str
    attempt: int = 1


class Side(msgspec.Struct, frozen=True):
    """One of a pair, and the lines that the other one has as well."""

    students: tuple[str, ...]
    file: str
    attempt: int
    lines: Lines


class Pair(msgspec.Struct, frozen=True):
    """Two submissions of like structure.

    `share` is the part of the shorter one's fingerprints that the longer one has too, from 0 to 1, and
    `fingerprints` how many that are, both without what the skeleton or much of the class has.
    """

    share: float
    fingerprints: int
    left: Side
    right: Side


class Comparison(msgspec.Struct, frozen=True):
    """The pairs from `least` on, most alike first.

    Args:
        pairs: of different students.
        least: the share from which on a pair is told.
        compared: submissions that have enough of their own.
        too_short: submissions that have not.
        structures: different structures among all of them, renamed copies counted once.
        common: fingerprints left out since much of the class has them.
        cut: whether there were more pairs than are kept.
    """

    pairs: tuple[Pair, ...]
    least: float
    compared: int
    too_short: int
    structures: int
    common: int
    cut: bool = False
    format_version: int = FORMAT_VERSION
