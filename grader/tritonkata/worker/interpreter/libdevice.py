"""CUDA's math library for the interpreter: the functions that kernels call through `libdevice`."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from triton.language.extra import libdevice as generic
from triton.language.extra.cuda import libdevice as cuda
from triton.runtime import interpreter

from tritonkata.model.faults import Fault
from tritonkata.worker.loading import SubmissionFault

Array = NDArray[Any]
_SYMBOL_PREFIX = "__nv_"

_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "exp": np.exp,
    "exp2": np.exp2,
    "exp10": lambda x: np.power(x.dtype.type(10), x),
    "expm1": np.expm1,
    "log": np.log,
    "log2": np.log2,
    "log10": np.log10,
    "log1p": np.log1p,
    "sqrt": np.sqrt,
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "cbrt": np.cbrt,
    "pow": np.power,
    "fabs": np.abs,
    "floor": np.floor,
    "ceil": np.ceil,
    "trunc": np.trunc,
    "rint": np.rint,
    "fmax": np.fmax,
    "fmin": np.fmin,
    "fmod": np.fmod,
    "fma": lambda x, y, z: (x.astype(np.float64) * y + z).astype(x.dtype),
    "fdiv_rn": np.divide,
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "tanh": np.tanh,
    "sinh": np.sinh,
    "cosh": np.cosh,
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    "atan2": np.arctan2,
    "copysign": np.copysign,
    "isnan": np.isnan,
    "isinf": np.isinf,
    "finite": np.isfinite,
    "isfinite": np.isfinite,
    "fast_exp": np.exp,
    "fast_exp10": lambda x: np.power(x.dtype.type(10), x),
    "fast_log": np.log,
    "fast_log2": np.log2,
    "fast_log10": np.log10,
    "fast_pow": np.power,
    "fast_fdivide": np.divide,
    "fdivide": np.divide,
}


def install() -> None:
    """Let kernels call libdevice, whichever module they import it from."""
    interpreter.InterpreterBuilder.create_extern_elementwise = _extern_elementwise
    for name, function in inspect.getmembers(cuda, inspect.isfunction):
        if "_semantic" in inspect.signature(function).parameters:
            bound = partial(function, _semantic=interpreter.interpreter_semantic)
            setattr(cuda, name, bound)
            setattr(generic, name, bound)


def _extern_elementwise(
    self: Any, library: str, path: str, symbol: str, arguments: list[Any], result_type: Any, is_pure: bool
) -> Any:
    del self, library, path, is_pure
    function = _function(symbol)
    result = function(*(argument.data for argument in arguments))
    dtype = interpreter._get_np_dtype(result_type)
    return interpreter.TensorHandle(np.asarray(result).astype(dtype), result_type.scalar)


def _function(symbol: str) -> Callable[..., Any]:
    name = symbol.removeprefix(_SYMBOL_PREFIX)
    for candidate in (name, name[:-1]):  # a trailing f or d tells the type
        if candidate in _FUNCTIONS:
            return _FUNCTIONS[candidate]
    if name[-1:] == "f" and not hasattr(cuda, name):
        name = name[:-1]
    message = f"the interpreter does not know libdevice's {name}; this is a limit of the interpreter, not a mistake"
    advice = "Use the function of the same name in tl or tl.math, or check on a machine with a GPU."
    raise SubmissionFault(Fault("skipped", "kernel", message, operation=f"libdevice.{name}", advice=advice))
