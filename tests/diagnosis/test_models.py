"""Diagnosis by wrong models."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tritonkata.diagnosis.models import accepted, wrong_models
from tritonkata.hidden.candidate import Call
from tritonkata.model.observation import Observation

MISTAKES = '''
import numpy as np

def zeros(x):
    """Nothing is computed."""
    return np.zeros(x.shape)

def halved(x):
    """The values are halved.

    More text.
    """
    return np.asarray(x, np.float64) / 2

def blockwise(x):
    """Only the first block is doubled."""
    for block in (2, 4):
        y = np.array(x, np.float64)
        y[:, :block] *= 2
        yield y

def needs_a_square(x):
    """Rows and columns are swapped."""
    return np.asarray(x, np.float64) + np.asarray(x, np.float64).T

def _helper(x):
    return x
'''


def module() -> ModuleType:
    made = ModuleType("mistakes")
    exec(MISTAKES, made.__dict__)
    return made


def call(x: NDArray[Any], y: NDArray[Any]) -> Call:
    return Call("c", "f", (x,), (y,), Observation("interpreter", outputs=(y,)))


def truth(one: Call) -> tuple[NDArray[Any], ...]:
    return (2 * np.asarray(one.arguments[0], np.float64),)


def names(wrong: list[Call], right: list[Call]) -> list[str]:
    return [match.model.diagnosis for match in accepted(wrong_models(module()), wrong, right, truth)]


X = np.arange(1, 19, dtype=np.float32).reshape(3, 6)


def test_models_are_the_public_functions_in_the_order_of_the_file() -> None:
    models = wrong_models(module())
    assert [model.diagnosis for model in models] == ["zeros", "halved", "blockwise", "needs_a_square"]
    assert models[1].sentence == "The values are halved."


def test_the_model_that_gives_the_output_is_named() -> None:
    assert names([call(X, X / 2)], []) == ["halved"]


def test_a_free_parameter_is_tried_in_all_its_values() -> None:
    wrong = X.copy()
    wrong[:, :4] *= 2
    assert names([call(X, wrong)], []) == ["blockwise"]


def test_an_output_that_no_model_gives_has_no_name() -> None:
    assert names([call(X, X * 7)], []) == []


def test_a_model_that_equals_the_truth_on_a_case_does_not_explain_it() -> None:
    zero = np.zeros_like(X)
    assert names([call(zero, zero)], []) == []


def test_half_precision_is_compared_after_rounding() -> None:
    x = X.astype(np.float16)
    assert names([call(x, (x.astype(np.float64) / 2).astype(np.float16))], []) == ["halved"]


def test_the_model_that_explains_more_comes_first() -> None:
    tie = np.zeros((3, 6), np.float32)
    tie[0, 0] = 1.0
    halves = tie / 2
    one, two = call(tie, halves), call(X, X / 2)
    assert names([one, two], [])[0] == "halved"


def test_nan_must_stand_in_the_same_places() -> None:
    x = X.copy()
    x[1, 1] = np.nan
    y = x / 2
    assert names([call(x, y)], []) == ["halved"]
    y[1, 1] = 0
    assert names([call(x, y)], []) == []


def test_a_model_that_fits_one_output_by_chance_is_outvoted() -> None:
    chance = np.zeros((3, 6), np.float32)
    chance[0, 0] = 2.0
    calls = [call(chance, chance / 2), call(X, X * 7), call(X + 1, (X + 1) * 7)]
    assert names(calls, []) == []


def test_a_model_that_right_outputs_speak_against_is_not_named() -> None:
    right = [call(X + n, 2 * (X + n)) for n in range(3)]
    assert names([call(X, X / 2)], right) == []


def test_two_mistakes_are_both_named_when_each_explains_its_part() -> None:
    halved = [call(X + n, (X + n) / 2) for n in range(3)]
    nothing = [call(X, np.zeros_like(X))]
    assert names(halved + nothing, []) == ["halved", "zeros"]
    assert names([halved[0], call(X + 9, np.zeros_like(X))], []) == ["zeros", "halved"]
