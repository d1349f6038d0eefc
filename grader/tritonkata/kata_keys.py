"""Keys of `kata.toml` that are of the right type, and still cannot be meant: no kata can be used with one of them."""

from __future__ import annotations

import keyword
from collections.abc import Iterator, Mapping, Sequence

from tritonkata.model.course import Entry, Kata, KataFile, TrafficBudget

MOST_SECONDS = 3600.0
MOST_TRAVERSALS = 1000.0

_LIMITS = ("load_seconds", "compile_seconds", "case_seconds")


def odd_keys(file: KataFile) -> Iterator[str]:
    """One line for each: the key, what is wrong, and what to do."""
    for key, text in (("title", file.title), ("summary", file.summary)):
        if is_odd_line(text):
            yield f"{key}: is {text!r}; write it in one line"
    yield from _odd_lists({"dtypes": file.dtypes, "entry_points": [entry.name for entry in file.entry_points]})
    yield from _twice("prerequisites", file.prerequisites)
    for number, entry in enumerate(file.entry_points):
        yield from _odd_entry(f"entry_points[{number}]", entry)
    for key in _LIMITS:
        seconds = getattr(file.limits, key)
        if not 0 < seconds <= MOST_SECONDS:
            yield f"limits.{key}: is {seconds:g}; give seconds above 0, at most {MOST_SECONDS:g}"
    yield from _odd_traffic(file.traffic, file.entry_points)


def is_odd_line(text: str) -> bool:
    """Whether a text is none that can be shown in one line."""
    return not text.strip() or not text.isprintable()


def circle(slug: str, katas: Mapping[str, Kata]) -> tuple[str, ...]:
    """The shortest way from a kata over prerequisites back to itself, from its first step on; empty without one."""
    ways: list[tuple[str, ...]] = [(one,) for one in katas[slug].file.prerequisites]
    seen: set[str] = set()
    for way in ways:  # which grows meanwhile
        if way[-1] == slug:
            return way
        if way[-1] in katas and way[-1] not in seen:
            seen.add(way[-1])
            ways += ((*way, one) for one in katas[way[-1]].file.prerequisites)
    return ()


def _odd_entry(key: str, entry: Entry) -> Iterator[str]:
    named = {"name": (entry.name,), "parameters": entry.parameters, "results": entry.results}
    for part, names in named.items():
        for name in names:
            if not name.isidentifier() or keyword.iskeyword(name):
                yield f"{key}.{part}: {name!r} is no name in Python; use letters, digits and _, and no keyword"
    yield from _odd_lists({f"{key}.parameters": entry.parameters, f"{key}.results": entry.results})


def _odd_traffic(traffic: TrafficBudget, entries: Sequence[Entry]) -> Iterator[str]:
    if traffic.unit not in {name for entry in entries for name in entry.parameters}:
        yield f"traffic.unit: no entry point has a parameter {traffic.unit!r}; name one"
    odd = [key for key in ("budget", "par") if not 0 < getattr(traffic, key) <= MOST_TRAVERSALS]
    for key in odd:
        yield f"traffic.{key}: is {getattr(traffic, key):g}; give traversals above 0, at most {MOST_TRAVERSALS:g}"
    if not odd and traffic.par > traffic.budget:
        yield f"traffic.par: is {traffic.par:g}; it must lie within the budget, {traffic.budget:g}"


def _odd_lists(lists: Mapping[str, Sequence[str]]) -> Iterator[str]:
    for key, names in lists.items():
        if not names:
            yield f"{key}: is empty; name at least one"
        yield from _twice(key, names)


def _twice(key: str, names: Sequence[str]) -> Iterator[str]:
    yield from (
        f"{key}: {name!r} stands there twice; take one out" for name in dict.fromkeys(names) if names.count(name) > 1
    )
