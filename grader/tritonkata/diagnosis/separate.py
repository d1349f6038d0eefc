"""One more case for mistakes that give the same numbers on all the cases so far."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tritonkata.diagnosis.models import WrongModel, differ, explains
from tritonkata.hidden.candidate import Call

Array = NDArray[Any]
Rerun = Callable[[str, tuple[Array, ...]], Call | None]
"""Calls an entry point of the submission once more; None if that gave no output."""

TRIES = 4


def separated(
    tied: Sequence[WrongModel], call: Call, truth: Callable[[Call], tuple[Array, ...]], rerun: Rerun, seed: int
) -> tuple[WrongModel, ...]:
    """Those of the tied models that reproduce the submission on a case where they differ; all, if no case is found.

    The case is made from the arguments of `call`, with the same layouts and the same kinds of values.
    """
    rng = np.random.default_rng(seed)
    for arguments in _variations(call.arguments, rng):
        if not differ(tied, Call("", call.entry, arguments, call.outputs, call.observation)):
            continue
        again = rerun(call.entry, arguments)
        if again is None:
            continue
        left = tuple(model for model in tied if explains(model, again, truth))
        if left:
            return left
    return tuple(tied)


def _variations(arguments: tuple[Array, ...], rng: np.random.Generator) -> Iterator[tuple[Array, ...]]:
    """Other values of the same shapes: columns in another order, then the first argument drawn anew as well."""
    first = arguments[0]
    for number in range(TRIES):
        order = rng.permutation(first.shape[-1]) if first.ndim else np.zeros(0, np.int64)
        others = [_permuted(argument, first, order) for argument in arguments]
        if number:
            scale = (1.0, 3.0, 0.25)[(number - 1) % 3]
            finite = np.isfinite(first.astype(np.float64))
            fresh = np.where(finite, rng.standard_normal(first.shape) * scale - number, first.astype(np.float64))
            others[0] = _like(first, fresh)
        yield tuple(others)


def _permuted(argument: Array, first: Array, order: NDArray[np.int64]) -> Array:
    """The same permutation for every argument that has the first one's columns."""
    same = argument.ndim == first.ndim and argument.shape[-1:] == first.shape[-1:]
    return _like(argument, argument[..., order]) if same else argument


def _like(argument: Array, values: Array) -> Array:
    """Values in an array of the argument's dtype and strides."""
    if any(stride == 0 for stride in argument.strides):
        return argument  # an expanded argument has fewer values than elements
    made = np.empty_like(argument, subok=False)
    if made.strides != argument.strides:
        storage = np.zeros(_span(argument), argument.dtype)
        made = np.lib.stride_tricks.as_strided(storage, argument.shape, argument.strides)
    made[...] = values.astype(argument.dtype)
    return made


def _span(argument: Array) -> int:
    """Elements from the first to the last."""
    if argument.size == 0:
        return 0
    reach = sum((n - 1) * stride for n, stride in zip(argument.shape, argument.strides, strict=True))
    return int(reach // argument.itemsize + 1)
