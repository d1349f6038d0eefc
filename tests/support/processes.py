"""The processes of this machine, for tests of what is left running."""

from __future__ import annotations

from pathlib import Path


def below(parent: int) -> set[int]:
    """All processes below one, those that ended and were not waited for left out."""
    parents: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                state, number = (entry / "stat").read_text().rpartition(")")[2].split()[:2]
            except OSError:
                continue
            if state != "Z":
                parents[int(entry.name)] = int(number)
    found: set[int] = set()
    frontier = {parent}
    while frontier:
        frontier = {child for child, number in parents.items() if number in frontier} - found
        found |= frontier
    return found
