"""Whether what a call returns is decided by the memory it found, or comes out differently by itself."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from numpy.typing import NDArray

from tritonkata.launcher import compare

Words = list[NDArray[Any]]
"""All elements of each output, as unsigned words."""

ROUNDS = 12
LONGEST_SECONDS = 2.0
"""A kernel that is so slow is run again once: the deadline of the case goes on."""


def repeats(run_over: Callable[[int], Words], found: Mapping[int, Words], dtypes: Sequence[str]) -> bool:
    """Whether each run over a poison byte gives the outputs `found` over it, time after time.

    Programs that race for an element, or add to it in any order, may well agree some times over one poison; that
    they also differ from that over the other one, each time, is rarer by far.
    """
    began = time.monotonic()
    for number, order in enumerate(orders(list(found))):
        if number and time.monotonic() - began > LONGEST_SECONDS:
            break
        if any(_differs(found[poison], run_over(poison), dtypes) for poison in order):
            return False
    return True


def orders(poisons: list[int]) -> Iterator[list[int]]:
    """The orders in which the poisons take turns, after a first round as given.

    One that repeats itself would take for poison what follows the GPU's own turns: whose programs begin first may
    change from one launch to the next and back. In the sequence of Thue and Morse nothing occurs three times in a row.
    """
    for number in range(1, ROUNDS + 1):
        yield poisons[::-1] if number.bit_count() % 2 else poisons


def _differs(expected: Words, words: Words, dtypes: Sequence[str]) -> bool:
    pairs = zip(expected, words, dtypes, strict=True)
    return any(bool(compare.differing(one, other, dtype).any()) for one, other, dtype in pairs)
