"""Arithmetic that the interpreter gets wrong, put right: bfloat16, boolean results, NaN in maximum.

The interpreter keeps a bfloat16 block as the 16 raw bits of each element and
adds and multiplies those bits. Here such blocks are widened to float32,
computed, and rounded to nearest even, which is what the hardware does.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import triton.language as tl
from numpy.typing import NDArray
from triton.runtime import interpreter

Array = NDArray[Any]
Handle = Any  # interpreter.TensorHandle; Triton has no types to offer
Builder = Any

_ENOUGH = (tl.float16, tl.float32, tl.float64, tl.bfloat16)


def bfloat16_to_float32(bits: Array) -> Array:
    """The values of raw bfloat16 bits; exact."""
    return (bits.astype(np.uint32) << np.uint32(16)).view(np.float32)


def float32_to_bfloat16(values: Array) -> Array:
    """Raw bfloat16 bits of `values`, rounded to nearest even; NaN stays NaN."""
    values = np.asarray(values, np.float32)
    bits = np.atleast_1d(values).view(np.uint32).reshape(values.shape)
    rounded = (bits + np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1))) >> np.uint32(16)
    quiet = (bits >> np.uint32(16)) | np.uint32(0x40)
    return np.where(np.isnan(values), quiet, rounded).astype(np.uint16)


def install() -> None:
    """Replace the builder's methods, once."""
    builder = interpreter.InterpreterBuilder
    builder.binary_op = _binary(builder.binary_op)
    builder.unary_op = _unary(builder.unary_op)
    builder.ternary_op = _ternary(builder.ternary_op)
    builder.cast_impl = _cast_impl
    builder.create_fp_to_fp = _fp_to_fp(builder.create_fp_to_fp)
    builder.create_rsqrt = _rounding(builder.create_rsqrt)
    builder.create_erf = _rounding(builder.create_erf)
    builder.create_fma = _rounding(builder.create_fma)
    builder.create_dot = _dot(builder.create_dot)
    builder.create_maxnumf = lambda self, lhs, rhs: self.binary_op(lhs, rhs, np.fmax)
    builder.create_minnumf = lambda self, lhs, rhs: self.binary_op(lhs, rhs, np.fmin)
    builder.create_fneg = lambda self, arg: self.unary_op(arg, np.negative)
    builder.get_bf16 = lambda _, value: _handle(float32_to_bfloat16(np.array([value], np.float32)), tl.bfloat16)


def _handle(data: Array, dtype: Any) -> Handle:
    return interpreter.TensorHandle(data, dtype)


def _is_bfloat16(handle: Handle) -> bool:
    return isinstance(handle, interpreter.TensorHandle) and handle.dtype.scalar == tl.bfloat16


def _widen(handle: Handle) -> Handle:
    return _handle(bfloat16_to_float32(handle.data), tl.float32) if _is_bfloat16(handle) else handle


def _narrow(handle: Handle) -> Handle:
    return _handle(float32_to_bfloat16(handle.data), tl.bfloat16)


def _rounding(method: Callable[..., Handle]) -> Callable[..., Handle]:
    """`method` on float32 where any operand is bfloat16, and its result rounded back."""

    def wrapped(self: Builder, *arguments: Any) -> Handle:
        if not any(_is_bfloat16(argument) for argument in arguments):
            return method(self, *arguments)
        return _narrow(method(self, *map(_widen, arguments)))

    return wrapped


def _binary(method: Callable[..., Handle]) -> Callable[..., Handle]:
    def binary_op(self: Builder, lhs: Handle, rhs: Handle, op: Any) -> Handle:
        if _is_bfloat16(lhs) or _is_bfloat16(rhs):
            result = method(self, _widen(lhs), _widen(rhs), op)
            return _boolean(result) if result.data.dtype == np.bool_ else _narrow(result)
        return _boolean(method(self, lhs, rhs, op))

    return binary_op


def _boolean(handle: Handle) -> Handle:
    # A comparison keeps its operands' type in the interpreter, and then is refused as a mask.
    return _handle(handle.data, tl.int1) if handle.data.dtype == np.bool_ else handle


def _unary(method: Callable[..., Handle]) -> Callable[..., Handle]:
    def unary_op(self: Builder, arg: Handle, op: Any) -> Handle:
        return _narrow(method(self, _widen(arg), op)) if _is_bfloat16(arg) else method(self, arg, op)

    return unary_op


def _ternary(method: Callable[..., Handle]) -> Callable[..., Handle]:
    def ternary_op(self: Builder, lhs: Handle, rhs: Handle, other: Handle, op: Any) -> Handle:
        if op is np.where or not _is_bfloat16(other):
            return method(self, lhs, rhs, other, op)
        return _narrow(method(self, _widen(lhs), _widen(rhs), _widen(other), op))

    return ternary_op


def _cast_impl(self: Builder, src: Handle, dst_type: Any) -> Handle:
    del self
    data = bfloat16_to_float32(src.data) if _is_bfloat16(src) else src.data
    if dst_type.scalar == tl.bfloat16:
        return _handle(float32_to_bfloat16(data), tl.bfloat16)
    return _handle(data.astype(interpreter._get_np_dtype(dst_type)), dst_type.scalar)


def _fp_to_fp(method: Callable[..., Handle]) -> Callable[..., Handle]:
    def create_fp_to_fp(self: Builder, src: Handle, dst_type: Any, rounding_mode: Any) -> Handle:
        toward_zero = rounding_mode == interpreter._ir.ROUNDING_MODE.RTZ
        known = src.dtype.scalar in _ENOUGH and dst_type.scalar in _ENOUGH
        if known and not toward_zero:
            return _cast_impl(self, src, dst_type)
        return method(self, src, dst_type, rounding_mode)

    return create_fp_to_fp


def _dot(method: Callable[..., Handle]) -> Callable[..., Handle]:
    def create_dot(self: Builder, a: Handle, b: Handle, d: Handle, *rest: Any) -> Handle:
        # Products of bfloat16 are exact in float32, in which the hardware accumulates too.
        result = method(self, _widen(a), _widen(b), _widen(d), *rest)
        return _narrow(result) if _is_bfloat16(d) else result

    return create_dot
