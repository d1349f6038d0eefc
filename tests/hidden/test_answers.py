"""Answers of a worksheet against the truth."""

from __future__ import annotations

import math
from typing import Any

import pytest

from tritonkata.hidden.answers import assert_answer, assert_function, same
from tritonkata.hidden.asserts import CheckFailed


@pytest.mark.parametrize(
    ("got", "right", "equal"),
    [
        (88.72, 88.7228, True),
        (88.0, 88.7228, False),
        (3, 3.0, True),
        (True, 1, False),
        (True, True, True),
        (1, True, False),
        ("Memory ", "memory", True),
        ("memory", 3.0, False),
        (3.0, "memory", False),
        ((1, 2), (1.0, 2.0), True),
        ((1, 2), (1.0, 2.0, 3.0), False),
        ((1, None), (1.0, 2.0), False),
        (math.inf, math.inf, True),
        (-math.inf, math.inf, False),
        (math.nan, math.nan, True),
        (math.nan, 0.0, False),
        (0.0, math.nan, False),
        (1e-20, 0.0, False),
        ((1.0,), 1.0, False),
        (None, 0.0, False),
    ],
)
def test_what_is_the_same(got: Any, right: Any, equal: bool) -> None:
    assert same(got, right, 1e-3) is equal


def failure(*arguments: Any, **settings: Any) -> Any:
    with pytest.raises(CheckFailed) as raised:
        (assert_function if isinstance(arguments[1], list) else assert_answer)(*arguments, **settings)
    assert raised.value.verdict == "wrong_output"
    return raised.value


def test_a_wrong_constant_names_its_question_and_keeps_the_right_value_secret() -> None:
    error = failure("OVERFLOW_FP32", 80.0, 88.7228)
    answer = error.evidence.answer
    assert (answer.name, answer.got, answer.mistake, answer.right) == (
        "OVERFLOW_FP32",
        "80",
        "answer_overflow_fp32",
        "",
    )
    assert "88.7" not in error.message


def test_a_known_slip_has_its_own_name() -> None:
    error = failure("OVERFLOW_FP32", 11.0899, 88.7228, known={"threshold_of_float16": 11.09})
    assert error.evidence.answer.mistake == "threshold_of_float16"


def test_a_right_answer_passes_before_any_slip_is_looked_at() -> None:
    assert_answer("N", 4, 4, known={"slip": 4})


@pytest.mark.parametrize("arguments", [("N", None, 4), ("f", [(1,)], [None], [4])])
def test_no_answer_is_no_mistake(arguments: Any) -> None:
    assert failure(*arguments).evidence.answer.mistake == "unanswered"


def test_a_wrong_function_shows_the_first_call_that_is_wrong() -> None:
    calls = [(1.0, 2), (3.0, 4)]
    error = failure("update", calls, [1.0, 5.0], [1.0, 7.0])
    answer = error.evidence.answer
    assert (answer.arguments, answer.got, answer.right, answer.mistake) == ("update(3, 4)", "5", "7", "answer_update")


def test_a_slip_explains_a_function_only_if_it_explains_every_wrong_value() -> None:
    calls = [(1.0,), (2.0,), (3.0,)]
    right, slip = [1.0, 2.0, 3.0], [1.0, 4.0, 9.0]
    assert failure("f", calls, [1.0, 4.0, 9.0], right, known={"squared": slip}).evidence.answer.mistake == "squared"
    assert failure("f", calls, [1.0, 4.0, 8.0], right, known={"squared": slip}).evidence.answer.mistake == "answer_f"
    assert_function("f", calls, right, right, known={"squared": slip})
