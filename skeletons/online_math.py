"""online_math: two kernels (TODO 1 to 6) and a worksheet (TODO 7 to 33). The task is in online_math.md."""

import torch
import triton
import triton.language as tl


@triton.jit
def merged(m_a, s_a, m_b, s_b):
    """Return the state of two parts of a row together; float32 scalars or blocks. (-inf, 0) is the empty part.

    As it stands, part b is dropped.
    """
    # TODO 1: the new maximum, and both sums scaled to it before they are added.

    # TODO 2: both parts may be empty. What is -inf - (-inf), and where does the rule meet it?
    return m_a, s_a


@triton.jit
def row_stats_kernel(x_ptr, m_ptr, s_ptr, cols, x_row_stride, BLOCK: tl.constexpr):
    """Write the state of one row; as it stands, that of an empty row.

    x_ptr: (rows, cols), float32, float16 or bfloat16; rows are x_row_stride elements apart, columns 1.
    m_ptr, s_ptr: (rows,), float32.
    BLOCK: a power of two, of any size. Grid: one program a row.
    """
    row = tl.program_id(0).to(tl.int64)
    m = float("-inf")
    s = 0.0
    for start in range(0, cols, BLOCK):
        columns = start + tl.arange(0, BLOCK)
        # TODO 3: load the block as float32. What must lanes past the row hold, so that they join nothing?

        # TODO 4: the state of this block alone. What if it holds nothing but -inf?

        # TODO 5: merge it into (m, s).
    tl.store(m_ptr + row, m)
    tl.store(s_ptr + row, s)


@triton.jit
def merge_kernel(m_a_ptr, s_a_ptr, m_b_ptr, s_b_ptr, m_ptr, s_ptr, count, BLOCK: tl.constexpr):
    """Merge BLOCK pairs of states.

    All pointers: (count,), float32, contiguous.
    BLOCK: a power of two. Grid: one program for BLOCK pairs.
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
    """Return (m, s) of each row of x: its maximum, and the sum of exp(x - m); float32 of shape (rows,)."""
    rows, cols = x.shape
    m = torch.empty((rows,), dtype=torch.float32, device=x.device)
    s = torch.empty((rows,), dtype=torch.float32, device=x.device)
    # TODO 6: what if there are no rows, or no columns? Which BLOCK suits 3 columns, and which 131,072?
    row_stats_kernel[(rows,)](x, m, s, cols, x.stride(0), BLOCK=1024, num_warps=4)
    return m, s


def merge(
    m_a: torch.Tensor, s_a: torch.Tensor, m_b: torch.Tensor, s_b: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the states of parts a and b together, element by element; float32 of shape (count,), as all four."""
    m, s = torch.empty_like(m_a), torch.empty_like(s_a)
    count = m_a.numel()
    if count > 0:
        merge_kernel[(triton.cdiv(count, 1024),)](m_a, s_a, m_b, s_b, m, s, count, BLOCK=1024)
    return m, s


# ---- The worksheet ---------------------------------------------------------------------------------------------------
#
# Plain Python: replace each None by a number (or a tuple of numbers), and each `raise` by a `return`. You may write the
# calculation instead of its result, and import math. Give four digits or more. Log is the natural logarithm.
# A power is written 2**24; in Python ^ is exclusive or, and 2^24 is 26.
# Throughout, x are the scores of one row, m is their maximum and s is the sum of exp(x - m).

# ---- Why subtracting the maximum is free

# TODO 7: exp(x[i]) / sum of exp(x[j]) does not change when m is subtracted from every score, whatever number m is.
#         That is because numerator and denominator are both multiplied by one factor. Which one?


def common_factor(m: float) -> float:
    """Return the factor that turns exp(x) into exp(x - m)."""
    raise NotImplementedError


# TODO 8: now let m be the maximum of a row of n finite scores. Then no exponent x - m is above 0. Between which two
#         numbers does s lie, whatever the scores are? Give the largest lower and the smallest upper bound.


def normaliser_bounds(n: int) -> tuple[float, float]:
    """Return (lower, upper) bound of s."""
    raise NotImplementedError


