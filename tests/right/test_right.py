"""Right kernels in many styles pass every check: a grader that fails honest work has failed itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from tritonkata.check import grade
from tritonkata.courses import load_course
from tritonkata.model.course import Kata

FOLDER = Path(__file__).parent
RIGHT = [(kata, path) for kata in load_course().katas for path in sorted((FOLDER / kata.slug).glob("*.py"))]


@pytest.mark.parametrize(("kata", "path"), RIGHT, ids=[f"{kata.slug}-{path.stem}" for kata, path in RIGHT])
def test_a_right_kernel_passes(kata: Kata, path: Path) -> None:
    report = grade(kata, path, engine="interpreter", seed=31)
    failed = [(c.name, c.verdict, c.diagnosis, c.message, c.evidence) for c in report.checks if c.verdict != "pass"]
    assert report.fault is None
    assert failed == []
    assert report.verdict == "pass"
