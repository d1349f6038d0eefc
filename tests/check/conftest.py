"""Grading against a small course, so that each test costs seconds."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from processes import below

from tritonkata.check import grade
from tritonkata.courses import load_course
from tritonkata.engine.station import Station
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


@pytest.fixture(scope="session")
def warm_station(kata: Kata, station: Station) -> Station:
    """A station with templates for this course, which a test then finds running."""
    assert grade(kata, kata.solution, engine="interpreter", station=station).verdict == "pass"
    return station


@pytest.fixture
def grade_source(kata: Kata, tmp_path: Path, warm_station: Station) -> Grade:
    """Grade a source text on the interpreter."""

    def run(source: str | bytes) -> Report:
        path = tmp_path / "doubled.py"
        path.write_bytes(source.encode() if isinstance(source, str) else source)
        return grade(kata, path, engine="interpreter", seed=1, station=warm_station)

    return run


@pytest.fixture(autouse=True)
def nothing_left_running(warm_station: Station) -> Iterator[None]:
    """No process that a test started outlives it."""
    before = below(os.getpid())
    yield
    left = below(os.getpid()) - before
    assert not left, f"still running: {left}"