# TODO 9: one score of a row is +50, all others are -50. The kernel works in float32, and exp gives 0 where the result
#         would be less than the smallest normal number. What does exp(x - m) give for a score of -50?
#         And is that wrong? The sum is close to 1, where float32 rounds by up to 2^-24. How many scores of -50 would it
#         take until their exponentials, in exact arithmetic, add up to 2^-24?
SMALL_SCORE_GETS = None
SCORES_TO_NOTICE = None

# ---- Three number formats. Tuples of three are (float32, float16, bfloat16).

# TODO 10: the largest finite number of each format, and the bits of the fraction that it stores (the leading 1 of a
#          number is not stored).
LARGEST_FINITE = None
STORED_BITS = None

# TODO 11: the largest x for which exp(x) is finite in float32.
OVERFLOW_FP32 = None

# TODO 12: the same for float16.
OVERFLOW_FP16 = None

# TODO 13: the same for bfloat16.
OVERFLOW_BF16 = None

# TODO 14: the x below which exp(x) is less than the smallest normal number of each format.
UNDERFLOW_BELOW = None

# TODO 15: a sum starts at 0 and is kept in the format itself; 1.0 is added again and again. Every addition rounds to
#          the nearest number of the format (a tie goes to the one whose last bit is 0). At which value does it stop
#          growing?
SUM_OF_ONES_ENDS_AT = None

# TODO 16: somebody stores exp(x - m) in float16 (rounded to nearest, subnormal numbers included) and adds in float32.
#          Nothing overflows. But let one score be the maximum, and let 131,071 others lie 17.5 below it: which share of
#          the true sum is lost (between 0 and 1)?
LOST_SHARE = None

# TODO 17: an attention score is q . k, a sum of d_head = 128 products. Let the entries of q and k be independent, with
#          mean 0 and variance 1. How many standard deviations of the score lies the threshold of TODO 12 from 0:
#          (of the score q . k, of the score q . k / sqrt(d_head))?
HEADROOM_SIGMAS = None

# ---- The online recurrence

# TODO 18: (m, s) is the state of the scores seen so far, (-inf, 0) before the first. The finite score x arrives.


def update_rule(m: float, s: float, x: float) -> tuple[float, float]:
    """Return the new (m, s)."""
    raise NotImplementedError


# TODO 19: run that rule over a row from the empty state, and keep s after every score. By induction it is what the
#          definition of s gives for the scores so far; that is what your numbers are compared with.


def running_sums(x: tuple[float, ...]) -> tuple[float, ...]:
    """Return s after the first score, after the second, and so on; as many numbers as there are scores."""
    raise NotImplementedError


# TODO 20: the rule multiplies the old sum by a factor. Between which two numbers does it lie, whatever arrives, so that
#          it can never overflow? (The lower one is only approached, or reached from the empty state.)
#          And for which scores x is it exactly 1, in exact arithmetic?
RESCALE_RANGE = None


def scale_stays(m: float, x: float) -> bool:
    """Return whether the factor is exactly 1 when x arrives and the maximum so far is m, a finite number."""
    raise NotImplementedError


# TODO 21: n different scores arrive in random order, every order as likely as any other. How many of them are expected
#          to become the new maximum when they arrive? The first one always does.
#          And which share of the 4096 steps of such a row (between 0 and 1) is that?


def expected_new_maxima(n: int) -> float:
    """Return the expected number of new maxima among n scores."""
    raise NotImplementedError


SHARE_RESCALED = None

# ---- Merging

# TODO 22: two threads have worked on a part of the row each and hold (m_a, s_a) and (m_b, s_b). Either part, or both,
#          may be empty, that is (-inf, 0). In Python, math.exp(-math.inf) is 0.0 and -inf - (-inf) is nan.


def merge_rule(m_a: float, s_a: float, m_b: float, s_b: float) -> tuple[float, float]:
    """Return (m, s) of both parts together; never NaN."""
    raise NotImplementedError


# TODO 23: which state changes nothing when it is merged with another one? (m, s), please.
#          And for which maxima does the rule give NaN if it has no guard at all?
IDENTITY = None


def unguarded_is_nan(m_a: float, m_b: float) -> bool:
    """Return whether the rule without a guard gives NaN for two states with these maxima."""
    raise NotImplementedError


# TODO 24: the merge is associative, so any tree will do. n states, as many processors as you like, and in each round
#          every processor merges one pair: how many rounds until one state is left?


