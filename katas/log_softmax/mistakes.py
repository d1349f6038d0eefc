"""Wrong models of log_softmax: what each well-known mistake computes.

Each function takes the input of one case and returns the output that the
mistake gives, or yields several where learners write it in several ways.
Where two models agree on an input, the more specific one stands first.
Sums and their logarithms are rounded to float32 where a kernel holds them:
close to zero the rounding is most of the result.
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
EPSILONS = (1e-45, 1e-38, 2.0**-126, 1e-30, 1e-20, 1e-16, 1e-15, 1e-12, 1e-10, 1e-9, 1e-8, 1e-7, 1e-6, 1e-5)
FLOAT32_MAX = float(np.finfo(np.float32).max)
FLOAT32_SMALLEST_NORMAL = 2.0**-126
LOG2E = float(np.float32(np.log2(np.e)))


def scores_copied(x: Array) -> Float:
    """The scores were stored as they came in; nothing has been computed yet."""
    return _scores(x)


def log_missing(x: Array) -> Float:
    """The probabilities were stored, and not their logarithms."""
    shifted, total = _parts(_scores(x))
    return np.exp(shifted) / total


def sum_without_log(x: Array) -> Float:
    """The sum itself was subtracted, and not its logarithm."""
    shifted, total = _parts(_scores(x))
    return shifted - total


def log_sum_added(x: Array) -> Float:
    """The logarithm of the sum was added, where it must be subtracted."""
    shifted, total = _parts(_scores(x))
    return shifted + np.log(total)


def max_missing_in_result(x: Array) -> Float:
    """The maximum was subtracted for the sum, but not from the scores in the result."""
    scores = _scores(x)
    return scores - np.log(_parts(scores)[1])


def not_normalised(x: Array) -> Iterator[Float]:
    """The logarithm of the sum was never subtracted."""
    scores = _scores(x)
    yield scores - scores.max(axis=1, keepdims=True)
    # tl.max passes over NaN, and without a sum nothing spreads it.
    yield scores - np.fmax.reduce(scores, axis=1, keepdims=True)


def log_of_softmax(x: Array) -> Iterator[Float]:
    """The logarithm is taken of the finished probability, which may have underflowed to 0."""
    shifted, total = _parts(_scores(x))
    weights = _float32(np.exp(shifted))
    shares = _float32(weights / total)
    flushed = _flushed(_flushed(weights) / total)
    for probabilities in (shares, _float32(_flushed(weights) / total), flushed):
        yield np.log(probabilities)
    if x.dtype.itemsize == 2:
        yield np.log(shares.astype(x.dtype).astype(np.float64))
    # A small number keeps the logarithm finite; it does not bring back what is lost.
    for epsilon in EPSILONS:
        yield np.log(_float32(flushed + epsilon))
        yield np.log(np.maximum(flushed, epsilon))
        yield np.log(np.fmax(flushed, epsilon))


def max_and_log_added_first(x: Array) -> Float:
    """Maximum and log(sum) are added before they are subtracted, which rounds the logarithm to the maximum's size."""
    scores = _scores(x)
    return scores - _float32(scores.max(axis=1, keepdims=True) + _float32(np.log(_parts(scores)[1])))


def scaled_before_subtracting(x: Array) -> Iterator[Float]:
    """Score and maximum are multiplied by log2(e) before their difference is taken, and the product was rounded."""
    scores = _scores(x)
    top = scores.max(axis=1, keepdims=True)
    # A multiply-add rounds one product of the two; without it both are rounded.
    exact, rounded = scores * LOG2E, _float32(scores * LOG2E)
    for difference in (exact - _float32(top * LOG2E), rounded - top * LOG2E, rounded - _float32(top * LOG2E)):
        total = _float32(np.exp2(_float32(difference)).sum(axis=1, keepdims=True))
        yield (scores - top) - np.log(total)


def log2_for_log(x: Array) -> Iterator[Float]:
    """A logarithm to base 2 stands where the natural one is needed."""
    shifted, total = _parts(_scores(x))
    yield shifted - np.log2(total)
    # The whole result to base 2, a half of it, and the factor the wrong way round.
    yield (shifted - np.log(total)) * LOG2E
    yield shifted * LOG2E - np.log(total)
    yield shifted - np.log2(total) * LOG2E


def missing_log2e(x: Array) -> Iterator[Float]:
    """exp2 was used without the factor log2(e), so the sum is one of powers of 2."""
    scores = _scores(x)
    shifted = scores - scores.max(axis=1, keepdims=True)
    total = np.exp2(shifted).sum(axis=1, keepdims=True)
    yield shifted - np.log(total)
    yield shifted - np.log2(total)


def no_max_subtraction(x: Array) -> Iterator[Float]:
    """The row maximum is not subtracted before exp."""
    scores = _scores(x)
    weights = _float32(np.exp(scores))
    for powers in (weights, _flushed(weights)):
        total = _float32(powers.sum(axis=1, keepdims=True))
        yield scores - _float32(np.log(total))
        yield np.log(_float32(powers / total))


