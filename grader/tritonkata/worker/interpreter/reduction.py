"""`tl.reduce` with a function of the submission's own, by halves.

The interpreter calls such a function once for every element, which takes
seconds for one wide row. Here neighbours are combined as whole blocks: as many
calls as the width has bits, and in the order of a tree, as on a GPU.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import triton.language as tl
from triton.runtime import interpreter

from tritonkata.worker.interpreter.arithmetic import bfloat16_to_float32, float32_to_bfloat16

Block = Any  # tl.tensor; Triton has no types to offer
Reduction = Any  # interpreter.ReduceOps
Method = Callable[[Reduction, Any], Any]


class _BlockAsCondition(Exception):
    """The function branches on what is a number to the compiler, and a block here."""


_state = {"in_tree": False}


def install() -> None:
    """Replace the reduction that takes an element at a time, once. The language must be patched before."""
    interpreter.ReduceOps.generic_reduce = _by_halves(interpreter.ReduceOps.generic_reduce)
    interpreter.ReduceOps.sum = _sum(interpreter.ReduceOps.sum)
    interpreter.ReduceOps.min_max = _widened(interpreter.ReduceOps.min_max)
    tl.core.tensor.__bool__ = _number_only(tl.core.tensor.__bool__)


def _sum(method: Method) -> Method:
    """The sum of bfloat16 in a tree whose every step is rounded, as the compiler makes it; not of the raw bits."""

    def summed(self: Reduction, block: Any) -> Any:
        if block.dtype.scalar != tl.bfloat16:
            return method(self, block)
        if self.axis is not None:
            return self.generic_reduce((block,))[0]
        data = block.handle.data
        [total] = _tree(self, (self.to_tensor(data.reshape(-1), block.dtype),), 0)
        return self.to_tensor(total.reshape((1,) * data.ndim) if self.keep_dims else total.item(), block.dtype)

    return summed


def _widened(method: Callable[..., Any]) -> Callable[..., Any]:
    """The largest or smallest of bfloat16, found in float32, which changes no value; not of the raw bits."""

    def min_max(self: Reduction, block: Any, *rest: Any, **named: Any) -> Any:
        block = block[0] if isinstance(block, tuple) else block
        if block.dtype.scalar != tl.bfloat16:
            return method(self, block, *rest, **named)
        found = method(self, self.to_tensor(bfloat16_to_float32(block.handle.data), tl.float32), *rest, **named)
        value, *place = found if isinstance(found, tuple) else (found,)
        bits = float32_to_bfloat16(value.handle.data)
        narrow = self.to_tensor(bits if value.type.is_block() else bits.item(), tl.bfloat16)
        return (narrow, *place) if place else narrow

    return min_max


def _number_only(method: Callable[[Block], bool]) -> Callable[[Block], bool]:
    def truth(block: Block) -> bool:
        if _state["in_tree"] and block.handle.data.size > 1:
            raise _BlockAsCondition
        return method(block)

    return truth


def _by_halves(one_by_one: Method) -> Method:
    def generic_reduce(self: Reduction, blocks: tuple[Block, ...]) -> Any:
        axis = self.axis
        if axis is None or any(block.handle.data.ndim <= axis for block in blocks):
            return one_by_one(self, blocks)
        _state["in_tree"] = True
        try:
            reduced = _tree(self, blocks, axis)
        except _BlockAsCondition:
            reduced = None
        finally:
            _state["in_tree"] = False
        if reduced is None:
            return one_by_one(self, blocks)
        shape = _shape_without(blocks[0].handle.data.shape, axis, keep=self.keep_dims)
        return [
            self.to_tensor(data.reshape(shape) if shape else data.item(), block.dtype)
            for data, block in zip(reduced, blocks, strict=True)
        ]

    return generic_reduce


def _tree(reduction: Reduction, blocks: tuple[Block, ...], axis: int) -> list[Any]:
    """The arrays of `blocks`, with neighbours along `axis` combined until one element is left."""
    arrays = [block.handle.data for block in blocks]
    types = [block.dtype for block in blocks]
    while (width := arrays[0].shape[axis]) > 1:
        pairs = [
            reduction.to_tensor(array.take(range(first, width, 2), axis), dtype)
            for first in (0, 1)
            for array, dtype in zip(arrays, types, strict=True)
        ]
        combined = reduction.combine_fn.fn(*pairs)
        parts = combined if isinstance(combined, tuple | tl.tuple) else (combined,)
        shape = pairs[0].handle.data.shape
        arrays = [_array(part, shape, like) for part, like in zip(parts, arrays, strict=True)]
    return arrays


def _array(part: Any, shape: tuple[int, ...], like: Any) -> Any:
    """What the function returned for one operand: a block, or a constant for all of it."""
    data = part.handle.data if isinstance(part, tl.tensor) else getattr(part, "value", part)
    return np.broadcast_to(np.asarray(data, like.dtype), shape)


def _shape_without(shape: tuple[int, ...], axis: int, *, keep: bool) -> tuple[int, ...]:
    return (*shape[:axis], *((1,) if keep else ()), *shape[axis + 1 :])
