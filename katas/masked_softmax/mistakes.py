"""Wrong models of masked_softmax: what each well-known mistake computes.

Each function takes the inputs of one case and yields the outputs that the
mistake may give (several, where learners write it in several ways). Order
matters where two models agree on an input: the more specific one stands first.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.generic]
Float = NDArray[np.float64]

NEG_INF = -np.inf
SMALLEST_NORMAL = 2.0**-126
BLOCKS = (16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192)


def sentinel_out_of_range(x: Array, mask: Array) -> Iterator[Float]:
    """The fill value, such as -1e9, does not fit into float16 and turns into -inf: a fully masked row is NaN."""
    scores = _scores(x, mask)
    # In the wider formats the fill is an ordinary number, so nothing is wrong there.
    yield _softmax(scores, guard=x.dtype != np.float16)


def masked_row_nan(x: Array, mask: Array) -> Iterator[Float]:
    """A row whose every score is -inf becomes NaN: -inf minus -inf, or 0 divided by 0."""
    yield _softmax(_scores(x, mask), guard=False)


def masked_row_uniform(x: Array, mask: Array) -> Iterator[Float]:
    """A fully masked row gets equal shares: the finite fill is its maximum and cancels against itself."""
    scores, blocked = _scores(x, mask), mask == NEG_INF
    dead = (scores == NEG_INF).all(axis=1, keepdims=True)
    if not dead.any():
        return
    for fill in (-1e9, -1e30):
        yield _softmax(np.where(scores == NEG_INF, fill, scores), guard=False)
        yield _softmax(np.where(blocked, fill, scores), guard=False)
        yield _softmax(np.where(blocked, fill, scores), guard=True)
        yield _softmax(_add(x, np.where(blocked, fill, mask)), guard=False)
    for block in _blocks(x.shape[1]):
        padded = -(-x.shape[1] // block) * block
        yield np.where(dead, 1.0 / padded, _softmax(scores, guard=True))


def weak_sentinel(x: Array, mask: Array) -> Iterator[Float]:
    """Masked scores get a finite number that is not below every real score, so masked columns can win."""
    scores, blocked = _scores(x, mask), mask == NEG_INF
    dead = blocked.all(axis=1, keepdims=True)
    for fill in (-1e4, -1e3, -65504.0, -100.0):
        added = _add(x, np.where(blocked, fill, mask))
        for filled in (np.where(blocked, fill, scores), np.where(scores == NEG_INF, fill, scores), added):
            yield np.where(dead, 0.0, _softmax(filled, guard=True))
        if dead.any():
            yield _softmax(added, guard=True)


def mask_polarity(x: Array, mask: Array) -> Iterator[Float]:
    """The mask is used the wrong way round: the masked columns are kept and the others dropped."""
    values = x.astype(np.float64)
    for kept in (np.where(mask == NEG_INF, values, NEG_INF), np.where(mask == 0.0, NEG_INF, values)):
        yield from (_softmax(kept, guard=guard) for guard in (True, False))
    subtracted = _add(x, -mask.astype(np.float64))
    yield from (_softmax(subtracted, guard=guard) for guard in (True, False))


def mask_multiplied(x: Array, mask: Array) -> Iterator[Float]:
    """The mask is multiplied into the scores: a masked score becomes 0, and 0 is still a score."""
    values = x.astype(np.float64)
    with np.errstate(invalid="ignore"):
        yield _softmax(values * (mask == 0.0), guard=True)
        yield _softmax(values * (mask != NEG_INF), guard=True)
        yield _softmax(np.where(mask == NEG_INF, 0.0, _scores(x, mask)), guard=True)
        yield _softmax(values * mask.astype(np.float64), guard=True)


def mask_as_bias(x: Array, mask: Array) -> Iterator[Float]:
    """The mask was turned into 0 and 1 and then added: a small bias hides nothing."""
    for flag in (mask == 0.0, mask != NEG_INF, mask == NEG_INF):
        yield _softmax(_add(x, flag.astype(np.float64)), guard=True)


def bias_as_mask(x: Array, mask: Array) -> Iterator[Float]:
    """The mask only decides what is hidden: a finite bias hides its column or is dropped, instead of being added."""
    values = x.astype(np.float64)
    biased = np.isfinite(mask) & (mask != 0.0)
    # Without a finite bias in it, a mask does decide no more than that.
    if not biased.any():
        return
    for hidden in (mask < 0.0, mask != 0.0, mask == NEG_INF):
        for scores in (values, _scores(x, mask)):
            if (hidden & biased).any() or scores is values:
                yield _softmax(np.where(hidden, NEG_INF, scores), guard=True)


def masked_after_normalising(x: Array, mask: Array) -> Iterator[Float]:
    """The masked columns are set to 0 after the division: they joined the sum, so the row adds up to less than 1."""
    values, blocked = x.astype(np.float64), mask == NEG_INF
    biased = np.where(blocked, values, _scores(x, mask))
    for scores in (values, biased):
        for guard in (True, False):
            probabilities = _softmax(scores, guard=guard)
            yield np.where(blocked, 0.0, probabilities)
            yield probabilities * ~blocked
    with np.errstate(over="ignore", invalid="ignore"):
        yield _softmax(values, guard=True) * np.exp(mask.astype(np.float64))


def mask_stride_ignored(x: Array, mask: Array) -> Iterator[Float]:
    """The mask is read as if it were packed, or laid out like x: its own strides are not used."""
    row_stride = x.strides[0] // x.itemsize
    for stride in (x.shape[1], row_stride):
        misread = _reread(mask, (stride, 1))
        if misread is not None:
            yield _softmax(_scores(x, misread), guard=True)
    misread = _reread(mask, (mask.strides[0] // mask.itemsize, 1))
    if misread is not None:
        yield _softmax(_scores(x, misread), guard=True)


def row_stride_ignored(x: Array, mask: Array) -> Iterator[Float]:
    """The number of columns is used as x's row stride, so rows start in the wrong place."""
    packed = _reread(x, (x.shape[1], 1))
    if packed is None:
        return
    packed_mask = _reread(mask, (x.shape[1], 1))
    for guard in (True, False):
        yield _softmax(_scores(packed, mask), guard=guard)
        if packed_mask is not None:
            yield _softmax(_scores(packed, packed_mask), guard=guard)


