"""Wrong models of online_math: what each well-known mistake computes.

A model takes the inputs of one case, `(x,)` for row_stats or the four of merge,
and yields the states (m, s) that the mistake may give, several where learners
write it in several ways. Unpacking the inputs of the other entry point fails,
which says that the mistake has no meaning there. Where two models agree on an
input, the more specific one stands first.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Float = NDArray[np.float64]
State = tuple[Float, Float]

NEG_INF = -np.inf
BLOCKS = (4, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384)
STARTS = (0.0, -1.0, -100.0, -1e3, -1e4, -65504.0, -1e5, -1e6, -1e9, -1e10, -1e20, -1e30, -1e37, -1e38, -3.4028235e38)
MOST_STEPS = 1024
FLOAT32_MAX = float(np.finfo(np.float32).max)
FLOAT32_SMALLEST_NORMAL = 2.0**-126


def state_not_updated(*arguments: Array) -> State:
    """The state of an empty row was stored: no score has joined it yet."""
    (x,) = arguments
    return np.full(len(x), NEG_INF), np.zeros(len(x))


def second_part_dropped(*arguments: Array) -> Iterator[State]:
    """One of the two states was returned as it came in; the other never joined it."""
    m_a, s_a, m_b, s_b = _states(arguments)
    yield m_a, s_a
    yield m_b, s_b


def results_swapped(*arguments: Array) -> Iterator[State]:
    """The sum was returned first and the maximum second."""
    m, s = _truth(arguments)
    yield s, m
    # It may be in one of the two entry points alone.
    yield m, s


def log_sum_returned(*arguments: Array) -> Iterator[State]:
    """The logarithm of the sum was returned in place of the sum."""
    (x,) = arguments
    m, s = _state(_scores(x))
    yield m, np.log(s)
    yield m, m + np.log(s)


def no_max_subtraction(*arguments: Array) -> Iterator[State]:
    """The maximum is not subtracted before exp."""
    (x,) = arguments
    scores = _scores(x)
    total = _rounded(_rounded(np.exp(scores)).sum(axis=1))
    yield _top(scores), total
    yield np.zeros(len(scores)), total


def padding_lanes_as_zero(*arguments: Array) -> Iterator[State]:
    """Lanes past the end of the row are loaded as 0 and join the maximum and the sum."""
    (x,) = arguments
    scores = _scores(x)
    top = _top(scores)
    if not scores.shape[1]:
        return
    for lanes in (0, *_padded_lanes(scores.shape[1])):
        raised = np.maximum(top, 0.0)
        weights, padding = _weights(scores, raised), _rounded(np.exp(-raised))
        yield raised, weights.sum(axis=1) + lanes * padding
        # Only the maximum has the extra lanes, or only the sum.
        yield raised, weights.sum(axis=1)
        yield top, _rounded(_weights(scores, top).sum(axis=1) + lanes * _rounded(np.exp(-_shift(top))))


def missing_other(*arguments: Array) -> Iterator[State]:
    """Masked lanes have no value of their own, and they joined the sum."""
    (x,) = arguments
    top, total = _state(_scores(x))
    if x.shape[1] % BLOCKS[-1]:
        yield top, np.full_like(total, np.nan)
    if any(x.shape[1] % block == 0 for block in _blocks(x.shape[1])):
        yield top, total


def finite_initial_max(*arguments: Array) -> Iterator[State]:
    """The running maximum starts at a number: a row below it has that number as maximum, and the sum 0."""
    (x,) = arguments
    scores = _scores(x)
    for start in STARTS:
        raised = np.maximum(_top(scores), start)
        # The lanes past the row, or all -inf, may hold that number as well.
        for values in (scores, np.maximum(scores, start)):
            total = _weights(values, raised).sum(axis=1)
            for lanes in (0, *_padded_lanes(scores.shape[1])):
                yield raised, total + np.where(raised == start, lanes, 0)


def unguarded_rescale(*arguments: Array) -> Iterator[State]:
    """Minus infinity was subtracted from minus infinity, before the first finite score or in a row without one."""
    (x,) = arguments
    scores = _scores(x)
    cols = scores.shape[1]
    if not cols:
        return
    top, total = _state(scores)
    for block in _blocks(cols):
        blocked = scores[:, :block] == NEG_INF
        lanes = blocked.any(axis=1) | (block > cols)
        starts = np.arange(0, cols, block)
        any_block = (np.maximum.reduceat(scores, starts, axis=1) == NEG_INF).any(axis=1)
        for dead in (blocked.all(axis=1), any_block, lanes):
            yield top, np.where(dead, np.nan, total)
            yield np.where(dead, np.nan, top), np.where(dead, np.nan, total)


def minus_infinity_counted(*arguments: Array) -> Iterator[State]:
    """In a row of nothing but -inf every score counts as 1, as if it were a maximum."""
    (x,) = arguments
    top, total = _state(_scores(x))
    cols = x.shape[1]
    for count in (cols, *(cols + lanes for lanes in _padded_lanes(cols)), 1):
        yield top, np.where(top == NEG_INF, count, total)


def columns_dropped(*arguments: Array) -> Iterator[State]:
    """Only the first block of the row is read, or the last, partial one is left out."""
    (x,) = arguments
    scores = _scores(x)
    cols = scores.shape[1]
    for block in _blocks(cols):
        for kept in (block, cols // block * block):
            yield _state(scores[:, :kept])


def first_block_again(*arguments: Array) -> Iterator[State]:
    """Every step of the loop reads the first block of the row again."""
    (x,) = arguments
    scores = _scores(x)
    cols = scores.shape[1]
    for block in _blocks(cols):
        top, total = _state(scores[:, :block])
        whole, rest = divmod(cols, block)
        yield top, total * -(-cols // block)
        # The mask moves on, the address does not: the last step reads as much as is left.
        yield top, total * whole + _weights(scores[:, :rest], top).sum(axis=1)


def only_the_last_block(*arguments: Array) -> Iterator[State]:
    """Every block overwrites the state of those before it, so that only the last one counts."""
    (x,) = arguments
    scores = _scores(x)
    cols = scores.shape[1]
    for block in _blocks(cols):
        last = scores[:, (cols - 1) // block * block :]
        yield _state(last)
        # The maximum is that of the row, and the sum alone is overwritten.
        top = _top(scores)
        yield top, _weights(last, top).sum(axis=1)
        yield top, _state(last)[1]


def missing_rescale(*arguments: Array) -> Iterator[State]:
    """The old sum is not scaled to the new maximum when the maximum rises."""
    (x,) = arguments
    scores = _scores(x)
    top = _top(scores)
    for block in (1, *_blocks(scores.shape[1])):
        yield top, _weights(scores, _running_maximum(scores, block)).sum(axis=1)
    for lanes in _blocks(scores.shape[1]):
        # The lanes of a block are each right, and added up as they are; or wrong already.
        tops, totals = _lane_states(scores, lanes)
        yield top, totals.sum(axis=1)
        running = _running_lane_maximum(scores, lanes)
        sums = _lane_sums(_weights(scores, running), lanes)
        yield top, (sums * _exp(tops - _shift(top)[:, np.newaxis])).sum(axis=1)


def inverted_rescale(*arguments: Array) -> Iterator[State]:
    """The old sum is multiplied by exp(new - old) instead of exp(old - new)."""
    (x,) = arguments
    scores = _scores(x)
    top = _top(scores)
    if not scores.shape[1]:
        return
    for block in (1, *_blocks(scores.shape[1])):
        running = _running_maximum(scores, block)
        # Each part is scaled up by what it should have been scaled down by.
        up = np.exp(_shift(top)[:, np.newaxis] - _shift(running))
        yield top, _rounded((_weights(scores, running) * up).sum(axis=1))
    # From the first maximum, -inf, the factor is infinite, and 0 times infinity is NaN.
    yield top, np.full_like(top, np.nan)
    yield top, np.where(top == NEG_INF, 0.0, np.nan)


def missing_log2e(*arguments: Array) -> Iterator[State]:
    """The function exp2 was used without the factor log2(e)."""
    if len(arguments) == 1:
        scores = _scores(arguments[0])
        yield _top(scores), np.exp2(scores - _shift(_top(scores))[:, np.newaxis]).sum(axis=1)
    else:
        m_a, s_a, m_b, s_b = _states(arguments)
        m = np.maximum(m_a, m_b)
        yield m, s_a * np.exp2(m_a - _shift(m)) + s_b * np.exp2(m_b - _shift(m))
    # It may be in one of the two entry points alone.
    yield _truth(arguments)


def row_stride_ignored(*arguments: Array) -> State:
    """Rows are read n_cols elements apart, although x.stride(0) says otherwise."""
    (x,) = arguments
    packed = np.lib.stride_tricks.as_strided(x, x.shape, (x.shape[1] * x.itemsize, x.itemsize))
    return _state(_scores(packed))


def low_precision_sum(*arguments: Array) -> Iterator[State]:
    """The running sum is kept in the input's 16-bit dtype, which rounds it and loses small terms."""
    (x,) = arguments
    if x.dtype.itemsize != 2:
        return
    scores = _scores(x)
    top = _top(scores)
    weights = _weights(scores, top)
    for block in _blocks(x.shape[1]):
        for parts in (weights, weights.astype(x.dtype).astype(np.float64)):
            yield top, _running_sum(np.add.reduceat(parts, np.arange(0, x.shape[1], block), axis=1), x.dtype)


