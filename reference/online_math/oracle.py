"""The float64 truth of online_math: the two kernels, and the answers of the worksheet."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Float = NDArray[np.float64]
Formats = tuple[float, float, float]
"""One number for each of float32, float16 and bfloat16."""

ROWS, COLUMNS, ELEMENT_BYTES = 8192, 4096, 4
BYTES_A_SECOND = 2.0e12
HEAD_DIMENSION = 128
SPREAD_SCORE = 50.0
MANY_SCORES, DISTANCE_BELOW = 131_071, 17.5
FLOPS_AN_ELEMENT = 8 + 1 + 1 + 1

# Loads and stores of the tensor by each form, in the order of the worksheet.
READS = {"naive": 2, "safe": 3, "online": 2, "cached": 1}
WRITES = 1
UNFUSED = {"scale": (1, 1), "mask": (1, 1), "softmax": (2, 1)}
FUSED = (1, 1)

_FORMATS = (np.finfo(np.float32), np.finfo(np.float16), ml_dtypes.finfo(ml_dtypes.bfloat16))


def row_stats(x: Array) -> tuple[Float, Float]:
    """Maximum of each row, and the sum of exp(x - maximum).

    Args:
        x: shape (rows, cols), float32, float16 or bfloat16, any strides; either extent may be 0.

    Returns:
        (m, s), float64 of shape (rows,). A row without a score above -inf is (-inf, 0). A row with NaN or +inf has
        the sum NaN, and as maximum that of its numbers.
    """
    scores = np.array(x, dtype=np.float64, order="C")
    top = np.fmax.reduce(scores, axis=1, initial=-np.inf)
    with np.errstate(invalid="ignore", under="ignore"):
        total = np.exp(scores - _shift(top)[:, np.newaxis]).sum(axis=1)
    return top, total


def merge(m_a: Array, s_a: Array, m_b: Array, s_b: Array) -> tuple[Float, Float]:
    """The state of two parts of a row together, element by element.

    Args:
        m_a: maxima of the first parts, shape (n,); -inf where a part is empty.
        s_a: their sums relative to m_a; 0 where a part is empty.
        m_b: maxima of the second parts.
        s_b: their sums.

    Returns:
        (m, s), float64 of shape (n,).
    """
    states = [np.asarray(one, dtype=np.float64) for one in (m_a, s_a, m_b, s_b)]
    top = np.fmax(states[0], states[2])
    shift = _shift(top)
    with np.errstate(invalid="ignore", under="ignore"):
        total = states[1] * np.exp(states[0] - shift) + states[3] * np.exp(states[2] - shift)
    return top, total


def _shift(top: Float) -> Float:
    """What to subtract: -inf minus -inf would be NaN, and any number gives exp(-inf) = 0."""
    return np.where(top == -np.inf, 0.0, top)


def largest_finite() -> Formats:
    """The largest finite number of each format."""
    return _each(lambda info: float(info.max))


def stored_bits() -> Formats:
    """Bits of the fraction that each format stores."""
    return _each(lambda info: int(info.nmant))


def overflow() -> Formats:
    """The largest x for which exp(x) is finite."""
    return _each(lambda info: math.log(float(info.max)))


def underflow() -> Formats:
    """The x below which exp(x) is less than the smallest normal number."""
    return _each(lambda info: math.log(float(info.smallest_normal)))


def sum_of_ones() -> Formats:
    """Where a sum of ones stops growing: one more would need a bit that the format does not have."""
    return _each(lambda info: 2 ** (int(info.nmant) + 1))


def _each(figure: Any) -> Formats:
    one, two, three = (figure(info) for info in _FORMATS)
    return one, two, three


def lost_share() -> float:
    """The share of the sum that float16 exponentials lose: each of the many rounds to 0."""
    weight = float(np.exp(-DISTANCE_BELOW))
    seen = 1.0 + MANY_SCORES * float(np.float16(weight))
    true = 1.0 + MANY_SCORES * weight
    return (true - seen) / true


def headroom() -> tuple[float, float]:
    """Float16's overflow threshold in standard deviations of q . k, and of q . k / sqrt(d)."""
    threshold = overflow()[1]
    return threshold / math.sqrt(HEAD_DIMENSION), threshold


def small_score() -> tuple[float, float]:
    """What exp of the small score gives in float32, and how many such scores reach 2^-24 of the sum."""
    exponent = -SPREAD_SCORE - SPREAD_SCORE
    flushed = 0.0 if exponent < underflow()[0] else math.exp(exponent)
    return flushed, 2.0**-24 / math.exp(exponent)


def running_sums(x: Sequence[float]) -> tuple[float, ...]:
    """The sum after each score, from its definition: all scores so far against their maximum."""
    return tuple(sum(math.exp(one - max(x[: k + 1])) for one in x[: k + 1]) for k in range(len(x)))


def expected_new_maxima(n: int) -> float:
    """How many of n values in random order are larger than all before: the k-th is with probability 1/k."""
    return math.fsum(1.0 / k for k in range(1, n + 1))


def merge_rounds(n: int) -> int:
    """Rounds until one state is left, where each round merges pairs."""
    return (n - 1).bit_length()


def tensor_bytes() -> int:
    """Bytes of the tensor."""
    return ROWS * COLUMNS * ELEMENT_BYTES


def traversals() -> tuple[int, ...]:
    """Loads and stores of the whole tensor by each form."""
    return tuple(reads + WRITES for reads in READS.values())


def microseconds() -> tuple[float, ...]:
    """The least time of each form."""
    return tuple(passes * tensor_bytes() / BYTES_A_SECOND * 1e6 for passes in traversals())


def speedups() -> tuple[float, float]:
    """The online and the cached form over the safe one."""
    _, safe, online, cached = traversals()
    return safe / online, safe / cached


def intensity() -> float:
    """FLOP a byte of the cached form."""
    return FLOPS_AN_ELEMENT / (traversals()[-1] * ELEMENT_BYTES)


def fusion() -> tuple[int, int]:
    """Traversals of the three kernels, and of the one."""
    return sum(sum(one) for one in UNFUSED.values()), sum(FUSED)


def columns_that_outgrow(cache_bytes: int, resident_rows: int, element_bytes: int) -> float:
    """Columns of a row at which all resident rows together fill the cache."""
    return cache_bytes / (resident_rows * element_bytes)


def update_output(m: float, o: float, x: Sequence[float], v: Sequence[float]) -> float:
    """One coordinate of the unnormalised output after one more tile."""
    top = max(m, *x)
    return o * math.exp(m - top) + math.fsum(math.exp(one - top) * value for one, value in zip(x, v, strict=True))


def standard_elements(n: int, d: int) -> int:
    """Elements that three kernels move: Q, K -> S; S -> P; P, V -> O."""
    return (2 * n * d + n * n) + 2 * n * n + (n * n + 2 * n * d)


def tiled_elements(n: int, d: int, tile: int) -> float:
    """Elements that one kernel moves, where each tile of queries reads all of K and V."""
    return 2 * n * d + n / tile * 2 * n * d


def log_softmax(x: Sequence[float]) -> tuple[float, ...]:
    """The logarithm of each probability."""
    top = max(x)
    log_sum = math.log(math.fsum(math.exp(one - top) for one in x))
    return tuple((one - top) - log_sum for one in x)