def no_max_subtraction(x: Array, mask: Array) -> Iterator[Float]:
    """The row maximum is not subtracted before exp, which overflows for large scores and vanishes for small ones."""
    with np.errstate(over="ignore", under="ignore", invalid="ignore", divide="ignore"):
        weights = _in_float32(np.exp(_scores(x, mask)))
        total = _in_float32(weights.sum(axis=1, keepdims=True))
        yield weights / np.where(total == 0.0, 1.0, total)
        yield weights / total


def max_added(x: Array, mask: Array) -> Iterator[Float]:
    """The row maximum is added to the scores, where it must be subtracted."""
    scores = _scores(x, mask)
    with np.errstate(over="ignore", under="ignore", invalid="ignore", divide="ignore"):
        top = np.fmax.reduce(scores, axis=1, keepdims=True, initial=NEG_INF)
        for shift in (np.where(top == NEG_INF, 0.0, top), top):
            weights = _in_float32(np.exp(_in_float32(scores + shift)))
            total = _in_float32(weights.sum(axis=1, keepdims=True))
            yield weights / np.where(total == 0.0, 1.0, total)
            yield weights / total


def max_of_unmasked_scores(x: Array, mask: Array) -> Iterator[Float]:
    """The maximum was taken of x alone, before the mask was added: it may be a hidden score's."""
    scores = _scores(x, mask)
    top = np.fmax.reduce(x.astype(np.float64), axis=1, keepdims=True, initial=NEG_INF)
    with np.errstate(over="ignore", under="ignore", invalid="ignore", divide="ignore"):
        for shift in (np.where(top == NEG_INF, 0.0, top), top):
            # Far below that maximum exp is no normal number, and a GPU flushes such to 0.
            exact = _in_float32(np.exp(_in_float32(scores - shift)))
            for weights in (exact, np.where(exact < SMALLEST_NORMAL, 0.0, exact)):
                total = _in_float32(weights.sum(axis=1, keepdims=True))
                yield weights / np.where(total == 0.0, 1.0, total)
                yield weights / total


def padding_lanes_as_zero(x: Array, mask: Array) -> Iterator[Float]:
    """Lanes past the last column count as scores of 0: they join the maximum and the sum."""
    scores = _scores(x, mask)
    rows, cols = scores.shape
    for block in _blocks(cols):
        padding = -cols % block
        if padding:
            padded = np.concatenate([scores, np.zeros((rows, padding))], axis=1)
            yield _softmax(padded, guard=True)[:, :cols]


