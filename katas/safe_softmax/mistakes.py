"""Wrong models of safe_softmax: what each well-known mistake computes.

Each function takes the input of one case and returns the output that the
mistake gives, or yields several where learners write it in several ways.
Where two models agree on an input, the more specific one stands first.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Float = NDArray[np.float64]

BLOCKS = (16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384)
CLAMPS = (10.0, 11.0, 20.0, 30.0, 40.0, 50.0, 60.0, 64.0, 70.0, 75.0, 80.0, 85.0, 87.0, 88.0, 88.7, 88.72)
STAND_INS = (
    *(-1.0, -5.0, -10.0, -20.0, -30.0, -50.0, -64.0, -80.0, -88.0, -99.0, -100.0, -128.0, -150.0, -200.0, -250.0),
    *(-256.0, -300.0, -500.0, -999.0, -1e3, -9999.0, -1e4, -65504.0, -1e5, -1e6, -1e9, -1e30, -3e38),
)
FLOAT32_MAX = float(np.finfo(np.float32).max)
FLOAT32_SMALLEST_NORMAL = 2.0**-126


def scores_copied(x: Array) -> Float:
    """The scores were stored as they came in; nothing has been computed yet."""
    return _scores(x)


def no_max_subtraction(x: Array) -> Float:
    """The row maximum is not subtracted before exp."""
    return _shares(_exp_in_float32(_scores(x)))


def max_added(x: Array) -> Float:
    """The row maximum is added to the scores, where it must be subtracted."""
    scores = _scores(x)
    return _shares(_exp_in_float32(scores + scores.max(axis=1, keepdims=True)))


def clamped_instead_of_max(x: Array) -> Iterator[Float]:
    """Scores are cut off at a fixed number so that exp stays finite, instead of subtracting the row maximum."""
    scores = _scores(x)
    for clamp in CLAMPS:
        for limited in _limited(scores, clamp):
            yield _shares(_exp_in_float32(limited))


def padding_lanes_as_zero(x: Array) -> Iterator[Float]:
    """Lanes past the end of the row are loaded as 0 and join the maximum and the sum."""
    scores = _scores(x)
    top = scores.max(axis=1, keepdims=True)
    for lanes in _padded_lanes(scores.shape[1]):
        raised = np.maximum(top, 0.0)
        weights = _exp_in_float32(scores - raised)
        padding = lanes * _exp_in_float32(-raised)
        yield _rounded(weights / (weights.sum(axis=1, keepdims=True) + padding))
        # The maximum is right and only the sum has the extra lanes.
        weights = np.exp(scores - top)
        yield weights / (weights.sum(axis=1, keepdims=True) + lanes * _exp_in_float32(-top))
        # Only the maximum has them: harmless until every exp underflows.
        yield _shares(_exp_in_float32(scores - raised))


def finite_fill(x: Array) -> Iterator[Float]:
    """Lanes past the end of the row are loaded as a finite number in the place of -inf."""
    scores = _scores(x)
    top = scores.max(axis=1, keepdims=True)
    with np.errstate(over="ignore"):
        fills = {float(np.array(fill).astype(x.dtype)) for fill in STAND_INS} - {-np.inf}
    # Far enough below every maximum a fill changes nothing.
    for fill in sorted(fill for fill in fills if (fill > top - 110).any()):
        raised = np.maximum(top, fill)
        weights = _exp_in_float32(scores - raised)
        for lanes in _padded_lanes(scores.shape[1]):
            yield _rounded(weights / (weights.sum(axis=1, keepdims=True) + lanes * _exp_in_float32(fill - raised)))
    yield _softmax(scores)


def missing_log2e(x: Array) -> Float:
    """exp2 was used without the factor log2(e), so the result is a softmax in base 2."""
    scores = _scores(x)
    return _shares(np.exp2(scores - scores.max(axis=1, keepdims=True)))


def wrong_axis(x: Array) -> Float:
    """Maximum and sum run down the columns instead of along the rows."""
    scores = _scores(x)
    return _shares(np.exp(scores - scores.max(axis=0, keepdims=True)), axis=0)


def not_normalised(x: Array) -> Iterator[Float]:
    """The exponentials were never divided by their sum."""
    scores = _scores(x)
    yield np.exp(scores - scores.max(axis=1, keepdims=True))
    # tl.max passes over NaN, and without a sum nothing spreads it.
    yield np.exp(scores - np.fmax.reduce(scores, axis=1, keepdims=True))


def row_stride_ignored(x: Array) -> Float:
    """Rows are read n_cols elements apart, although x.stride(0) says otherwise."""
    packed = np.lib.stride_tricks.as_strided(x, x.shape, (x.shape[1] * x.itemsize, x.itemsize))
    return _softmax(_scores(packed))


def infinity_swallowed(x: Array) -> Iterator[Float]:
    """A row with +inf or NaN gives ordinary numbers, where the whole row must be NaN."""
    scores = _scores(x)
    truth = _softmax(scores)
    largest = min(FLOAT32_MAX, float(np.float64(_largest(x))))
    hot = np.isposinf(scores).any(axis=1, keepdims=True)
    odd = hot | np.isnan(scores).any(axis=1, keepdims=True)
    yield np.where(odd, np.nan_to_num(truth, nan=0.0), truth)
    yield np.where(hot, np.nan_to_num(truth, nan=0.0), truth)
    yield np.nan_to_num(truth, nan=0.0)
    for cap in (largest, FLOAT32_MAX, 3e38, 1e38, 1e30, 1e4):
        for limited in _limited(scores, cap):
            yield _softmax(limited)
        yield _softmax(np.nan_to_num(scores, nan=0.0, posinf=cap, neginf=-np.inf))
    # The +inf is dropped as if it were a masked score.
    yield _softmax(np.where(np.isposinf(scores), -np.inf, scores))
    yield _softmax(np.where(np.isfinite(scores), scores, -np.inf))


def minus_infinity_row_as_number(x: Array) -> Iterator[Float]:
    """A row of nothing but -inf gives numbers; for the plain operator it must be NaN."""
    scores = _scores(x)
    truth = _softmax(scores)
    dead = np.isneginf(scores).all(axis=1, keepdims=True)
    for number in (0.0, 1.0 / x.shape[1], 1.0):
        yield np.where(dead, number, truth)


def low_precision_sum(x: Array) -> Iterator[Float]:
    """The running sum is kept in the input's 16-bit dtype, which rounds it and loses small terms."""
    if x.dtype.itemsize != 2:
        return
    scores = _scores(x)
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    for block in (*BLOCKS, 1 << (x.shape[1] - 1).bit_length()):
        yield weights / _running_sum(_block_sums(weights, block), x.dtype)
        yield weights / _running_sum(_block_sums(weights.astype(x.dtype).astype(np.float64), block), x.dtype)


