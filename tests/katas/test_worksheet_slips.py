"""The worksheet of online_math: answers that are right enough, and slips that have a name."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tritonkata.courses import load_course
from tritonkata.hidden.asserts import CheckFailed
from tritonkata.hidden.loading import load_module

KATA = load_course().kata("online_math")
ORACLE: Any = load_module(KATA.oracle, "oracle_of_slips")
EULER = 0.57721


@pytest.fixture(autouse=True)
def check_marker(request: pytest.FixtureRequest) -> None:
    """The hidden tests have a marker that a grading registers."""
    request.config.addinivalue_line("markers", "check: a check of a kata")


class Sheet:
    """A candidate with some answers."""

    def __init__(self, **answers: Any) -> None:
        self.answers = answers

    def value(self, name: str) -> Any:
        return self.answers[name]

    def values(self, name: str, calls: list[Any]) -> list[Any]:
        return [self.answers[name](*call) for call in calls]


def mistake(question: str, **answers: Any) -> str:
    """What is wrong with the first wrong answer of a question; empty where none is wrong."""
    part = {"overflow": "numbers", "new_maxima": "online"}.get(question.removesuffix("_fp32").removesuffix("_fp16"))
    path: Path = KATA.hidden / f"test_worksheet_{part or 'traffic'}.py"
    test = getattr(load_module(path, f"slips_{question}"), f"test_{question}")
    try:
        test(Sheet(**answers), ORACLE, *([np.random.default_rng(7)] if part == "online" else []))
    except CheckFailed as failed:
        answer = failed.evidence.answer
        return "no answer" if answer is None else answer.mistake
    return ""


@pytest.mark.parametrize("unit", [2**10, 2**20, 2**30, 10**3, 10**6, 10**9])
def test_sizes_in_a_larger_unit(unit: int) -> None:
    row, whole = 16384, 134217728
    assert mistake("sizes", ROW_BYTES=row / unit) == "larger_unit_for_bytes"
    assert mistake("sizes", ROW_BYTES=row, TENSOR_BYTES=whole / unit) == "larger_unit_for_bytes"
    moved = tuple(float(f"{passes * whole / unit:.3g}") for passes in (3, 4, 3, 2))
    assert mistake("traversals", TRAVERSALS=(3, 4, 3, 2), BYTES_MOVED=moved) == "larger_unit_for_bytes"


@pytest.mark.parametrize("factor", [1e-3, 1e-6, 1e3])
@pytest.mark.parametrize("digits", [3, 9])
def test_times_in_another_unit(factor: float, digits: int) -> None:
    times = tuple(float(f"{passes * 134217728 / 2e6 * factor:.{digits}g}") for passes in (3, 4, 3, 2))
    assert mistake("times", MICROSECONDS=times) == "other_unit_of_time"


@pytest.mark.parametrize(
    ("name", "answer", "is_right"),
    [
        *(("OVERFLOW_FP32", answer, True) for answer in (88.72, 88.7228, 88.723, 88.72283905206835)),
        *(("OVERFLOW_FP32", answer, False) for answer in (88.8, 88.73, 88.7, 88)),
        *(("OVERFLOW_FP16", answer, True) for answer in (11.09, 11.08, 11.0899, 11.089866488461016)),
        *(("OVERFLOW_FP16", answer, False) for answer in (11.1, 11.07, 11)),
    ],
)
def test_four_digits_of_a_threshold_are_enough_and_fewer_are_not(name: str, answer: float, is_right: bool) -> None:
    assert (mistake(name.lower(), **{name: answer}) == "") is is_right


@pytest.mark.parametrize(
    ("formula", "name"),
    [
        (lambda n: math.log(n) + 0.5772, "approximation_for_the_sum"),
        (lambda n: math.log(n) + EULER, "approximation_for_the_sum"),
        (lambda n: math.log(n) + EULER + 1 / (2 * n), "approximation_for_the_sum"),
        (lambda n: sum(1 / k for k in range(1, n)), "last_score_left_out"),
        (math.log, "logarithm_for_the_sum"),
    ],
)
def test_new_maxima_of_another_formula(formula: Any, name: str) -> None:
    assert mistake("new_maxima", expected_new_maxima=formula) == name
