"""Failures without a name that may well go with the one mistake that has one.

A mistake does not give its own numbers everywhere: a lane too many reads a gap in one case and a tensor's
end in another, and a loss of precision can be smaller than what a wrong model tells apart.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from tritonkata.model.report import CheckResult

Group = list[CheckResult]

_ABOUT_VALUES = frozenset({"values", "nan", "infinity"})
# Faults of memory: what they leave of other cases are wrong numbers.
_OF_MEMORY = frozenset({"out_of_bounds", "race", "uninitialised_read"})
_LIKELY = 2
"""A mistake takes nameless failures with it if it is behind at least so many times as many of its own."""


def with_companions(groups: list[Group]) -> list[tuple[Group, Group]]:
    """Each group of one mistake, with the nameless failures that it takes along.

    That is only where a single mistake has a name among those that make wrong numbers of an entry
    point, and explains most of what failed there. Everything else stays a group of its own.
    """
    beside = {id(named): list(_nameless_beside(named, groups)) for named in groups if _is_named(named)}
    taken = {id(group) for found in beside.values() for group in found}
    return [(group, list(chain.from_iterable(beside.get(id(group), ())))) for group in groups if id(group) not in taken]


def _nameless_beside(named: Group, groups: list[Group]) -> Iterator[Group]:
    entries = _entries(named)
    rivals = [group for group in groups if group is not named and _is_named(group) and _entries(group) & entries]
    nameless = [group for group in groups if _is_nameless(group) and _entries(group) <= entries]
    if not rivals and len(named) >= _LIKELY * sum(len(group) for group in nameless):
        yield from nameless


def _is_named(group: Group) -> bool:
    return group[0].diagnosis is not None and (group[0].verdict in _OF_MEMORY or _has_wrong_numbers(group[0]))


def _is_nameless(group: Group) -> bool:
    return group[0].diagnosis is None and _has_wrong_numbers(group[0])


def _has_wrong_numbers(check: CheckResult) -> bool:
    mismatch = check.evidence.mismatch
    return check.verdict == "wrong_output" and mismatch is not None and mismatch.kind in _ABOUT_VALUES


def _entries(group: Group) -> set[str]:
    return {check.evidence.case.entry for check in group if check.evidence.case is not None}
