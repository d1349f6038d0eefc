"""The processes of this machine, for tests of what is left running."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path


def wait_for(condition: Callable[[], object], what: str = "it did not come", seconds: float = 120.0) -> None:
    """Return once the condition holds; an assertion fails with `what` if it does not in time."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, what
        time.sleep(0.02)


def running(word: str) -> list[str]:
    """The command lines of living processes that hold `word`, but for this one's."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                command = (entry / "cmdline").read_bytes().decode(errors="replace")
            except OSError:
                continue
            if word in command:
                found.append(command)
    return found


def command_line(number: int) -> str:
    """A process's command; empty for one that ended."""
    try:
        return Path(f"/proc/{number}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    except OSError:
        return ""


def parent(number: int) -> int:
    """The process that a process is a child of."""
    return int(Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[1])


def below(above: int) -> set[int]:
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
    frontier = {above}
    while frontier:
        frontier = {child for child, number in parents.items() if number in frontier} - found
        found |= frontier
    return found
