"""Fused multiply-add, as the compiler makes it.

Triton's compiler contracts `a * b + c` to one instruction that rounds once.
Honest kernels rely on it: `exp2(x * log2e - m * log2e)` is accurate for large x
only because `x * log2e` is never rounded by itself. The interpreter would
round twice, and a right kernel would look wrong.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import triton.language as tl
from triton.runtime import interpreter

Handle = Any  # interpreter.TensorHandle; Triton has no types to offer
Builder = Any
Method = Callable[[Builder, Handle, Handle], Handle]


def install() -> None:
    """Replace the builder's multiplication, addition and subtraction of floats, once."""
    builder = interpreter.InterpreterBuilder
    builder.create_fmul = _remembering(builder.create_fmul)
    builder.create_fadd = _contracting(builder.create_fadd, np.add)
    builder.create_fsub = _contracting(builder.create_fsub, np.subtract)


def _remembering(method: Method) -> Method:
    """The product, which also knows its factors."""

    def create_fmul(self: Builder, lhs: Handle, rhs: Handle) -> Handle:
        product = method(self, lhs, rhs)
        if product.dtype.scalar == tl.float32:
            product.factors = (lhs.data, rhs.data)
        return product

    return create_fmul


def _contracting(method: Method, operation: np.ufunc) -> Method:
    """The sum or difference; where one side is a product, that product is not rounded.

    Of two products the left one is kept whole, which is what LLVM prefers.
    """

    def combined(self: Builder, lhs: Handle, rhs: Handle) -> Handle:
        left, right = getattr(lhs, "factors", None), getattr(rhs, "factors", None)
        if left is not None:
            a, b = _exact(left), rhs.data.astype(np.float64)
        elif right is not None:
            a, b = lhs.data.astype(np.float64), _exact(right)
        else:
            return method(self, lhs, rhs)
        return interpreter.TensorHandle(operation(a, b).astype(np.float32), lhs.dtype)

    return combined


def _exact(factors: tuple[Any, Any]) -> Any:
    """The product of two float32 arrays; float64 holds every bit of it."""
    return factors[0].astype(np.float64) * factors[1].astype(np.float64)
