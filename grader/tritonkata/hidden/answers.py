"""Assertions about the answers of a worksheet."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NoReturn

from tritonkata.hidden.asserts import CheckFailed
from tritonkata.model.answers import Answer, Value
from tritonkata.model.report import Evidence

UNANSWERED = "unanswered"
_DIGITS = 6


def assert_answer(
    name: str, got: Value, right: Value, *, rel: float = 1e-3, known: Mapping[str, Value] | None = None
) -> None:
    """A constant has its value, within `rel` of it.

    Args:
        name: of the constant; without a better one, the mistake is `answer_<name>`, in lower case.
        got: the submission's value.
        right: the truth: a number, a text (compared without case and blanks), a bool, or a tuple of numbers.
        rel: relative tolerance of numbers.
        known: values that a known slip gives, by the slip's id.

    Raises:
        CheckFailed: `wrong_output`, without the right value in it: it is what the learner is to work out.
    """
    if got is None:
        _fail(f"{name} is not answered yet", Answer(name, "nothing", UNANSWERED))
    if not same(got, right, rel):
        slip = next((slip for slip, value in (known or {}).items() if same(got, value, rel)), f"answer_{name.lower()}")
        _fail(f"{name} is not {shown(got)}", Answer(name, shown(got), slip))


def assert_function(
    name: str,
    calls: Sequence[tuple[Value, ...]],
    got: Sequence[Value],
    right: Sequence[Value],
    *,
    rel: float = 1e-6,
    known: Mapping[str, Sequence[Value]] | None = None,
) -> None:
    """A function gives the right values for all calls, within `rel` of them.

    Args:
        name: of the function.
        calls: the arguments of each call.
        got: the submission's values.
        right: the truth for each call.
        rel: relative tolerance.
        known: what a known slip gives for the calls, by the slip's id; it is named if all wrong values are its.

    Raises:
        CheckFailed: `wrong_output`, with the first call that is wrong.
    """
    if all(value is None for value in got):
        _fail(f"{name} is not answered yet", Answer(name, "nothing", UNANSWERED))
    wrong = [index for index, value in enumerate(got) if not same(value, right[index], rel)]
    if not wrong:
        return
    slips = (known or {}).items()
    slip = next(
        (slip for slip, values in slips if all(same(got[index], values[index], rel) for index in wrong)),
        f"answer_{name.lower()}",
    )
    first = wrong[0]
    arguments = ", ".join(shown(value) for value in calls[first])
    told = f"{name}({arguments}) is {shown(got[first])}, it must be {shown(right[first])}"
    _fail(told, Answer(name, shown(got[first]), slip, f"{name}({arguments})", shown(right[first])))


def same(got: Value, right: Value, rel: float) -> bool:
    """Whether two values are one: NaN is NaN, infinity is infinity, numbers agree within `rel`."""
    if isinstance(right, tuple):
        return (
            isinstance(got, tuple)
            and len(got) == len(right)
            and all(same(one, other, rel) for one, other in zip(got, right, strict=True))
        )
    if isinstance(right, str):
        return isinstance(got, str) and "".join(got.lower().split()) == "".join(right.lower().split())
    if right is None or got is None or isinstance(got, tuple | str) or isinstance(right, bool) != isinstance(got, bool):
        return got is None and right is None
    if math.isnan(right) or math.isnan(got):
        return math.isnan(right) and math.isnan(got)
    return math.isclose(got, right, rel_tol=rel, abs_tol=1e-300)


def shown(value: Value) -> str:
    """A value as a learner would write it."""
    if isinstance(value, tuple):
        return f"({', '.join(shown(one) for one in value)})"
    if isinstance(value, float):
        return f"{value:.{_DIGITS}g}"
    return repr(value) if isinstance(value, str) else str(value)


def _fail(message: str, answer: Answer) -> NoReturn:
    raise CheckFailed("wrong_output", message, Evidence(answer=answer))