def infinity_swallowed(*arguments: Array) -> Iterator[State]:
    """A row with +inf or NaN gives an ordinary sum, where the sum must be NaN."""
    (x,) = arguments
    scores = _scores(x)
    top, total = _state(scores)
    hot, lost = np.isposinf(scores), np.isnan(scores)
    odd = np.isnan(total)
    seen = np.where(lost, NEG_INF, scores)
    sums = [np.where(odd, number, total) for number in (0.0, 1.0, np.inf)]
    sums.append(np.where(hot.any(axis=1), hot.sum(axis=1), total))
    sums.append(np.where(hot.any(axis=1), hot.sum(axis=1), _state(seen)[1]))
    sums.append(np.where(hot.any(axis=1) & ~lost.any(axis=1), hot.sum(axis=1), total))
    sums.append(_state(seen)[1])
    for one in sums:
        yield top, one
        # Where a maximum keeps NaN.
        yield np.where(lost.any(axis=1), np.nan, top), one
    yield _state(np.where(np.isfinite(scores), scores, NEG_INF))
    yield _state(np.where(hot, NEG_INF, scores))
    for cap in (65504.0, 3.3895314e38, FLOAT32_MAX, 3e38, 1e38, 1e30):
        yield _state(np.minimum(scores, cap))
        yield _state(np.minimum(seen, cap))
        # A minimum on the GPU passes over NaN.
        yield _state(np.fmin(scores, cap))


