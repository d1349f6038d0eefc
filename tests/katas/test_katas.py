"""Every kata of the course keeps its promises, on the interpreter.

The skeleton fails, the solution passes at par, and each example in
`wrong/<diagnosis>/` is given that diagnosis.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tritonkata.check import grade
from tritonkata.courses import load_course
from tritonkata.feedback.render import explain
from tritonkata.model.course import Kata
from tritonkata.model.report import Report, main_diagnosis

COURSE = load_course()
WRONG = [(kata, path) for kata in COURSE.katas for path in sorted((kata.folder / "wrong").glob("*/*.py"))]


def graded(kata: Kata, path: Path) -> Report:
    report = grade(kata, path, engine="interpreter", seed=20)
    assert report.verdict != "grader_error", report.fault or [c for c in report.checks if c.verdict == "grader_error"]
    return report


@pytest.mark.parametrize("kata", COURSE.katas, ids=COURSE.slugs)
def test_the_solution_passes_at_par(kata: Kata) -> None:
    report = graded(kata, kata.solution)
    assert [check for check in report.checks if check.verdict != "pass"] == []
    assert report.medal == "gold"
    assert report.traffic is not None
    assert report.traffic.traversals.requested == kata.file.traffic.par


@pytest.mark.parametrize("kata", COURSE.katas, ids=COURSE.slugs)
def test_the_skeleton_runs_and_fails_with_an_explanation(kata: Kata) -> None:
    report = graded(kata, kata.skeleton)
    assert report.verdict == "fail"
    assert report.checks[0].verdict == "pass", "the skeleton must compile"
    assert explain(report, kata, kata.skeleton.read_text())


@pytest.mark.parametrize("kata", COURSE.katas, ids=COURSE.slugs)
def test_the_todos_of_the_skeleton_are_in_the_brief(kata: Kata) -> None:
    numbers = {f"TODO {n}" for n in range(1, 20) if f"TODO {n}" in kata.skeleton.read_text()}
    assert numbers
    assert {number for number in numbers if number not in kata.brief.read_text()} == set()


@pytest.mark.parametrize(
    ("kata", "path"), WRONG, ids=[f"{kata.slug}-{path.parent.name}-{path.stem}" for kata, path in WRONG]
)
def test_a_wrong_example_gets_the_diagnosis_of_its_folder(kata: Kata, path: Path) -> None:
    report = graded(kata, path)
    assert report.verdict == "fail"
    assert main_diagnosis(report) == path.parent.name, [(c.name, c.verdict, c.diagnosis) for c in report.checks]
    headlines = [explanation.diagnosis for explanation in explain(report, kata, path.read_text())]
    assert path.parent.name in headlines
