"""Submissions by their structure, and what each structure has of its own."""

from __future__ import annotations

import hashlib
from array import array
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from tritonkata.similar.tokens import stream_of
from tritonkata.similar.types import Candidate
from tritonkata.similar.winnowing import GRAM, gram_hashes, winnowed

COMMON_SHARE = 0.2
"""Of all structures: what more of them have is how this drill is written, and tells nothing."""
COMMON_AT_LEAST = 4
"""In a small class a fifth is nobody: what so many structures have is not yet common."""
LEAST_FINGERPRINTS = 8
"""Fewer of its own say too little about a file; eight span some forty symbols, about five lines."""


@dataclass(frozen=True)
class Member:
    """One submission without its text; `lines` holds the line of each symbol."""

    students: tuple[str, ...]
    file: str
    attempt: int
    lines: array[int]


@dataclass(frozen=True)
class Structure:
    """Submissions whose symbols are the same. `places` holds where each fingerprint's symbols begin."""

    members: tuple[Member, ...]
    places: Mapping[int, tuple[int, ...]]

    @property
    def has_enough(self) -> bool:
        """Whether there is enough beside the skeleton to speak of."""
        return len(self.places) >= LEAST_FINGERPRINTS


def structures_of(candidates: Iterable[Candidate], skeleton: str) -> tuple[Structure, ...]:
    """The different structures, without the fingerprints that the skeleton has anywhere, in the order they came."""
    given = frozenset(gram_hashes(stream_of(skeleton).symbols))
    members: dict[bytes, list[Member]] = {}
    places: dict[bytes, dict[int, tuple[int, ...]]] = {}
    for one in candidates:
        stream = stream_of(one.source)
        key = hashlib.sha256("\0".join(stream.symbols).encode("utf-8", errors="surrogatepass")).digest()
        members.setdefault(key, []).append(Member(one.students, one.file, one.attempt, stream.lines))
        if key not in places:
            places[key] = _places(stream.symbols, given)
    return tuple(Structure(tuple(found), places[key]) for key, found in members.items())


def common_of(structures: Iterable[Structure]) -> frozenset[int]:
    """Fingerprints that more than a fifth of the structures have, and more than four.

    A structure counts once, however many submissions have it: many copies of one file do not make it common.
    """
    found = tuple(structures)
    counted = Counter(fingerprint for one in found for fingerprint in one.places)
    most = max(COMMON_AT_LEAST, COMMON_SHARE * len(found))
    return frozenset(fingerprint for fingerprint, count in counted.items() if count > most)


def line_ranges(structure: Structure, member: Member, fingerprints: Iterable[int]) -> tuple[tuple[int, int], ...]:
    """The lines of a submission that some fingerprints cover."""
    covered: set[int] = set()
    for fingerprint in fingerprints:
        for place in structure.places[fingerprint]:
            covered.update(member.lines[place : place + GRAM])
    ranges: list[tuple[int, int]] = []
    for line in sorted(covered):
        if ranges and line <= ranges[-1][1] + 1:
            ranges[-1] = (ranges[-1][0], line)
        else:
            ranges.append((line, line))
    return tuple(ranges)


def _places(symbols: tuple[str, ...], given: frozenset[int]) -> dict[int, tuple[int, ...]]:
    found: dict[int, list[int]] = {}
    for fingerprint, place in winnowed(gram_hashes(symbols)):
        if fingerprint not in given:
            found.setdefault(fingerprint, []).append(place)
    return {fingerprint: tuple(where) for fingerprint, where in found.items()}
