"""The answers of a worksheet: constants of a submission, and calls of its plain functions."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tritonkata.boundary.messages import Evaluate, Evaluated, Failed, Load
from tritonkata.model.answers import Value
from tritonkata.model.faults import Fault
from tritonkata.worker.loading import SubmissionFault, fault_of, load_submission, safe_filename
from tritonkata.worker.wording import kind_of, one_line

_EXACT = 1 << 53
_MAX_ITEMS = 4096
_MAX_TEXT = 2000
Reply = tuple[Evaluated | Failed, Sequence[memoryview]]


class _NoValue(Exception):
    """Something that is no answer; the message says what it is."""


def evaluate(load: Load, folder: Path, request: Evaluate) -> Reply:
    """The value of a constant, or of each call of a function."""
    path = folder / safe_filename(load.filename)
    try:
        module = load_submission(load, folder)
    except SubmissionFault as error:
        return Failed(error.fault), ()
    if not hasattr(module, request.name):
        message = f"the file does not define {request.name}"
        return Failed(Fault("runtime_error", "host", message, advice="keep the names of the skeleton")), ()
    try:
        return Evaluated(_values(getattr(module, request.name), request)), ()
    except _NoValue as error:
        return Failed(Fault("invalid_output", "result", one_line(f"{request.name} {error}"))), ()
    except NotImplementedError:
        return Evaluated((None,) * max(1, len(request.calls))), ()
    except BaseException as error:
        return Failed(fault_of(error, path, "host")), ()


def _values(found: Any, request: Evaluate) -> tuple[Value, ...]:
    if not request.calls:
        if callable(found):
            raise _NoValue("is a function, it must be a value")
        return (plain(found),)
    if not callable(found):
        raise _NoValue(f"is {kind_of(found)}, it must be a function")
    return tuple(plain(found(*arguments)) for arguments in request.calls)


def plain(value: Any) -> Value:
    """A value that can be sent: numbers of any library, texts, and flat sequences of numbers.

    Raises:
        _NoValue: it is nothing of the kind.
    """
    if value is None or value is Ellipsis:
        return None
    if isinstance(value, bool | str):
        return value[:_MAX_TEXT] if isinstance(value, str) else value
    if isinstance(value, list | tuple):
        if len(value) > _MAX_ITEMS:
            raise _NoValue(f"has {len(value)} values, more than any question asks for")
        return tuple(_number(item) for item in value)
    return _number(value)


def _number(value: Any) -> int | float | None:
    if value is None or value is Ellipsis:
        return None
    if isinstance(value, int) and abs(value) <= _EXACT:
        return int(value)
    try:
        # NumPy's and torch's scalars, fractions and decimals, and integers that float64 rounds.
        return float(value)
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")
    except (TypeError, ValueError, RuntimeError):
        raise _NoValue(f"gives {kind_of(value)}, which is no number") from None