def empty_not_neutral(*arguments: Array) -> Iterator[State]:
    """Merging with an empty state gives NaN, or an empty state, or loses the other part."""
    m_a, s_a, m_b, s_b = _states(arguments)
    m, s = _truth(arguments)
    both, either = m == NEG_INF, (m_a == NEG_INF) | (m_b == NEG_INF)
    for hit in (both, either):
        for number in (np.nan, 0.0, 1.0):
            yield m, np.where(hit, number, s)
        yield np.where(hit, np.nan, m), np.where(hit, np.nan, s)
        yield np.where(hit, NEG_INF, m), np.where(hit, 0.0, s)
        yield np.where(hit, 0.0, m), np.where(hit, 0.0, s)
    yield m, np.where(both, s_a + s_b, np.where(either, np.nan, s))
    for start in STARTS:
        yield np.maximum(m, start), np.where(both, 0.0, s)


def sums_added(*arguments: Array) -> State:
    """The two sums are added as they are, although they are measured against different maxima."""
    m_a, s_a, m_b, s_b = _states(arguments)
    return np.maximum(m_a, m_b), s_a + s_b


def merge_upside_down(*arguments: Array) -> Iterator[State]:
    """The sums are multiplied by exp(new - old) instead of exp(old - new) before they are added."""
    m_a, s_a, m_b, s_b = _states(arguments)
    m = np.maximum(m_a, m_b)
    yield m, _rounded(s_a * _rounded(np.exp(m - m_a)) + s_b * _rounded(np.exp(m - m_b)))
    shift = _shift(m)
    yield m, _rounded(s_a * _rounded(np.exp(shift - m_a)) + s_b * _rounded(np.exp(shift - m_b)))
    grown = [np.where(old == NEG_INF, 0.0, s * _rounded(np.exp(m - old))) for old, s in ((m_a, s_a), (m_b, s_b))]
    yield m, _rounded(grown[0] + grown[1])


def scaled_to_one_side(*arguments: Array) -> Iterator[State]:
    """Both sums are measured against the maximum of one part, although the other may be the larger."""
    m_a, s_a, m_b, s_b = _states(arguments)
    m = np.maximum(m_a, m_b)
    for top, kept, other, scaled in ((m_a, s_a, m_b, s_b), (m_b, s_b, m_a, s_a)):
        total = kept + scaled * _rounded(np.exp(other - top))
        guarded = kept + scaled * _rounded(np.exp(other - _shift(top)))
        for s in (total, guarded):
            yield m, _rounded(s)
            yield top, _rounded(s)


def factors_crossed(*arguments: Array) -> Iterator[State]:
    """Each of the two sums was multiplied by the factor of the other one."""
    if len(arguments) == 1:
        yield from _crossed_by_block(_scores(arguments[0]))
    else:
        m_a, s_a, m_b, s_b = _states(arguments)
        m = np.maximum(m_a, m_b)
        for shift in (_shift(m), m):
            yield m, _rounded(s_a * _exp(m_b - shift) + s_b * _exp(m_a - shift))
    # It may be in one of the two entry points alone.
    yield _truth(arguments)


def smaller_part_dropped(*arguments: Array) -> Iterator[State]:
    """The state with the larger maximum was kept and the other one dropped."""
    m_a, s_a, m_b, s_b = _states(arguments)
    m = np.maximum(m_a, m_b)
    yield m, np.where(m_a >= m_b, s_a, s_b)
    yield m, np.where(m_a > m_b, s_a, s_b)
    yield m, np.maximum(s_a, s_b)


