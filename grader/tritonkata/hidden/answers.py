"""Assertions about the answers of a worksheet."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NoReturn, TypeVar

from tritonkata.hidden.asserts import CheckFailed
from tritonkata.hidden.candidate import Candidate
from tritonkata.hidden.comparing import breaks, is_rounded, kind, pair, same, shown
from tritonkata.model.answers import OTHER_KIND, RAISES, ROUNDED, UNANSWERED, Answer, Outcome, Value
from tritonkata.model.faults import Fault
from tritonkata.model.report import Evidence

One = TypeVar("One")

FUNCTION_REL = 1e-6
Slips = Sequence[tuple[str, Sequence[Value]]]
"""Ids of known slips, each with what it gives for the calls; an id may stand there several times."""

# A formula outside its domain; a slip of the pen, such as a name that is not defined, speaks for no mistake.
_ARITHMETIC = frozenset({"ValueError", "ArithmeticError", "ZeroDivisionError", "OverflowError"})


def assert_answer(
    name: str, got: Outcome, right: Value, *, rel: float = 1e-3, known: Mapping[str, Value | list[Value]] | None = None
) -> None:
    """A constant has its value, within `rel` of it.

    Args:
        name: of the constant; without a better one, the mistake is `answer_<name>`, in lower case.
        got: the submission's value.
        right: the truth: a number, a text (compared without case and blanks), a bool, or a tuple of numbers.
        rel: relative tolerance of numbers.
        known: the value that a known slip gives, or a list of those that it may give, by the slip's id.

    Raises:
        CheckFailed: without the right value in it: it is what the learner is to work out.
    """
    slips = [(slip, (value,)) for slip, values in (known or {}).items() for value in _each(values)]
    wrong = None if _is_right(got, right, rel) else _Wrong((got,), (right,), rel)
    if got is None:
        _fail(f"{name} is not answered yet", Answer(name, "nothing", UNANSWERED))
    if wrong is not None:
        mistake = wrong.mistake(name, slips)
        _fail(f"{name} is not {wrong.got(mistake)}", wrong.answer(name, mistake), wrong.fault)


def assert_function(
    name: str,
    calls: Sequence[tuple[Value, ...]],
    got: Sequence[Outcome],
    right: Sequence[Value],
    *,
    rel: float = FUNCTION_REL,
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
            Where a call of the submission raised, the slip explains that if its own value is not finite there,
            and if it gives what the submission gives for every other call.

    Raises:
        CheckFailed: with the first call that is wrong.
    """
    _assert_calls_right(name, calls, got, right, rel, tuple((known or {}).items()))


def _assert_calls_right(
    name: str,
    calls: Sequence[tuple[Value, ...]],
    got: Sequence[Outcome],
    right: Sequence[Value],
    rel: float,
    known: Slips,
) -> None:
    if all(value is None for value in got):
        _fail(f"{name} is not answered yet", Answer(name, "nothing", UNANSWERED))
    at = [index for index, value in enumerate(got) if not _is_right(value, right[index], rel)]
    if not at:
        return
    wrong = _Wrong(tuple(got[index] for index in at), tuple(right[index] for index in at), rel)
    raised = any(isinstance(got[index], Fault) for index in at)
    slips = [
        (slip, tuple(values[index] for index in at))
        for slip, values in known
        if not raised or all(_is_right(got[index], values[index], rel) for index in range(len(got)) if index not in at)
    ]
    mistake, first = wrong.mistake(name, slips), at[0]
    valued = [index for index in at if not isinstance(got[index], Fault)]
    if mistake == RAISES and _is_arithmetic(got[first]) and valued:
        # Wrong where it gives a value too, so that what raises is no edge of a right formula.
        plain = _Wrong(tuple(got[index] for index in valued), tuple(right[index] for index in valued), rel)
        if plain.mistake(name, ()) != ROUNDED:
            wrong, mistake, first = plain, plain.mistake(name, ()), valued[0]
    call = f"{name}({', '.join(shown(value) for value in calls[first])})"
    told = f"{call} is {wrong.got(mistake) or 'no value'}, it must be {wrong.wanted}"
    _fail(told, wrong.answer(name, mistake, call), wrong.fault)


