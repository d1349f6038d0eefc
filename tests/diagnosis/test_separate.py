"""Mistakes that give the same numbers are told apart by one more case, or both are named."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tritonkata.diagnosis.diagnose import diagnose
from tritonkata.diagnosis.models import differ, wrong_models
from tritonkata.diagnosis.separate import separated
from tritonkata.hidden.budget import TrafficLedger
from tritonkata.hidden.candidate import Call
from tritonkata.hidden.plugin import CheckMark, Outcome, Session
from tritonkata.model.course import TrafficBudget
from tritonkata.model.observation import Observation
from tritonkata.model.report import CheckResult

Array = NDArray[Any]

MISTAKES = '''
import numpy as np

def one_more(x):
    """One is added."""
    return np.asarray(x, np.float64) + 1

def half_more(x):
    """A half is added to one."""
    return np.asarray(x, np.float64) * 1.5

def twin(x):
    """Another name for the same."""
    return np.asarray(x, np.float64) * 1.5
'''


def module(source: str = MISTAKES) -> ModuleType:
    made = ModuleType("mistakes")
    exec(source, made.__dict__)
    return made


class Oracle:
    """Twice the input."""

    @staticmethod
    def f(x: Array) -> Array:
        return 2 * np.asarray(x, np.float64)


def run(function: Any, x: Array) -> Call:
    y = function(x.astype(np.float64)).astype(x.dtype)
    return Call("values", "f", (x,), (y,), Observation("interpreter", outputs=(y,)))


def half_more(x: Array) -> Array:
    return x * 1.5


def one_more(x: Array) -> Array:
    return x + 1


TWOS = np.full((3, 4), 2, np.float32)
"""Here one more and half more are the same."""


def diagnosed(submission: Any, mistakes: str = MISTAKES, x: Array = TWOS, rerun: Any = "real") -> CheckResult:
    call = run(submission, x)
    outcome = Outcome(CheckMark("values", "Values", 1), verdict="wrong_output", call=call)
    session = Session({"values": outcome}, [call], TrafficLedger(TrafficBudget("x", 2, 2)))
    again = (lambda name, arguments: run(submission, arguments[0])) if rerun == "real" else rerun
    check = CheckResult("values", "Values", "wrong_output", 0, 1, message="wrong")
    (found,) = diagnose((check,), session, "", module(mistakes), Oracle, again, 7)
    return found


WITHOUT_TWIN = MISTAKES.partition("def twin")[0]


@pytest.mark.parametrize(("submission", "name"), [(half_more, "half_more"), (one_more, "one_more")])
def test_one_more_case_tells_two_mistakes_apart(submission: Any, name: str) -> None:
    found = diagnosed(submission, WITHOUT_TWIN)
    assert (found.diagnosis, found.alternatives) == (name, ())


def test_mistakes_that_no_case_tells_apart_are_all_named() -> None:
    found = diagnosed(half_more)
    assert (found.diagnosis, found.alternatives) == ("half_more", ("twin",))


@pytest.mark.parametrize("rerun", [None, lambda name, arguments: None])
def test_without_another_run_the_first_is_named_and_the_others_told(rerun: Any) -> None:
    found = diagnosed(half_more, WITHOUT_TWIN, rerun=rerun)
    assert (found.diagnosis, found.alternatives) == ("one_more", ("half_more",))


def test_a_case_that_tells_them_apart_already_asks_for_no_other() -> None:
    def never(name: str, arguments: tuple[Array, ...]) -> Call:
        raise AssertionError("called again")

    x = np.arange(1, 13, dtype=np.float32).reshape(3, 4)
    assert diagnosed(half_more, WITHOUT_TWIN, x, never).diagnosis == "half_more"


@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_the_new_case_has_the_layouts_of_the_old_and_leaves_it_alone(dtype: str) -> None:
    storage = np.zeros((3, 10), dtype)
    x = storage[:, :4]
    x[...] = 2
    expanded = np.broadcast_to(np.float32([[1, 0, 0, 0]]), (3, 4))
    seen: list[tuple[Array, ...]] = []

    def watch(name: str, arguments: tuple[Array, ...]) -> Call | None:
        seen.append(arguments)
        return None

    source = WITHOUT_TWIN.replace("(x):", "(x, mask):")
    call = Call("values", "f", (x, expanded), (x + 1,), Observation("interpreter"))
    separated(wrong_models(module(source)), call, lambda one: (2 * one.arguments[0],), watch, 7)
    assert seen
    for new, mask in seen:
        assert (new.shape, new.strides, new.dtype) == (x.shape, x.strides, x.dtype)
        assert (mask.strides, mask.shape) == (expanded.strides, expanded.shape)
    assert (x == 2).all()


def test_infinities_stay_infinities() -> None:
    x = np.float32([[2, -np.inf, 2, 2]])
    call = Call("values", "f", (x,), (x + 1,), Observation("interpreter"))
    seen: list[Array] = []
    separated(
        wrong_models(module(WITHOUT_TWIN)), call, lambda one: (x,), lambda name, arguments: seen.append(arguments[0]), 7
    )
    assert seen
    assert all(np.isneginf(new).sum() == 1 for new in seen)


def test_models_differ_only_where_their_numbers_do() -> None:
    one, half, twin = wrong_models(module())
    call = run(half_more, TWOS)
    assert not differ([one, half], call)
    other = run(half_more, TWOS + 1)
    assert differ([one, half], other)
    assert not differ([half, twin], other)
