"""The processes of this machine, for benchmarks of what a command starts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path


def below(parent: int) -> dict[int, str]:
    """Every process below one, with when it started, which tells it from a later one of its number."""
    parents = {number: fields[1] for number, fields in processes()}
    starts = {number: fields[19] for number, fields in processes()}
    found: set[int] = set()
    frontier = {parent}
    while frontier:
        frontier = {child for child, above in parents.items() if int(above) in frontier} - found
        found |= frontier
    return {number: starts[number] for number in found if number in starts}


def processes() -> Iterator[tuple[int, list[str]]]:
    """Each process that has not ended, with the fields of its `stat` from the state on."""
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if fields[0] != "Z":
                yield int(entry.name), fields
