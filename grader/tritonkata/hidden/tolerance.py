"""The one tolerance table.

`p` is the truth in float64, computed from the inputs as rounded to their
dtype. The bounds follow from how a right kernel computes (statistics and
exponentials in float32, one rounding to the output's dtype):

| output | bound on |y - p| |
|---|---|
| float32 softmax | p * 2^-24 * (16 + 4 * |x_i - m| + 2 * log2 N) + 2^-126 |
| float16 softmax | one unit in the last place of p + 2^-24 |
| bfloat16 softmax | one unit in the last place of p + 2^-126 |
| log_softmax | one unit in the last place of p + 2^-24 * (4 + |x_i - m| + log2 N) |

The term in |x_i - m| is the relative error of exp for a rounded argument,
log2 N that of a tree sum; 2^-126 is the smallest normal float32, below which
a GPU's exp2 gives zero.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

Kind = Literal["softmax", "log_softmax"]
Float64s = NDArray[np.float64]

MAX_COLUMNS = 1 << 17

_MANTISSA_BITS = {"float32": 23, "float16": 10, "bfloat16": 7}
_SMALLEST_EXPONENT = {"float32": -126, "float16": -14, "bfloat16": -126}


def unit_in_last_place(values: Float64s, dtype: str) -> Float64s:
    """Distance between neighbours of `dtype` at each |value|, elementwise, of the same shape."""
    _, exponent = np.frexp(np.abs(np.where(np.isfinite(values), values, 0.0)))
    smallest = _SMALLEST_EXPONENT[dtype]
    floor_exponent = np.maximum(exponent - 1, smallest)
    unit: Float64s = np.ldexp(np.ones_like(values), floor_exponent - _MANTISSA_BITS[dtype])
    return unit


def tolerance(truth: Float64s, distance: Float64s, dtype: str, kind: Kind) -> Float64s:
    """Largest allowed |y - p| of each element.

    Args:
        truth: p, float64 of shape (rows, cols) or (rows,).
        distance: |x_i - m| of the same shape; zero where it has no meaning.
        dtype: of the output.
        kind: which row of the table.
    """
    # A statistic of a row stands for as many columns as a kata allows.
    columns = max(truth.shape[-1], 1) if truth.ndim > 1 else MAX_COLUMNS
    log2_columns = np.log2(columns)
    steady = np.where(np.isfinite(distance), distance, 0.0)
    size = np.abs(np.where(np.isfinite(truth), truth, 0.0))
    if kind == "log_softmax":
        bound: Float64s = unit_in_last_place(truth, dtype) + 2.0**-24 * (4 + steady + log2_columns)
    elif dtype == "float32":
        bound = size * 2.0**-24 * (16 + 4 * steady + 2 * log2_columns) + 2.0**-126
    else:
        bound = unit_in_last_place(truth, dtype) + (2.0**-24 if dtype == "float16" else 2.0**-126)
    return bound


def distance_to_maximum(scores: Float64s | None, shape: tuple[int, ...]) -> Float64s:
    """|x_i - m| along the last axis, zero where a score or the maximum is not finite.

    Where `scores` is None every distance is zero.
    """
    if scores is None or scores.size == 0:
        return np.zeros(shape)
    finite = np.where(np.isfinite(scores), scores, -np.inf)
    maximum = finite.max(axis=-1, keepdims=True)
    with np.errstate(invalid="ignore"):
        distance = np.abs(scores - maximum)
    return np.broadcast_to(np.where(np.isfinite(distance), distance, 0.0), shape)