def assert_calls(
    candidate: Candidate,
    name: str,
    calls: Sequence[tuple[Value, ...]],
    right: Callable[..., Value],
    **known: Callable[..., Value] | list[Callable[..., Value]],
) -> None:
    """As `assert_function`, of the candidate's function, with the truth and the known slips given as functions.

    A slip that learners write in several ways is a list of functions.

    Raises:
        CheckFailed: with the first call that is wrong.
    """
    slips = [(slip, attempted(one, calls)) for slip, functions in known.items() for one in _each(functions)]
    got = candidate.values(name, calls)
    _assert_calls_right(name, calls, got, [right(*call) for call in calls], FUNCTION_REL, slips)


def attempted(function: Callable[..., Value], calls: Sequence[tuple[Value, ...]]) -> list[Value]:
    """What a known slip gives for each call; NaN where its formula raises, as a submission's would."""

    def one(call: tuple[Value, ...]) -> Value:
        try:
            return function(*call)
        except (ArithmeticError, ValueError):
            return float("nan")

    return [one(call) for call in calls]


@dataclass(frozen=True)
class _Wrong:
    """What was given in place of what is right, for each call that is wrong."""

    outcomes: tuple[Outcome, ...]
    right: tuple[Value, ...]
    rel: float

    @property
    def wanted(self) -> str:
        """What the first call must give, as it is told."""
        first, right = self.outcomes[0], self.right[0]
        return shown(right) if isinstance(first, Fault) else pair(first, right)[1]

    @property
    def fault(self) -> Fault | None:
        """Why the first call has no value; not where it has one of another kind."""
        first = self.outcomes[0]
        return first if isinstance(first, Fault) and first.verdict != "invalid_output" else None

    def mistake(self, name: str, slips: Slips) -> str:
        """The id of what went wrong."""
        # First, since of a slip that differs by less than the rounding nothing can be said.
        if all(is_rounded(got, right, self.rel) for got, right in zip(self.outcomes, self.right, strict=True)):
            return ROUNDED
        for agrees in (same, _is_near):
            slip = next((slip for slip, values in slips if self._is_explained_by(values, agrees)), None)
            if slip is not None:
                return slip
        if self.fault is not None:
            return RAISES
        return OTHER_KIND if _kind(self.outcomes[0]) != kind(self.right[0]) else f"answer_{name.lower()}"

    def got(self, mistake: str) -> str:
        """The first wrong value as it is told; empty where there is none."""
        first = self.outcomes[0]
        if isinstance(first, Fault):
            return "" if self.fault is not None else first.message
        if mistake != OTHER_KIND or isinstance(first, bool):
            return pair(first, self.right[0])[0]
        return f"{shown(first)}, {kind(first)}" if isinstance(first, int | float) else kind(first)

    def answer(self, name: str, mistake: str, call: str = "") -> Answer:
        """The first wrong answer, for the report."""
        first, right = self.outcomes[0], self.right[0]
        got = self.got(mistake)
        if mistake == OTHER_KIND:
            is_no_function = bool(call) and isinstance(first, Fault) and first.phase == "answer"
            wanted = "a function" if is_no_function else kind(right)
            return Answer(name, got, mistake, "" if is_no_function else call, wanted=wanted)
        within = self.rel if mistake == ROUNDED else None
        return Answer(name, got, mistake, call, self.wanted if call else "", within=within)

    def _is_explained_by(self, values: Sequence[Value], agrees: Callable[[Value, Value, float], bool]) -> bool:
        return all(
            breaks(value, right) if _is_arithmetic(got) else not isinstance(got, Fault) and agrees(got, value, self.rel)
            for got, value, right in zip(self.outcomes, values, self.right, strict=True)
        )


def _is_near(got: Value, slip: Value, rel: float) -> bool:
    """Whether a value is what a slip gives, as it is or rounded."""
    return same(got, slip, rel) or is_rounded(got, slip, rel)


def _each(values: One | list[One]) -> list[One]:
    return values if isinstance(values, list) else [values]


def _is_right(got: Outcome, right: Value, rel: float) -> bool:
    return not isinstance(got, Fault) and same(got, right, rel)


def _is_arithmetic(got: Outcome) -> bool:
    return isinstance(got, Fault) and got.error in _ARITHMETIC


def _kind(got: Outcome) -> str:
    return got.message if isinstance(got, Fault) else kind(got)


def _fail(message: str, answer: Answer, fault: Fault | None = None) -> NoReturn:
    verdict = "wrong_output" if fault is None else fault.verdict
    raise CheckFailed(verdict, message, Evidence(fault=fault, answer=answer))
