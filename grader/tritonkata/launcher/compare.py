"""What runs over different poison say of an output: elements nobody wrote, elements that depend on poison."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tritonkata.launcher.hostops import elements_of
from tritonkata.model.observation import Unwritten
from tritonkata.model.tensors import TensorSpec

Mask = NDArray[np.bool_]

# For each float type: all bits but the sign, and the bits of infinity. What lies above infinity is NaN.
_NAN_BITS = {
    "float32": (0x7FFFFFFF, 0x7F800000),
    "float16": (0x7FFF, 0x7C00),
    "bfloat16": (0x7FFF, 0x7F80),
}


def flat_words(storage: NDArray[Any], spec: TensorSpec) -> NDArray[Any]:
    """All elements in row-major order, as unsigned words."""
    return elements_of(storage, spec).reshape(-1)


def holds_poison(words: NDArray[Any], byte: int) -> Mask:
    """Which elements consist of nothing but the poison byte."""
    pattern = int.from_bytes(bytes([byte]) * words.itemsize, "little")
    mask: Mask = words == words.dtype.type(pattern)
    return mask


def differing(first: NDArray[Any], second: NDArray[Any], dtype: str) -> Mask:
    """Which elements differ between two runs. NaNs are one value, whatever their payload."""
    mask: Mask = first != second
    if dtype in _NAN_BITS and mask.any():
        mask &= ~(_is_nan(first, dtype) & _is_nan(second, dtype))
    return mask


def unwritten(output: int, mask: Mask, shape: tuple[int, ...]) -> Unwritten | None:
    """The summary of a mask of unwritten elements; None if there are none."""
    count = int(np.count_nonzero(mask))
    if count == 0:
        return None
    first = int(mask.argmax())
    last = mask.size - 1 - int(mask[::-1].argmax())
    return Unwritten(output, count, index_of(first, shape), index_of(last, shape))


def index_of(position: int, shape: tuple[int, ...]) -> tuple[int, ...]:
    """The index into a shape of an element in row-major order."""
    return tuple(int(part) for part in np.unravel_index(position, shape))


def _is_nan(words: NDArray[Any], dtype: str) -> Mask:
    magnitude, infinity = _NAN_BITS[dtype]
    mask: Mask = (words & words.dtype.type(magnitude)) > words.dtype.type(infinity)
    return mask
