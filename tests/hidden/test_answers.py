"""Answers of a worksheet against the truth."""

from __future__ import annotations

import math
from typing import Any

import pytest

from tritonkata.hidden.answers import assert_answer, assert_calls, assert_function, attempted
from tritonkata.hidden.asserts import CheckFailed
from tritonkata.hidden.comparing import is_rounded, kind, same
from tritonkata.model.faults import Fault


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
    fault = raised.value.evidence.fault
    assert raised.value.verdict == ("wrong_output" if fault is None else fault.verdict)
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


RAISED = Fault("runtime_error", "answer", "math domain error", "ValueError", 12)
A_SET = Fault("invalid_output", "result", "a set")


@pytest.mark.parametrize(
    ("got", "right", "rounded"),
    [
        (1.3, 4 / 3, True),
        (1.33, 4 / 3, True),
        (1.4, 4 / 3, False),
        (1, 4 / 3, False),
        (1.6, 5 / 3, True),
        (1.7, 5 / 3, True),
        (89, 88.7228, True),
        (88, 88.7228, True),
        (90, 88.7228, False),
        (-9.7, -9.704, True),
        (1.678e7, 2**24, True),
        (16777215, 2**24, False),
        ((1.3, 2), (4 / 3, 2), True),
        ((1.3, 3), (4 / 3, 2), False),
        ((1.3,), (4 / 3, 2), False),
        (0.0, 1e-9, False),
        (math.nan, 1.0, False),
        (True, 1.5, False),
        (None, 1.5, False),
        ("1.3", 4 / 3, False),
    ],
)
def test_what_was_rounded_too_far(got: Any, right: Any, rounded: bool) -> None:
    assert is_rounded(got, right, 1e-3) is rounded


def test_a_rounded_answer_is_told_which_tolerance_counts() -> None:
    answer = failure("SPEEDUPS", (1.3, 2), (4 / 3, 2), known={"slip": (1.3, 2)}).evidence.answer
    assert (answer.mistake, answer.within, answer.right) == ("answer_rounded", 1e-3, "")


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (True, "True or False"),
        (2, "a number"),
        ("a", "a text"),
        ((1, 2), "a tuple of 2 numbers"),
        ((1,), "a tuple of one number"),
        ((1, None), "a tuple with 1 of 2 numbers"),
    ],
)
def test_the_kinds_of_answers(value: Any, words: str) -> None:
    assert kind(value) == words


@pytest.mark.parametrize(
    ("got", "told"),
    [(A_SET, "a set"), ("80", "a text"), ((80.0,), "a tuple of one number"), (True, "True")],
)
def test_an_answer_of_another_kind_says_what_was_given_and_what_is_asked_for(got: Any, told: str) -> None:
    answer = failure("OVERFLOW_FP32", got, 88.7228).evidence.answer
    assert (answer.mistake, answer.got, answer.wanted) == ("answer_of_another_kind", told, "a number")


def test_a_name_that_is_no_function_is_told_so_and_not_called() -> None:
    error = failure("f", [(1,)], [Fault("invalid_output", "answer", "an int")], [4])
    answer = error.evidence.answer
    assert (answer.got, answer.wanted, answer.arguments) == ("an int", "a function", "")


def test_a_call_that_raises_is_shown_with_what_is_right_and_its_fault() -> None:
    error = failure("f", [(1,), (2,)], [1.0, RAISED], [1.0, 4.0])
    answer = error.evidence.answer
    assert (answer.mistake, answer.arguments, answer.got, answer.right) == ("answer_raises", "f(2)", "", "4")
    assert error.evidence.fault == RAISED


def test_a_slip_explains_an_error_where_it_has_no_finite_value_and_fits_every_other_call() -> None:
    calls, right = [(1.0,), (2.0,), (3.0,)], [1.0, 4.0, 9.0]
    known = {"other": [2.0, -math.inf, 9.0], "slip": [1.0, -math.inf, 9.0]}
    assert failure("f", calls, [1.0, RAISED, 9.0], right, known=known).evidence.answer.mistake == "slip"
    assert failure("f", calls, [1.0, RAISED, 8.0], right, known=known).evidence.answer.mistake == "answer_f"


