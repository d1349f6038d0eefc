"""Hidden inputs: arrays whose layout is part of the test."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tritonkata.engine.arrays import numpy_dtype

DTYPES = ("float32", "float16", "bfloat16")
Array = NDArray[Any]


def as_dtype(values: ArrayLike, dtype: str) -> Array:
    """A contiguous array of `values` rounded to `dtype` (float32, float16, bfloat16)."""
    with np.errstate(over="ignore"):
        return np.ascontiguousarray(np.asarray(values, dtype=np.float64).astype(numpy_dtype(dtype)))


def normal(rng: np.random.Generator, shape: tuple[int, ...], dtype: str = "float32", scale: float = 3.0) -> Array:
    """Normal values of standard deviation `scale`, rounded to `dtype`."""
    return as_dtype(rng.standard_normal(shape) * scale, dtype)


def padded(values: Array, gap: int = 5, poison: float = float("nan")) -> Array:
    """The rows of `values` in a storage where `gap` elements of `poison` follow each row.

    Args:
        values: shape (rows, cols), any float dtype.
        gap: elements between the end of a row and the next one.
        poison: what the gaps hold; a right kernel never lets it reach the result.

    Returns:
        A view of shape (rows, cols) with row stride cols + gap; its base is the storage.
    """
    rows, columns = values.shape
    storage = np.full((rows, columns + gap), poison, dtype=values.dtype)
    storage[:, :columns] = values
    return storage[:, :columns]


def far_view(values: Array, row_stride: int) -> Array:
    """The rows of `values` `row_stride` elements apart, in a storage that is touched only where they lie.

    With a stride near 2^30 and three rows, an offset computed in 32 bits
    wraps. The storage is virtual memory: it costs address space, not RAM.
    """
    rows, columns = values.shape
    storage = np.zeros((rows - 1) * row_stride + columns, dtype=values.dtype)
    step = values.dtype.itemsize
    view = np.lib.stride_tricks.as_strided(storage, (rows, columns), (row_stride * step, step))
    view[...] = values
    return view
