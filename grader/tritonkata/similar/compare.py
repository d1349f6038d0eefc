"""Pairs of submissions with like structure, found through an index of fingerprints."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from heapq import nsmallest
from itertools import chain, combinations, product

import numpy as np
from numpy.typing import NDArray

from tritonkata.similar.structures import (
    LEAST_FINGERPRINTS,
    Member,
    Structure,
    common_of,
    line_ranges,
    structures_of,
)
from tritonkata.similar.types import Candidate, Comparison, Pair, Side

MOST_PAIRS = 1000
"""More are not looked at by anyone; the best are kept."""

_Match = tuple[float, int, int, int]
"""Share, fingerprints in common, and the numbers of the two structures, the earlier one first."""


def compare(candidates: Iterable[Candidate], skeleton: str, least: float) -> Comparison:
    """Compare every submission with every other one.

    Args:
        candidates: the submissions.
        skeleton: the text that all of them started from; what it has counts for nothing.
        least: the share from which on a pair is told, above 0 and up to 1.
    """
    structures = structures_of(candidates, skeleton)
    common = common_of(structures)
    own = [frozenset(one.places) - common for one in structures]
    matches, cut = _best(chain(_same(structures), _matches(own, least)))
    pairs: list[Pair] = []
    for pair in _pairs(matches, structures, own):
        if len(pairs) == MOST_PAIRS:
            cut = True
            break
        pairs.append(pair)
    enough = sum(len(one.members) for one, left in zip(structures, own, strict=True) if _counts(one, left))
    total = sum(len(one.members) for one in structures)
    return Comparison(tuple(pairs), least, enough, total - enough, len(structures), len(common), cut)


def _counts(structure: Structure, own: Collection[int]) -> bool:
    return len(own) >= LEAST_FINGERPRINTS or (structure.has_enough and len(structure.members) > 1)


def _same(structures: Sequence[Structure]) -> Iterator[_Match]:
    """Structures of several submissions; what much of the class has counts here, since the whole file is the same."""
    for place, one in enumerate(structures):
        if len(one.members) > 1 and one.has_enough:
            yield 1.0, len(one.places), place, place


def _matches(own: Sequence[Collection[int]], least: float) -> Iterator[_Match]:
    """Pairs of different structures: each one's fingerprints looked up among those of the ones before it."""
    index: dict[int, list[int]] = {}
    sizes = np.array([len(one) for one in own], dtype=np.int64)
    for place, fingerprints in enumerate(own):
        if len(fingerprints) < LEAST_FINGERPRINTS:
            continue
        met = [index[one] for one in fingerprints if one in index]
        if met:
            yield from _against_earlier(place, np.concatenate(met), sizes, least)
        for one in fingerprints:
            index.setdefault(one, []).append(place)


def _against_earlier(place: int, met: NDArray[np.int64], sizes: NDArray[np.int64], least: float) -> Iterator[_Match]:
    shared = np.bincount(met, minlength=place)
    shares = shared / np.minimum(sizes[:place], sizes[place]).clip(1)
    for other in np.flatnonzero(shares >= least):
        yield float(shares[other]), int(shared[other]), int(other), place


def _best(matches: Iterable[_Match]) -> tuple[list[_Match], bool]:
    """The most alike, and whether some were left out. Of equal shares the longer ones come first."""
    ordered = nsmallest(MOST_PAIRS + 1, matches, key=lambda match: (-match[0], -match[1], match[2:]))
    return ordered[:MOST_PAIRS], len(ordered) > MOST_PAIRS


def _pairs(matches: Iterable[_Match], structures: Sequence[Structure], own: Sequence[frozenset[int]]) -> Iterator[Pair]:
    for share, count, first, second in matches:
        left, right = structures[first], structures[second]
        shared = left.places.keys() if first == second else own[first] & own[second]
        both = combinations(left.members, 2) if first == second else product(left.members, right.members)
        for one, other in both:
            if not set(one.students) & set(other.students):
                yield Pair(share, count, _side(left, one, shared), _side(right, other, shared))


def _side(structure: Structure, member: Member, shared: Iterable[int]) -> Side:
    return Side(member.students, member.file, member.attempt, line_ranges(structure, member, shared))
