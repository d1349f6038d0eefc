"""What a worker says of the answers of a worksheet, and how much of that is believed and told."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from tritonkata.boundary.messages import Evaluated
from tritonkata.engine.answering import Answers
from tritonkata.engine.discreet import Discreet
from tritonkata.model.answers import Outcome
from tritonkata.model.faults import Fault

SOURCE = b"class Mine:\n    pass\n\n\ndef f(x):\n    return Mine()\n"


def evaluated(*values: Outcome, discreet: Discreet | None = None) -> Any:
    worker: Any = SimpleNamespace(request=lambda *_, **__: SimpleNamespace(message=Evaluated(values)))
    return Answers(worker, discreet).evaluate("f", tuple((number,) for number in range(len(values))))


def test_a_fault_stands_in_the_place_of_one_value() -> None:
    fault = Fault("runtime_error", "answer", "math domain error", "ValueError", 3)
    assert evaluated(1.0, fault) == (1.0, fault)


@pytest.mark.parametrize("verdict", ["skipped", "grader_error", "timeout"])
def test_a_worker_can_neither_skip_an_answer_nor_accuse_the_grader(verdict: Any) -> None:
    fault = evaluated(1.0, Fault(verdict, "kernel", "forged"))
    assert isinstance(fault, Fault)
    assert (fault.verdict, fault.phase) == ("runtime_error", "protocol")


def test_where_hidden_values_must_not_be_told_an_error_keeps_its_name_and_line_alone() -> None:
    fault = Fault("runtime_error", "answer", "the input is 0.12345", "ValueError", 3)
    (told,) = evaluated(fault, discreet=Discreet(SOURCE, ()))
    assert (told.message, told.error, told.line) == ("the call ends with ValueError", "ValueError", 3)


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("a set", "a set"),
        ("None", "None"),
        ("a list with a str in it", "a list with a str in it"),
        ("a numpy.ndarray", "a numpy.ndarray"),
        ("a Mine", "a Mine"),
        ("a value_0_12345", "something else"),
        ("a set 0.12345", "something else"),
    ],
)
def test_a_kind_is_told_if_the_submission_could_not_have_made_up_its_name(kind: str, words: str) -> None:
    (told,) = evaluated(Fault("invalid_output", "result", kind), discreet=Discreet(SOURCE, ()))
    assert told.message == words
