"""What Triton and Python say against a launch, in a learner's words and with what to write instead."""

from __future__ import annotations

import ast
import re
import traceback
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

from tritonkata.model.faults import Fault, Phase
from tritonkata.worker.source import functions_of, nodes_of
from tritonkata.worker.wording import kind_of, one_line, text_of

ALLOCATE_THERE = "Allocate it where the inputs are, with `device=x.device`."
JIT_MISSING = "Put @triton.jit above `def {}`."

# Triton binds a launch's arguments with a function of this name, which it makes for each kernel.
_BINDER = "dynamic_func()"
_Words = tuple[str, str]


def launch_fault(error: BaseException, path: Path, phase: Phase, line: int | None) -> Fault | None:
    """The fault for a launch that cannot be, in the file at `path`; None for any other error."""
    for rule in _RULES:
        told = rule(error, path, line)
        if told is not None:
            message, advice = map(one_line, told)
            return Fault("runtime_error", phase, message, type(error).__name__, line, advice=advice)
    return None


def _without_a_grid(error: BaseException, _path: Path, _line: int | None) -> _Words | None:
    if not (isinstance(error, RuntimeError) and text_of(error).startswith("Cannot call @triton.jit'd outside")):
        return None
    name = _kernel(error)
    return f"{name} is launched without a grid", f"Put the grid before the arguments: `{name}[(n_rows,)](...)`."


def _without_jit(error: BaseException, path: Path, line: int | None) -> _Words | None:
    if not (isinstance(error, TypeError) and text_of(error) == "'function' object is not subscriptable"):
        return None
    own = functions_of(path)
    for node in nodes_of(path, ast.Subscript):
        name = getattr(node.value, "id", "")
        if name in own and line is not None and node.lineno <= line <= (node.end_lineno or 0):
            return f"{name} is launched like a kernel, and is a plain Python function", JIT_MISSING.format(name)
    return None


def _wrong_arguments(error: BaseException, _path: Path, _line: int | None) -> _Words | None:
    said = text_of(error)
    if not (isinstance(error, TypeError) and said.startswith(_BINDER)):
        return None
    name = _kernel(error)
    missing = re.search(r"missing \d+ required \S+ arguments?: (.*)", said)
    twice = re.search(r"multiple values for argument '(\w+)'", said)
    if missing is not None:
        left_out = missing[1].replace("'", "")
        return f"{name} is launched without {left_out}", f"Pass every parameter of {_signature(error, name)}."
    if twice is not None:
        told = f"{name} is given {twice[1]} twice, once by its place and once by its name"
        return (
            told,
            f"Count the arguments against {_signature(error, name)}: there is one too many, or in a wrong place.",
        )
    told = f"{name}(){said.removeprefix(_BINDER)}"
    return told, f"Count the arguments against {_signature(error, name)}."


def _unknown_argument(error: BaseException, _path: Path, _line: int | None) -> _Words | None:
    unknown = re.search(r"Keyword argument (\w+) was specified but unrecognised", text_of(error))
    if not (isinstance(error, KeyError) and unknown is not None):
        return None
    name = _kernel(error)
    return (
        f"{name} is launched with {unknown[1]}, and has no such parameter",
        f"Take it out of the launch, or correct its name: {_signature(error, name)}.",
    )


def _bad_number_of_warps(error: BaseException, _path: Path, _line: int | None) -> _Words | None:
    options = _innermost(error, "num_warps")
    if options is None or not isinstance(error, AssertionError | TypeError):
        return None
    warps = options.num_warps
    if isinstance(warps, int) and warps > 0 and warps & (warps - 1) == 0:
        return None
    shown = str(warps) if type(warps) in (int, float) else kind_of(warps)  # a learner's own __repr__ may fail
    return f"num_warps is {shown}, and must be a power of two", "Launch it with num_warps=1, 2, 4, 8, 16 or 32."


def _off_the_device(error: BaseException, _path: Path, _line: int | None) -> _Words | None:
    advice = getattr(error, "advice", "") if type(error).__name__ == "LaunchError" else ""
    return (text_of(error), advice) if advice else None


_RULES: tuple[Callable[[BaseException, Path, int | None], _Words | None], ...] = (
    _without_a_grid,
    _without_jit,
    _wrong_arguments,
    _unknown_argument,
    _bad_number_of_warps,
    _off_the_device,
)


def _kernel(error: BaseException) -> str:
    """The name of the kernel that was launched."""
    function = getattr(_innermost(error, "arg_names"), "fn", None)
    return str(getattr(function, "__name__", "the kernel"))


def _signature(error: BaseException, name: str) -> str:
    names = getattr(_innermost(error, "arg_names"), "arg_names", ())
    return f"`def {name}({', '.join(map(str, names))})`"


def _innermost(error: BaseException, attribute: str) -> Any:
    """Of Triton's objects whose methods the error passed, the innermost that has `attribute`; None if none has."""
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    owners = [frame.f_locals.get("self") for frame in frames if _is_tritons(frame)]
    return next((owner for owner in reversed(owners) if hasattr(owner, attribute)), None)


def _is_tritons(frame: FrameType) -> bool:
    return str(frame.f_globals.get("__name__", "")).partition(".")[0] == "triton"