def _scores(x: Array) -> Float:
    return np.array(x, dtype=np.float64, order="C")


def _states(arguments: tuple[Array, ...]) -> tuple[Float, Float, Float, Float]:
    m_a, s_a, m_b, s_b = (np.asarray(one, dtype=np.float64) for one in arguments)
    return m_a, s_a, m_b, s_b


def _truth(arguments: tuple[Array, ...]) -> State:
    if len(arguments) == 1:
        return _state(_scores(arguments[0]))
    m_a, s_a, m_b, s_b = _states(arguments)
    m = np.maximum(m_a, m_b)
    return m, s_a * np.exp(m_a - _shift(m)) + s_b * np.exp(m_b - _shift(m))


def _state(scores: Float) -> State:
    top = _top(scores)
    return top, _weights(scores, top).sum(axis=1)


def _crossed_by_block(scores: Float) -> Iterator[State]:
    """The state of rows whose blocks were merged with crossed factors, for each block size."""
    cols = scores.shape[1]
    for block in _blocks(cols):
        if cols > MOST_STEPS * block:
            continue
        m, s = _state(scores[:, :0])
        for start in range(0, cols, block):
            block_m, block_s = _state(scores[:, start : start + block])
            old, m = m, np.fmax(m, block_m)
            s = _rounded(s * _exp(block_m - _shift(m)) + block_s * _exp(old - _shift(m)))
        yield m, s


def _top(scores: Float) -> Float:
    """A maximum on the GPU passes over NaN, as fmax does."""
    return np.fmax.reduce(scores, axis=1, initial=NEG_INF)


def _shift(top: Float) -> Float:
    return np.where(top == NEG_INF, 0.0, top)


def _weights(scores: Float, top: Float) -> Float:
    """exp(scores - top), for one maximum a row or one for each score."""
    return _exp(scores - _shift(top if top.ndim == 2 else top[:, np.newaxis]))


def _exp(exponents: Float) -> Float:
    return _rounded(np.exp(exponents))


def _rounded(values: Float) -> Float:
    """Infinity above the float32 range and 0 below it (a GPU flushes what is not normal)."""
    inside = np.where(values > FLOAT32_MAX, np.inf, values)
    return np.where(np.abs(inside) < FLOAT32_SMALLEST_NORMAL, 0.0, inside)


def _blocks(cols: int) -> tuple[int, ...]:
    """Block sizes a learner may have chosen: the whole row first, then a fixed block in a loop."""
    if not cols:
        return ()
    whole_row = 1 << (cols - 1).bit_length()
    return (whole_row, *(block for block in BLOCKS if block != whole_row))


def _padded_lanes(cols: int) -> tuple[int, ...]:
    """How many lanes past the row a block size leaves, each count once."""
    return tuple(sorted({-cols % block for block in _blocks(cols)} - {0}))


def _running_maximum(scores: Float, block: int) -> Float:
    """The maximum of all blocks so far, for each score of a block; shape (rows, cols)."""
    cols = scores.shape[1]
    if not cols:
        return scores
    starts = np.arange(0, cols, block)
    running = np.maximum.accumulate(np.fmax.reduceat(scores, starts, axis=1), axis=1)
    return np.repeat(running, block, axis=1)[:, :cols]


def _by_lane(values: Float, lanes: int, fill: float) -> Float:
    """Scores of each lane one after another; shape (rows, steps, lanes)."""
    rows, cols = values.shape
    padded = np.concatenate([values, np.full((rows, -cols % lanes), fill)], axis=1)
    return padded.reshape(rows, -1, lanes)


def _running_lane_maximum(scores: Float, lanes: int) -> Float:
    """The maximum of a lane so far, for each of its scores; shape (rows, cols)."""
    running = np.fmax.accumulate(_by_lane(scores, lanes, NEG_INF), axis=1)
    return running.reshape(len(scores), -1)[:, : scores.shape[1]]


def _lane_sums(weights: Float, lanes: int) -> Float:
    return _by_lane(weights, lanes, 0.0).sum(axis=1)


def _lane_states(scores: Float, lanes: int) -> State:
    """Maximum and sum of each lane; shape (rows, lanes)."""
    split = _by_lane(scores, lanes, NEG_INF)
    tops = np.fmax.reduce(split, axis=1)
    return tops, _exp(split - _shift(tops)[:, np.newaxis]).sum(axis=1)


def _running_sum(parts: Float, dtype: np.dtype[Any]) -> Float:
    """Add up the parts of each row one after another, rounded to `dtype` every time; shape (rows,)."""
    total = np.zeros(len(parts), dtype)
    for part in parts.T:
        total = (total.astype(np.float64) + part).astype(dtype)
    return total.astype(np.float64)
