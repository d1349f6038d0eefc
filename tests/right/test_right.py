"""Right kernels in many styles pass every check: a grader that fails honest work has failed itself."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tritonkata.boundary.messages import DeviceFigures
from tritonkata.boundary.validate import validate
from tritonkata.check import grade
from tritonkata.courses import load_course
from tritonkata.engine.arrays import spec_of
from tritonkata.engine.engines import InterpreterEngine
from tritonkata.engine.station import Station
from tritonkata.engine.workers import Assignment
from tritonkata.model.course import Kata
from tritonkata.model.plan import LaunchPlan

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


@pytest.mark.parametrize(("kata", "path"), list(kernels()))
def test_a_right_kernels_plan_may_be_replayed(kata: Kata, path: Path, station: Station) -> None:
    """On a GPU: whatever compilers put into a cubin, it is one to the launcher as well."""
    entry = kata.file.entry_points[0]
    arguments = tuple(np.zeros((4, 1000), np.float32) for _ in entry.parameters)
    engine = InterpreterEngine(Assignment.to_kata(kata, path.name, path.read_bytes()), station)
    try:
        plan = engine.compile(entry, arguments)
    finally:
        engine.close()
    assert isinstance(plan, LaunchPlan), plan
    assert plan.kernels
    validate(plan, tuple(map(spec_of, arguments)), DeviceFigures())
