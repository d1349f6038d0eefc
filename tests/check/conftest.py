"""Grading against a small course, so that each test costs seconds."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tritonkata.check import grade
from tritonkata.courses import load_course
from tritonkata.model.course import Kata
from tritonkata.model.report import Report

COURSE = Path(__file__).resolve().parents[1] / "course"
Grade = Callable[[str | bytes], Report]


@pytest.fixture(scope="session")
def kata() -> Kata:
    return load_course(COURSE).kata("doubled")


@pytest.fixture
def solution(kata: Kata) -> str:
    return kata.solution.read_text()


@pytest.fixture
def grade_source(kata: Kata, tmp_path: Path) -> Grade:
    """Grade a source text on the interpreter."""

    def run(source: str | bytes) -> Report:
        path = tmp_path / "doubled.py"
        path.write_bytes(source.encode() if isinstance(source, str) else source)
        return grade(kata, path, engine="interpreter", seed=1)

    return run


@pytest.fixture(autouse=True)
def nothing_left_running() -> Iterator[None]:
    """No process that a test started outlives it."""
    before = descendants()
    yield
    left = descendants() - before
    assert not left, f"still running: {left}"


def descendants() -> set[int]:
    """Every process below this one."""
    parents: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if fields[0] != "Z":
                parents[int(entry.name)] = int(fields[1])
    found: set[int] = set()
    frontier = {os.getpid()}
    while frontier:
        frontier = {child for child, parent in parents.items() if parent in frontier} - found
        found |= frontier
    return found