def _scores(x: Array) -> Float:
    return np.array(x, dtype=np.float64, order="C")


def _limited(scores: Float, limit: float) -> Iterator[Float]:
    """Scores cut off above, or on both sides; a NaN stays, or (as in tl.minimum) gives way to the limit."""
    yield np.minimum(scores, limit)
    yield np.clip(scores, -limit, limit)
    if np.isnan(scores).any():
        yield np.fmin(scores, limit)
        yield np.fmax(np.fmin(scores, limit), -limit)
        yield np.fmin(np.fmax(scores, -limit), limit)


def _softmax(scores: Float) -> Float:
    return _shares(np.exp(scores - scores.max(axis=1, keepdims=True)))


def _shares(weights: Float, axis: int = 1) -> Float:
    """Divide by a sum that overflows where a float32 does."""
    return weights / _rounded(weights.sum(axis=axis, keepdims=True))


def _exp_in_float32(scores: Float) -> Float:
    return _rounded(np.exp(scores))


def _rounded(values: Float) -> Float:
    """Infinity above the float32 range and 0 below it (a GPU flushes what is not normal)."""
    inside = np.where(values > FLOAT32_MAX, np.inf, values)
    return np.where(np.abs(inside) < FLOAT32_SMALLEST_NORMAL, 0.0, inside)


def _padded_lanes(cols: int) -> Iterator[int]:
    """How many lanes past the row a block size leaves, each count once."""
    blocks = (1 << (cols - 1).bit_length(), *BLOCKS)
    counts = {-(-cols // block) * block - cols for block in blocks}
    yield from sorted(counts - {0})


def _largest(x: Array) -> float:
    return {"float16": 65504.0, "bfloat16": 3.3895314e38}.get(str(x.dtype), FLOAT32_MAX)


def _block_sums(weights: Float, block: int) -> Float:
    """Exact sums of consecutive blocks of columns, shape (rows, blocks)."""
    return np.add.reduceat(weights, np.arange(0, weights.shape[1], block), axis=1)


def _running_sum(parts: Float, dtype: np.dtype[Any]) -> Float:
    """Add up the parts of each row one after another, rounded to `dtype` every time; shape (rows, 1)."""
    total = np.zeros(len(parts), dtype)
    for part in parts.T:
        total = (total.astype(np.float64) + part).astype(dtype)
    return total.astype(np.float64)[:, np.newaxis]
