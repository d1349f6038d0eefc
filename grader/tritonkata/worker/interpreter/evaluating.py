"""The answers of a worksheet: constants of a submission, and calls of its plain functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from tritonkata.boundary.messages import Evaluate, Evaluated, Failed, Load
from tritonkata.model.answers import Outcome, Value
from tritonkata.model.faults import Fault, Phase
from tritonkata.worker.loading import SubmissionFault, fault_of, load_submission, safe_filename
from tritonkata.worker.wording import kind_of, one_line

_EXACT = 1 << 53
_MAX_ITEMS = 4096
_MAX_TEXT = 2000
Reply = tuple[Evaluated | Failed, Sequence[memoryview]]


class _NoValue(Exception):
    """Something that is no answer; the message says what it is."""


def evaluate(load: Load, folder: Path, request: Evaluate) -> Reply:
    """The value of a constant, or of each call of a function; a call that gives none does not cost the others."""
    path = folder / safe_filename(load.filename)
    try:
        module = load_submission(load, folder)
    except SubmissionFault as error:
        return Failed(error.fault), ()
    unfit = _unfit(module, request)
    if unfit is not None:
        return Evaluated((unfit,) * max(1, len(request.calls))), ()
    found = getattr(module, request.name)
    if not request.calls:
        return Evaluated((outcome(lambda: found, path),)), ()
    return Evaluated(tuple(outcome(partial(_called, found, arguments), path) for arguments in request.calls)), ()


def outcome(work: Callable[[], Any], path: Path) -> Outcome:
    """The value that `work` gives, or why it gives none."""
    try:
        return plain(work())
    except _NoValue as error:
        return _of_another_kind(str(error), "result")
    except NotImplementedError:
        return None
    except BaseException as error:
        # Without advice: what helps with a kernel does not help with a formula.
        return msgspec.structs.replace(fault_of(error, path, "answer"), verdict="runtime_error", advice="")


def _unfit(module: Any, request: Evaluate) -> Fault | None:
    """Why the name cannot be asked at all: it is missing, or a function in place of a value, or the other way round."""
    if not hasattr(module, request.name):
        return Fault("runtime_error", "answer", f"the file does not define {request.name}", "NameError")
    found = getattr(module, request.name)
    if callable(found) == bool(request.calls):
        return None
    return _of_another_kind("a function" if callable(found) else kind_of(found), "answer")


def _of_another_kind(kind: str, phase: Phase) -> Fault:
    return Fault("invalid_output", phase, one_line(kind))


def _called(function: Callable[..., Any], arguments: tuple[Value, ...]) -> Any:
    """What the function returns. Where that is None it has been written, unlike a constant that is None."""
    value = function(*arguments)
    if value is None:
        raise _NoValue("None")
    return value


def plain(value: Any) -> Value:
    """A value that can be sent: numbers of any library, texts, and flat sequences of numbers.

    Raises:
        _NoValue: it is nothing of the kind.
    """
    if value is None or value is Ellipsis:
        return None
    # A class of the learner's own may answer otherwise than its base.
    if isinstance(value, str):
        return str.__getitem__(value, slice(_MAX_TEXT))
    if isinstance(value, bool):
        return value
    if isinstance(value, list | tuple):
        if len(value) > _MAX_ITEMS:
            raise _NoValue(f"{kind_of(value)} of more than {_MAX_ITEMS} values")
        return tuple(_item(item, value) for item in value)
    # NumPy and torch have truth values of their own.
    return bool(value) if _is_truth(value) else _number(value)


def _item(item: Any, whole: Any) -> int | float | None:
    if item is None or item is Ellipsis:
        return None
    try:
        return _number(item)
    except _NoValue as error:
        raise _NoValue(f"{kind_of(whole)} with {error} in it") from None


def _is_truth(value: Any) -> bool:
    return str(getattr(value, "dtype", "")) in ("bool", "torch.bool") and getattr(value, "shape", None) == ()


def _number(value: Any) -> int | float:
    # float() would read a text as a number.
    if isinstance(value, str | bytes | bytearray):
        raise _NoValue(kind_of(value))
    if isinstance(value, int):
        whole: int = int.__index__(value)
        if abs(whole) <= _EXACT:
            return whole
        value = whole
    try:
        # NumPy's and torch's scalars, fractions and decimals, and integers that float64 rounds.
        return float(value)
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")
    except (TypeError, ValueError, RuntimeError):
        raise _NoValue(kind_of(value)) from None
