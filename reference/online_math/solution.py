"""Maximum and sum of every row in one pass, states merged pair by pair, and the worksheet with its answers."""

import math

import torch
import triton
import triton.language as tl

MAX_BLOCK = 8192
MERGE_BLOCK = 1024


@triton.jit
def merged(m_a, s_a, m_b, s_b):
    """The state of two parts together; each argument a float32 scalar or block. (-inf, 0) is the empty part."""
    m = tl.maximum(m_a, m_b)
    # Two empty parts have no maximum to subtract: with 0 in its place, exp(-inf) makes both factors 0.
    shift = tl.where(m == float("-inf"), 0.0, m)
    return m, s_a * tl.exp(m_a - shift) + s_b * tl.exp(m_b - shift)


@triton.jit
def row_stats_kernel(x_ptr, m_ptr, s_ptr, cols, x_row_stride, BLOCK: tl.constexpr):
    """One program a row: each block of columns is loaded once, reduced to a state, and merged into the row's.

    x_ptr: (rows, cols), float32, float16 or bfloat16; rows x_row_stride elements apart, columns 1.
    m_ptr, s_ptr: (rows,), float32.
    BLOCK: a power of two, of any size. Grid: (rows,).
    """
    row = tl.program_id(0).to(tl.int64)  # row * stride may pass 2^31
    x_row = x_ptr + row * x_row_stride
    m = float("-inf")
    s = 0.0
    for start in range(0, cols, BLOCK):
        columns = start + tl.arange(0, BLOCK)
        x = tl.load(x_row + columns, mask=columns < cols, other=float("-inf")).to(tl.float32)
        block_m = tl.max(x, axis=0)
        shift = tl.where(block_m == float("-inf"), 0.0, block_m)
        block_s = tl.sum(tl.exp(x - shift), axis=0)
        m, s = merged(m, s, block_m, block_s)
    tl.store(m_ptr + row, m)
    tl.store(s_ptr + row, s)


@triton.jit
def merge_kernel(m_a_ptr, s_a_ptr, m_b_ptr, s_b_ptr, m_ptr, s_ptr, count, BLOCK: tl.constexpr):
    """Merge BLOCK pairs of states a program.

    All pointers: (count,), float32, contiguous.
    BLOCK: a power of two. Grid: (cdiv(count, BLOCK),).
    """
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < count
    m_a = tl.load(m_a_ptr + at, mask=inside, other=float("-inf"))
    s_a = tl.load(s_a_ptr + at, mask=inside, other=0.0)
    m_b = tl.load(m_b_ptr + at, mask=inside, other=float("-inf"))
    s_b = tl.load(s_b_ptr + at, mask=inside, other=0.0)
    m, s = merged(m_a, s_a, m_b, s_b)
    tl.store(m_ptr + at, m, mask=inside)
    tl.store(s_ptr + at, s, mask=inside)