def clamped_instead_of_max(x: Array) -> Iterator[Float]:
    """Scores are cut off at a fixed number so that exp stays finite, instead of subtracting the row maximum."""
    scores = _scores(x)
    for clamp in CLAMPS:
        for limited in _limited(scores, clamp):
            log_total = _float32(np.log(_float32(_float32(np.exp(limited)).sum(axis=1, keepdims=True))))
            yield limited - log_total
            yield scores - log_total


def padding_lanes_as_zero(x: Array) -> Iterator[Float]:
    """Lanes past the end of the row are loaded as 0 and join the maximum and the sum."""
    scores = _scores(x)
    top = scores.max(axis=1, keepdims=True)
    raised = np.maximum(top, 0.0)
    for lanes in _padded_lanes(scores.shape[1]):
        # Both have the extra lanes, then only the sum, then only the maximum.
        for shift, extra in ((raised, lanes), (top, lanes), (raised, 0)):
            weights = _float32(np.exp(scores - shift))
            total = weights.sum(axis=1, keepdims=True) + (extra * _float32(np.exp(-shift)) if extra else 0.0)
            yield (scores - shift) - np.log(_float32(total))


def wrong_axis(x: Array) -> Float:
    """Maximum and sum run down the columns instead of along the rows."""
    shifted, total = _parts(_scores(x), axis=0)
    return shifted - np.log(total)


def row_stride_ignored(x: Array) -> Float:
    """Rows are read n_cols elements apart, although x.stride(0) says otherwise."""
    packed = np.lib.stride_tricks.as_strided(x, x.shape, (x.shape[1] * x.itemsize, x.itemsize))
    return _log_softmax(_scores(packed))


def infinity_swallowed(x: Array) -> Iterator[Float]:
    """A row with +inf or NaN gives ordinary numbers, where the whole row must be NaN."""
    scores = _scores(x)
    truth = _log_softmax(scores)
    hot = np.isposinf(scores).any(axis=1, keepdims=True)
    odd = hot | np.isnan(scores).any(axis=1, keepdims=True)
    for number in (0.0, -np.inf):
        for where in (odd, hot, True):
            yield np.where(np.isnan(truth) & where, number, truth)
    for cap in (_largest(x), FLOAT32_MAX, 3e38, 1e38, 1e30, 1e4):
        for limited in _limited(scores, cap):
            yield _log_softmax(limited)
        yield _log_softmax(np.nan_to_num(scores, nan=0.0, posinf=cap, neginf=-np.inf))
    # What is odd is left out of the statistics, and perhaps out of the result too.
    for kept in (~np.isposinf(scores), np.isfinite(scores)):
        clean = np.where(kept, scores, -np.inf)
        yield _log_softmax(clean)
        yield scores - clean.max(axis=1, keepdims=True) - np.log(_parts(clean)[1])


def minus_infinity_row_as_number(x: Array) -> Iterator[Float]:
    """A row of nothing but -inf gives numbers or -inf; for the plain operator it must be NaN."""
    scores = _scores(x)
    truth = _log_softmax(scores)
    dead = np.isneginf(scores).all(axis=1, keepdims=True)
    for number in (-np.inf, 0.0, -np.log(x.shape[1])):
        yield np.where(dead, number, truth)


def low_precision_sum(x: Array) -> Iterator[Float]:
    """The sum, or its logarithm, is kept in the input's 16-bit dtype, which rounds it and loses small terms."""
    if x.dtype.itemsize != 2:
        return
    shifted, total = _parts(_scores(x))
    yield shifted - _rounded(np.log(total), x.dtype)
    weights = np.exp(shifted)
    for block in (*BLOCKS, 1 << (x.shape[1] - 1).bit_length()):
        yield shifted - np.log(_running_sum(_block_sums(weights, block), x.dtype))
        yield shifted - np.log(_running_sum(_block_sums(_rounded(weights, x.dtype), block), x.dtype))


def _scores(x: Array) -> Float:
    return np.array(x, dtype=np.float64, order="C")


def _parts(scores: Float, axis: int = 1) -> tuple[Float, Float]:
    """The scores less their maximum, and the sum of their exponentials."""
    shifted = scores - scores.max(axis=axis, keepdims=True)
    return shifted, _float32(np.exp(shifted).sum(axis=axis, keepdims=True))


def _log_softmax(scores: Float) -> Float:
    shifted, total = _parts(scores)
    return shifted - np.log(total)


def _limited(scores: Float, limit: float) -> Iterator[Float]:
    """Scores cut off above, or on both sides; a NaN stays, or (as in tl.minimum) gives way to the limit."""
    yield np.minimum(scores, limit)
    yield np.clip(scores, -limit, limit)
    if np.isnan(scores).any():
        yield np.fmin(scores, limit)
        yield np.fmax(np.fmin(scores, limit), -limit)
        yield np.fmin(np.fmax(scores, -limit), limit)


def _rounded(values: Float, dtype: Any) -> Float:
    return values.astype(dtype).astype(np.float64)


def _float32(values: Float) -> Float:
    return _rounded(values, np.float32)


def _flushed(values: Float) -> Float:
    """As float32, with 0 for what is not normal, as a GPU may have it."""
    rounded = _float32(values)
    return np.where(np.abs(rounded) < FLOAT32_SMALLEST_NORMAL, 0.0, rounded)


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