def not_normalised(x: Array, mask: Array) -> Iterator[Float]:
    """The weights are stored without dividing by their sum."""
    scores = _scores(x, mask)
    for guard in (True, False):
        yield _weights(scores, guard=guard)
    with np.errstate(over="ignore"):
        yield np.exp(scores).astype(np.float32).astype(np.float64)


def low_precision_sum(x: Array, mask: Array) -> Iterator[Float]:
    """The running sum is kept in x's 16-bit dtype, which rounds it and loses small terms."""
    weights = _weights(_scores(x, mask), guard=True)
    if x.dtype.itemsize > 2:
        return
    for block in _blocks(x.shape[1]):
        total = np.zeros((x.shape[0], 1))
        for start in range(0, x.shape[1], block):
            part = weights[:, start : start + block].sum(axis=1, keepdims=True)
            total = (total + part).astype(np.float32).astype(x.dtype).astype(np.float64)
        yield weights / np.where(total == 0.0, 1.0, total)


def infinity_swallowed(x: Array, mask: Array) -> Iterator[Float]:
    """A NaN or +inf score gives ordinary numbers: a comparison or a guard hid it, and the row should be NaN."""
    scores, blocked = _scores(x, mask), mask == NEG_INF
    hidden = np.where(blocked, NEG_INF, scores)
    for candidate in (scores, hidden):
        top = np.fmax.reduce(candidate, axis=1, keepdims=True, initial=NEG_INF)
        yield np.where(top == NEG_INF, 0.0, _softmax(candidate, guard=True))
        yield np.where(blocked, 0.0, _softmax(candidate, guard=True))
        yield _softmax(np.where(np.isnan(candidate), NEG_INF, candidate), guard=True)
        yield np.nan_to_num(_softmax(candidate, guard=True), nan=0.0)
    yield _softmax(hidden, guard=True)


def _scores(x: Array, mask: Array) -> Float:
    return _add(x, mask.astype(np.float64))


def _add(x: Array, bias: Float) -> Float:
    """Add in float32, as a kernel does: next to a fill of -1e9 an ordinary score vanishes."""
    with np.errstate(invalid="ignore", over="ignore"):
        return _in_float32(x.astype(np.float64) + bias)


def _in_float32(values: Float) -> Float:
    """Rounded as a kernel does it: infinity above the range, and 0 far below it."""
    return values.astype(np.float32).astype(np.float64)


def _weights(scores: Float, *, guard: bool) -> Float:
    """exp(scores - row maximum); with `guard` a row of -inf gives zeros, without it NaN."""
    with np.errstate(invalid="ignore"):
        # A maximum on the GPU passes over NaN, as fmax does.
        top = np.fmax.reduce(scores, axis=1, keepdims=True, initial=NEG_INF)
        shift = np.where(top == NEG_INF, 0.0, top) if guard else top
        return np.exp(scores - shift)


def _softmax(scores: Float, *, guard: bool) -> Float:
    weights = _weights(scores, guard=guard)
    total = weights.sum(axis=1, keepdims=True)
    return weights / np.where(total == 0.0, 1.0, total)


def _blocks(cols: int) -> Iterator[int]:
    """Block sizes a learner may have chosen: the whole row first, then a fixed block in a loop."""
    whole_row = 1 << max(cols - 1, 0).bit_length()
    yield whole_row
    yield from (block for block in BLOCKS if block != whole_row)


def _reread(array: Array, strides: tuple[int, int]) -> Array | None:
    """View the memory of `array` from its first element on with other strides (in elements).

    None where that is no different, or would leave the storage.
    """
    rows, cols = array.shape
    wanted = (strides[0] * array.itemsize, strides[1] * array.itemsize)
    if wanted == array.strides or rows == 0 or cols == 0:
        return None
    storage = _storage(array)
    if storage is None:
        return None
    first = array.__array_interface__["data"][0] - storage.__array_interface__["data"][0]
    last = first + (rows - 1) * wanted[0] + (cols - 1) * wanted[1]
    if last + array.itemsize > storage.nbytes:
        return None
    return np.lib.stride_tricks.as_strided(array, strides=wanted)


def _storage(array: Array) -> Array | None:
    """The array that owns the memory of `array`, or None where no array does."""
    owner: Any = array
    while getattr(owner, "base", None) is not None:
        owner = owner.base
    return owner if isinstance(owner, np.ndarray) else None