def test_a_slip_of_the_pen_is_no_known_slip() -> None:
    fault = Fault("runtime_error", "answer", "name 'mth' is not defined", "NameError", 12)
    error = failure("f", [(0.0,)], [fault], [0.0], known={"slip": [-math.inf]})
    assert error.evidence.answer.mistake == "answer_raises"


def test_a_known_slip_that_raises_has_no_value_there() -> None:
    assert attempted(math.log, [(1.0,)]) == [0.0]
    assert math.isnan(attempted(math.log, [(0.0,)])[0])


def test_values_that_differ_are_shown_with_digits_that_tell_them_apart() -> None:
    answer = failure("f", [(1,)], [1.00001234], [1.0]).evidence.answer
    assert answer.got != answer.right


def test_a_slip_may_give_several_values() -> None:
    known: Any = {"other_unit": [4.0, 4e-3, (1.0, 2.0)]}
    assert failure("N", 4e-3, 4e3, known=known).evidence.answer.mistake == "other_unit"
    assert failure("N", (1, 2), (2.0, 4.0), known=known).evidence.answer.mistake == "other_unit"
    assert failure("N", 5.0, 4e3, known=known).evidence.answer.mistake == "answer_n"


@pytest.mark.parametrize(
    ("got", "mistake"), [(0.38, "other_unit"), (0.375, "other_unit"), (0.4, "answer_n"), (0.39, "answer_n")]
)
def test_a_slip_is_known_by_its_rounded_value_too(got: float, mistake: str) -> None:
    assert failure("N", got, 402653184, known={"other_unit": 0.375}).evidence.answer.mistake == mistake


def test_a_slip_that_fits_goes_before_one_that_fits_when_it_is_rounded() -> None:
    known = {"near": 0.376, "exact": 0.38}
    assert failure("N", 0.38, 4.0, known=known).evidence.answer.mistake == "exact"


class Sheet:
    """A candidate whose function is given."""

    def __init__(self, function: Any) -> None:
        self.function = function

    def values(self, _name: str, calls: list[Any]) -> list[Any]:
        return [self.function(*call) for call in calls]


def test_a_slip_of_a_function_may_be_written_in_several_ways() -> None:
    ways: Any = [lambda n: n + 0.5772, lambda n: n + 0.57721]
    for way in ways:
        with pytest.raises(CheckFailed) as raised:
            assert_calls(Sheet(way), "f", [(1,), (2,)], lambda n: n * 1.0, nearly=ways)  # type: ignore[arg-type]
        assert raised.value.evidence.answer is not None
        assert raised.value.evidence.answer.mistake == "nearly"


def arithmetic(error: str = "ZeroDivisionError") -> Fault:
    return Fault("runtime_error", "answer", "division by zero", error=error)


@pytest.mark.parametrize(
    ("got", "mistake", "shown"),
    [
        ([arithmetic(), 1.0, 0.5], "answer_f", "f(1)"),
        ([arithmetic(), arithmetic(), 0.5], "answer_f", "f(2)"),
        # Right, or rounded, wherever there is a value.
        ([arithmetic(), 2.0, 4.0], "answer_raises", "f(0)"),
        ([arithmetic(), 2.0, 3.9], "answer_f", "f(2)"),
        # A slip of the pen hides no formula.
        ([arithmetic("NameError"), 1.0, 0.5], "answer_raises", "f(0)"),
    ],
)
def test_a_formula_that_is_wrong_everywhere_is_not_told_as_an_edge(got: list[Any], mistake: str, shown: str) -> None:
    answer = failure("f", [(0,), (1,), (2,)], got, [1.0, 2.0, 4.0]).evidence.answer
    assert (answer.mistake, answer.arguments) == (mistake, shown)