def merge_rounds(n: int) -> int:
    """Return the number of rounds for n states (n is at least 1, and not always a power of two)."""
    raise NotImplementedError


# ---- Bytes. A softmax of R = 8192 rows and C = 4096 columns, float32. Nothing stays in a cache between two passes.

# TODO 25: the bytes of one row, and of the whole tensor.
ROW_BYTES = None
TENSOR_BYTES = None

# TODO 26: four forms of softmax, in this order:
#          naive   reads x for the sum of exp(x), and again for the result
#          safe    reads x for the maximum, for the sum, and for the result
#          online  reads x for maximum and sum together, and again for the result
#          cached  reads x once and keeps the row in registers
#          Each writes the result once. How often is the whole tensor moved, reads and writes together? Four numbers.
#          And how many bytes does each form move? Four numbers.
TRAVERSALS = None
BYTES_MOVED = None

# TODO 27: the memory moves 2.0 TB/s (1 TB is 10^12 bytes). The least time of each form in microseconds: four numbers,
#          in the same order. And how many times faster than safe are (online, cached)? Two numbers.
MICROSECONDS = None
SPEEDUPS = None

# TODO 28: for each element softmax computes one exp (count it as 8 operations), one comparison, one addition and one
#          multiplication. How many operations a byte are that in the cached form? The processor needs 35 operations a
#          byte to be busy: is softmax bound by "memory" or by "compute"?
INTENSITY = None
BOUND_BY = None

# TODO 29: attention scales the scores, masks them, and takes the softmax. As three kernels: scale reads and writes the
#          tensor, mask reads and writes it (the mask itself is computed from the indices), and an online softmax reads
#          it twice and writes it. As one kernel: the row is read once, everything happens in registers, and it is
#          written once. Traversals (of the three kernels, of the one)? And how many times fewer bytes is that?
FUSION = None
FUSION_GAIN = None

# TODO 30: the catch. A second pass costs no trip to memory if all rows that are worked on at the same time stay in the
#          last-level cache together. With `resident_rows` rows worked on at a time, from how many columns on do they no
#          longer fit? (1 column more or less does not matter.)
#          And think of R = 8192, C = 128, float32, and a cache of 256 MiB: does the number of passes decide the runtime
#          there? True or False.


def columns_that_outgrow(cache_bytes: int, resident_rows: int, element_bytes: int) -> float:
    """Return the number of columns at which `resident_rows` rows fill the cache."""
    raise NotImplementedError


PASSES_DECIDE_AT_128 = None

# ---- On to FlashAttention

# TODO 31: attention needs the sum of p[i] * v[i] over all keys. Keep o, the sum of exp(x[i] - m) * v[i] over the keys
#          seen so far (one coordinate of it, and not divided by s yet), beside the maximum m. A tile arrives, with
#          finite scores x and values v of the same length. Before the first tile m is -inf and o is 0.


def update_output(m: float, o: float, x: tuple[float, ...], v: tuple[float, ...]) -> float:
    """Return the new o, measured against the new maximum."""
    raise NotImplementedError


# TODO 32: one head, n queries and n keys, d coordinates each. How many elements move between memory and chip?
#          Standard: a kernel reads Q and K and writes the scores S, n x n. A second reads S once and writes the
#          probabilities P, n x n. A third reads P and V and writes O. Q, K, V and O are n x d.
#          Tiled: one kernel. It takes `tile` queries at a time, reads them once, reads all of K and all of V for them,
#          and writes their rows of O. S and P never leave the chip. n is a multiple of tile.


def standard_elements(n: int, d: int) -> float:
    """Return the elements read and written by the three kernels."""
    raise NotImplementedError


def tiled_elements(n: int, d: int, tile: int) -> float:
    """Return the elements read and written by the tiled kernel."""
    raise NotImplementedError


# TODO 33: the loss needs log(softmax(x)). It must not compute the softmax first: a probability that underflows to 0 has
#          the logarithm -inf. Write it with m and log(s), for scores as far apart, and as large, as you can think of.


def log_softmax(x: tuple[float, ...]) -> tuple[float, ...]:
    """Return the logarithm of the softmax of x, as many numbers as there are scores."""
    raise NotImplementedError
