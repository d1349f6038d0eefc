"""Right kernels in many styles pass every check: a grader that fails honest work has failed itself."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tritonkata.check import grade
from tritonkata.courses import load_course
from tritonkata.engine.station import Station
from tritonkata.model.course import Kata

FOLDER = Path(__file__).parent
EVERY_TIME = 2
"""Kernels of each kata that run with every change; the others are slow as a whole."""


def kernels() -> Iterator[Any]:
    for kata in load_course().katas:
        for number, path in enumerate(sorted((FOLDER / kata.slug).glob("*.py"))):
            marks = () if number < EVERY_TIME else pytest.mark.slow
            yield pytest.param(kata, path, id=f"{kata.slug}-{path.stem}", marks=marks)


@pytest.mark.parametrize(("kata", "path"), list(kernels()))
def test_a_right_kernel_passes(kata: Kata, path: Path, station: Station) -> None:
    report = grade(kata, path, engine="interpreter", seed=31, station=station)
    failed = [(c.name, c.verdict, c.diagnosis, c.message, c.evidence) for c in report.checks if c.verdict != "pass"]
    assert report.fault is None
    assert failed == []
    assert report.verdict == "pass"
