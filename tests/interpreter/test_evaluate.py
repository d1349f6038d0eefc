"""Constants and plain functions of a submission, evaluated in the sandboxed worker."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import pytest

from tritonkata.boundary.messages import DeviceFigures, Evaluate, Evaluated, InterpreterReply, Load, Loaded, Ready
from tritonkata.boundary.process import start_untrusted
from tritonkata.boundary.sandbox import SandboxUnavailable, find_bubblewrap
from tritonkata.model.faults import Fault

SOURCE = b"""
import math
from fractions import Fraction
import numpy as np
import torch

THRESHOLD = 88.7
COUNT = 3
NAMES = "memory"
YES = True
PAIR = [1, 2.5]
HALF = Fraction(1, 2)
SCALAR = np.float32(0.25)
TENSOR = torch.tensor(4.0)
HUGE = 10 ** 400
NOTHING = None
ELLIPSIS = ...
TEXTS = ["1", 2]
TRUTH = np.bool_(True)
TABLE = {"a": 1}


def double(x):
    return 2 * x


def merge(m, s):
    return m, s * math.exp(m)


def todo(x):
    raise NotImplementedError


def crash(x):
    return 1 / 0


def inverse(x):
    return 1 / x


def silent(x):
    x + 1


class Odd(int):
    def __int__(self):
        return 10 ** 400

    __abs__ = __neg__ = __int__

    def __le__(self, other):
        return True


class Letters(str):
    def __getitem__(self, place):
        return 3


class Silent(Exception):
    def __str__(self):
        raise SystemExit(0)


ODD = Odd(7)
ODD_PAIR = [Odd(7), 1]
LETTERS = Letters("memory")


def speechless(x):
    raise Silent


def ends(x):
    raise SystemExit(0)


def hangs(x):
    while True:
        pass
"""


@pytest.fixture(scope="module")
def ask() -> Any:
    try:
        bubblewrap: str | None = find_bubblewrap()
    except SandboxUnavailable:
        bubblewrap = None
    process = start_untrusted("tritonkata.worker.interpreter", bubblewrap=bubblewrap, hidden=())
    channel = process.channel
    assert isinstance(channel.receive(InterpreterReply, seconds=120).message, Ready)
    channel.send(Load("sheet.py", SOURCE, (), "sm_90", DeviceFigures(), 60.0))
    assert isinstance(channel.receive(InterpreterReply, seconds=120).message, Loaded)

    def evaluate(name: str, *calls: tuple[Any, ...], seconds: float = 30.0) -> Sequence[Any] | Fault:
        channel.send(Evaluate(name, calls, seconds))
        reply = channel.receive(InterpreterReply, seconds=120).message
        return reply.values if isinstance(reply, Evaluated) else reply.fault

    yield evaluate
    process.end()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("THRESHOLD", 88.7),
        ("COUNT", 3),
        ("NAMES", "memory"),
        ("YES", True),
        ("TRUTH", True),
        ("PAIR", (1, 2.5)),
        ("HALF", 0.5),
        ("SCALAR", 0.25),
        ("TENSOR", 4.0),
        ("HUGE", math.inf),
        ("NOTHING", None),
        ("ELLIPSIS", None),
        ("ODD", 7),
        ("ODD_PAIR", (7, 1)),
        ("LETTERS", "memory"),
    ],
)
def test_constants_of_every_kind_arrive_as_plain_values(ask: Any, name: str, value: Any) -> None:
    assert ask(name) == (value,)


def test_a_function_is_called_for_each_set_of_arguments(ask: Any) -> None:
    assert ask("double", (1.5,), (-2,)) == (3.0, -4)
    assert ask("merge", (0.0, 2.0)) == ((0.0, 2.0),)


def test_a_function_still_to_be_written_gives_nothing(ask: Any) -> None:
    assert ask("todo", (1,), (2,)) == (None, None)


@pytest.mark.parametrize(
    ("name", "calls", "verdict", "told"),
    [
        ("MISSING", (), "runtime_error", "MISSING"),
        ("double", (), "invalid_output", "a function"),
        ("COUNT", ((1,),), "invalid_output", "an int"),
        ("TEXTS", (), "invalid_output", "a list with a str in it"),
        ("TABLE", (), "invalid_output", "a dict"),
        ("silent", ((1,),), "invalid_output", "None"),
        ("crash", ((1,),), "runtime_error", "division"),
        ("ends", ((1,),), "runtime_error", ""),
        ("speechless", ((1,),), "runtime_error", "Silent"),
    ],
)
def test_what_is_no_answer_is_a_fault_that_names_it(ask: Any, name: str, calls: Any, verdict: str, told: str) -> None:
    (fault,) = ask(name, *calls)
    assert isinstance(fault, Fault)
    assert fault.verdict == verdict
    assert told in f"{fault.message} {fault.error}"
    assert ask("double", (1,)) == (2,)


def test_the_line_of_a_crash_is_the_learners(ask: Any) -> None:
    (fault,) = ask("crash", (1,))
    assert fault.line == SOURCE.decode().splitlines().index("    return 1 / 0") + 1


def test_a_call_that_raises_does_not_cost_the_others(ask: Any) -> None:
    first, fault, last = ask("inverse", (2.0,), (0.0,), (4.0,))
    assert (first, fault.error, fault.phase, last) == (0.5, "ZeroDivisionError", "answer", 0.25)


def test_what_a_formula_is_told_holds_no_advice_on_kernels(ask: Any) -> None:
    (fault,) = ask("crash", (1,))
    assert fault.advice == ""


def test_an_endless_function_ends_in_time_and_the_next_question_is_answered(ask: Any) -> None:
    fault = ask("hangs", (1,), seconds=1.0)
    assert (fault.verdict, fault.phase) == ("timeout", "answer")
    assert "worksheet" in fault.message
    assert SOURCE.decode().splitlines()[fault.line - 1].strip() in ("while True:", "pass")
    assert ask("COUNT") == (3,)
