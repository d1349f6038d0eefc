"""The Triton language in the interpreter: installed once, and closer to what the compiler accepts.

Triton's interpreter replaces the language's functions before every launch and
every call of a helper, which costs more than the arithmetic. Here that happens
once in the life of the worker, before any submission is imported.
"""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any, NoReturn

import numpy as np
import triton.language as tl
from triton import knobs
from triton.runtime import interpreter

from tritonkata.model.faults import Fault
from tritonkata.worker.interpreter import arithmetic, contraction, libdevice, reduction
from tritonkata.worker.loading import SubmissionFault

_RANGE = "_loop_range"
_OPERATORS = (
    *("add", "sub", "mul", "truediv", "floordiv", "mod", "and", "or", "xor", "lshift", "rshift"),
    *("lt", "le", "gt", "ge", "eq", "ne"),
)


def install() -> None:
    """Patch the language and the interpreter, once, before a submission is imported."""
    knobs.runtime.interpret = True  # whatever a submission writes into the environment
    interpreter._patch_lang(SimpleNamespace(__globals__={"tl": tl, "core": tl.core}))
    interpreter._patch_lang = lambda _function: SimpleNamespace(restore=lambda: None)
    tl.core.tensor.__index__ = lambda self: int(self.handle.data.item())
    for language in (tl, tl.core):
        language.range = loop_range
    setattr(interpreter, _RANGE, loop_range)
    _let_blocks_answer()
    _complete_methods()
    interpreter.InterpreterBuilder.create_inline_asm = _refuse_inline_asm
    interpreter.FunctionRewriter.ast_transformer = KernelTransformer()
    # Its assertions are off anyway, and computing each sum of integers twice is not cheap.
    builder = interpreter.interpreter_builder
    builder.options = dataclasses.replace(builder.options, sanitize_overflow=False)
    arithmetic.install()
    contraction.install()
    libdevice.install()
    reduction.install()
    interpreter._implicit_cvt(1)  # imports a good deal of Triton the first time, here rather than in each case


def _let_blocks_answer() -> None:
    """Compute `CONSTANT * block` as the block would, where CONSTANT is a `tl.constexpr` of the file.

    The interpreter makes a constant of the result, which no function of the language takes.
    """

    def deferring(method: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
        return lambda self, other: NotImplemented if isinstance(other, tl.core.tensor) else method(self, other)

    for name in (f"__{operator}__" for operator in _OPERATORS):
        setattr(tl.constexpr, name, deferring(getattr(tl.constexpr, name)))


def _complete_methods() -> None:
    """Let `block.exp()` do what `tl.exp(block)` does; some releases leave it half patched."""
    for name in ("exp", "exp2", "log", "log2", "cos", "sin", "sqrt", "rsqrt", "abs", "floor", "ceil"):
        setattr(tl.core.tensor, name, getattr(tl.math, name))


def _refuse_inline_asm(*_: Any) -> NoReturn:
    message = "the interpreter cannot run inline assembly; this is a limit of the interpreter, not a mistake"
    advice = "Use a function of tl or tl.math, or check on a machine with a GPU."
    raise SubmissionFault(Fault("skipped", "kernel", message, operation="tl.inline_asm_elementwise", advice=advice))


def loop_range(start: Any, end: Any = None, step: Any = None, **_: Any) -> Iterator[Any]:
    """`range` and `tl.range` in a kernel: the loop variable is a scalar block, as in compiled code."""
    bounds = (0, start, 1 if step is None else step) if end is None else (start, end, 1 if step is None else step)
    dtype = tl.int64 if any(_is_wide(bound) for bound in bounds) else tl.int32
    width = np.int64 if dtype == tl.int64 else np.int32
    for value in range(*map(_as_int, bounds)):
        yield tl.tensor(interpreter.TensorHandle(np.array([value], width), dtype), dtype)


def _as_int(bound: Any) -> int:
    if isinstance(bound, tl.constexpr):
        bound = bound.value
    if isinstance(bound, tl.tensor):
        if not bound.dtype.is_int() or bound.handle.data.size != 1:
            raise TypeError(f"the bounds and the step of range must be integer scalars, not {bound.type}")
        return int(bound.handle.data.item())
    if not isinstance(bound, int):
        raise TypeError(f"the bounds and the step of range must be integers, not {type(bound).__name__}")
    return bound


def _is_wide(bound: Any) -> bool:
    if isinstance(bound, tl.tensor):
        return bool(bound.dtype.primitive_bitwidth == 64)
    return not -(2**31) <= _as_int(bound) < 2**31


class KernelTransformer(interpreter.ASTTransformer):  # type: ignore[misc]
    """Triton's own rewriting of a kernel, and chained assignments and loop variables on top."""

    def visit_Assign(self, node: ast.Assign) -> Any:  # noqa: N802 - ast's naming
        """`a = b = value` becomes `_chain = value; a = _chain; b = _chain`."""
        if len(node.targets) == 1:
            if not isinstance(node.value, ast.Compare | ast.BoolOp):
                self.generic_visit(node.value)
            return super().visit_Assign(node)
        name = f"_chain_{node.lineno}_{node.col_offset}"
        first = ast.Assign([ast.Name(name, ast.Store())], node.value)
        rest = [ast.Assign([target], ast.Name(name, ast.Load())) for target in node.targets]
        return [super(KernelTransformer, self).visit_Assign(ast.copy_location(part, node)) for part in (first, *rest)]

    def visit_For(self, node: ast.For) -> Any:  # noqa: N802 - ast's naming
        """`for i in range(...)` loops over scalar blocks instead of Python numbers."""
        self.generic_visit(node)
        loop = node.iter
        if isinstance(loop, ast.Call) and isinstance(loop.func, ast.Name) and loop.func.id == "range":
            loop.func = ast.copy_location(ast.Name(_RANGE, ast.Load()), loop.func)
        return node