def row_stats(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Return (m, s) of each row of x: its maximum, and the sum of exp(x - m); float32 of shape (rows,).

    x: (rows, cols), float32, float16 or bfloat16, unit column stride, any row stride.
    """
    rows, cols = x.shape
    m = torch.empty((rows,), dtype=torch.float32, device=x.device)
    s = torch.empty((rows,), dtype=torch.float32, device=x.device)
    if rows > 0:
        block = min(triton.next_power_of_2(max(cols, 1)), MAX_BLOCK)
        warps = min(max(block // 512, 1), 16)
        row_stats_kernel[(rows,)](x, m, s, cols, x.stride(0), BLOCK=block, num_warps=warps)
    return m, s


def merge(
    m_a: torch.Tensor, s_a: torch.Tensor, m_b: torch.Tensor, s_b: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the states of parts a and b together, element by element.

    All four: float32 of shape (count,), contiguous. So are the results.
    """
    m, s = torch.empty_like(m_a), torch.empty_like(s_a)
    count = m_a.numel()
    if count > 0:
        merge_kernel[(triton.cdiv(count, MERGE_BLOCK),)](m_a, s_a, m_b, s_b, m, s, count, BLOCK=MERGE_BLOCK)
    return m, s


# The worksheet. Tuples of three are (float32, float16, bfloat16).


def common_factor(m: float) -> float:
    """Return the factor that turns exp(x) into exp(x - m)."""
    return math.exp(-m)


def normaliser_bounds(n: int) -> tuple[float, float]:
    """Return (lower, upper) bound of s."""
    return 1, n


SMALL_SCORE_GETS = 0.0  # the exponent is -100, and exp(-100) is no normal float32
SCORES_TO_NOTICE = 2.0**-24 / math.exp(-100)

LARGEST_FINITE = (
    (2 - 2.0**-23) * 2.0**127,
    (2 - 2.0**-10) * 2.0**15,
    (2 - 2.0**-7) * 2.0**127,
)
STORED_BITS = (23, 10, 7)
OVERFLOW_FP32 = math.log(3.4028235e38)
OVERFLOW_FP16 = math.log(65504)
OVERFLOW_BF16 = math.log(3.3895314e38)
UNDERFLOW_BELOW = (-126 * math.log(2), -14 * math.log(2), -126 * math.log(2))
SUM_OF_ONES_ENDS_AT = (2**24, 2**11, 2**8)

_LOST = 131_071 * math.exp(-17.5)  # each is less than half of 2^-24, the smallest float16
LOST_SHARE = _LOST / (1 + _LOST)

HEADROOM_SIGMAS = (11.0899 / math.sqrt(128), 11.0899)  # q . k has variance 128, then 1


def update_rule(m: float, s: float, x: float) -> tuple[float, float]:
    """Return the new (m, s)."""
    top = max(m, x)
    return top, s * math.exp(m - top) + math.exp(x - top)


def running_sums(x: tuple[float, ...]) -> tuple[float, ...]:
    """Return s after the first score, after the second, and so on; as many numbers as there are scores."""
    m, s = -math.inf, 0.0
    sums = []
    for one in x:
        m, s = update_rule(m, s, one)
        sums.append(s)
    return tuple(sums)


RESCALE_RANGE = (0, 1)


def scale_stays(m: float, x: float) -> bool:
    """Return whether the factor is exactly 1 when x arrives and the maximum so far is m, a finite number."""
    return x <= m


def expected_new_maxima(n: int) -> float:
    """Return the expected number of new maxima among n scores."""
    return sum(1 / k for k in range(1, n + 1))


SHARE_RESCALED = expected_new_maxima(4096) / 4096


def merge_rule(m_a: float, s_a: float, m_b: float, s_b: float) -> tuple[float, float]:
    """Return (m, s) of both parts together; never NaN."""
    m = max(m_a, m_b)
    if m == -math.inf:
        return m, 0.0
    return m, s_a * math.exp(m_a - m) + s_b * math.exp(m_b - m)


IDENTITY = (-math.inf, 0.0)


def unguarded_is_nan(m_a: float, m_b: float) -> bool:
    """Return whether the rule without a guard gives NaN for two states with these maxima."""
    return max(m_a, m_b) == -math.inf


def merge_rounds(n: int) -> int:
    """Return the number of rounds for n states (n is at least 1, and not always a power of two)."""
    return math.ceil(math.log2(n))


ROW_BYTES = 4096 * 4
TENSOR_BYTES = 8192 * 4096 * 4

TRAVERSALS = (2 + 1, 3 + 1, 2 + 1, 1 + 1)
BYTES_MOVED = tuple(passes * 8192 * 4096 * 4 for passes in (3, 4, 3, 2))

MICROSECONDS = tuple(passes * 8192 * 4096 * 4 / 2.0e12 * 1e6 for passes in (3, 4, 3, 2))
SPEEDUPS = (4 / 3, 4 / 2)

INTENSITY = (8 + 1 + 1 + 1) / (4 + 4)
BOUND_BY = "memory"

FUSION = (2 + 2 + 3, 2)
FUSION_GAIN = 7 / 2


def columns_that_outgrow(cache_bytes: int, resident_rows: int, element_bytes: int) -> float:
    """Return the number of columns at which `resident_rows` rows fill the cache."""
    return cache_bytes / (resident_rows * element_bytes)


PASSES_DECIDE_AT_128 = False  # the whole tensor has 4 MiB


def update_output(m: float, o: float, x: tuple[float, ...], v: tuple[float, ...]) -> float:
    """Return the new o, measured against the new maximum."""
    top = max(m, *x)
    return o * math.exp(m - top) + sum(math.exp(one - top) * value for one, value in zip(x, v, strict=True))


def standard_elements(n: int, d: int) -> float:
    """Return the elements read and written by the three kernels."""
    return 4 * n * d + 4 * n * n


def tiled_elements(n: int, d: int, tile: int) -> float:
    """Return the elements read and written by the tiled kernel."""
    return 2 * n * d + (n // tile) * 2 * n * d


def log_softmax(x: tuple[float, ...]) -> tuple[float, ...]:
    """Return the logarithm of the softmax of x, as many numbers as there are scores."""
    m = max(x)
    log_s = math.log(sum(math.exp(one - m) for one in x))
    return tuple((one - m) - log_s for one in x)
