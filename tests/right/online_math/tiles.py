"""Several rows a program: two-dimensional tiles, and a state a row."""

import math

import torch
import triton
import triton.language as tl


@triton.jit
def combine(m_a, s_a, m_b, s_b):
    m = tl.maximum(m_a, m_b)
    shift = tl.where(m == float("-inf"), 0.0, m)
    return m, tl.exp(m_a - shift) * s_a + tl.exp(m_b - shift) * s_b


@triton.jit
def stats_of_tiles(x_ptr, m_ptr, s_ptr, M, N, stride_xm, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    rm = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    rows = rm.to(tl.int64)[:, None]
    m = tl.full((BLOCK_M,), float("-inf"), dtype=tl.float32)
    s = tl.zeros((BLOCK_M,), dtype=tl.float32)
    for start in range(0, N, BLOCK_N):
        rn = start + tl.arange(0, BLOCK_N)
        keep = (rm[:, None] < M) & (rn[None, :] < N)
        x = tl.load(x_ptr + rows * stride_xm + rn[None, :], mask=keep, other=float("-inf")).to(tl.float32)
        m_tile = tl.max(x, axis=1)
        shift = tl.where(m_tile == float("-inf"), 0.0, m_tile)
        m, s = combine(m, s, m_tile, tl.sum(tl.exp(x - shift[:, None]), axis=1))
    tl.store(m_ptr + rm, m, mask=rm < M)
    tl.store(s_ptr + rm, s, mask=rm < M)


@triton.jit
def merge_states(a_m, a_s, b_m, b_s, out_m, out_s, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    ok = i < n
    m, s = combine(
        tl.load(a_m + i, mask=ok, other=float("-inf")),
        tl.load(a_s + i, mask=ok, other=0.0),
        tl.load(b_m + i, mask=ok, other=float("-inf")),
        tl.load(b_s + i, mask=ok, other=0.0),
    )
    tl.store(out_m + i, m, mask=ok)
    tl.store(out_s + i, s, mask=ok)


def row_stats(x):
    M, N = x.shape
    m, s = torch.empty((2, M), dtype=torch.float32, device=x.device)
    if M == 0:
        return m, s
    BLOCK_N = max(16, min(triton.next_power_of_2(max(N, 1)), 1024))
    BLOCK_M = min(max(1, 4096 // BLOCK_N) if M > 1 else 1, 64)
    grid = (triton.cdiv(M, BLOCK_M),)
    stats_of_tiles[grid](x, m, s, M, N, x.stride(0), BLOCK_M=BLOCK_M, BLOCK_N=BLOCK_N)
    return m, s


def merge(m_a, s_a, m_b, s_b):
    n = m_a.numel()
    m = m_a.new_empty(n)
    s = s_a.new_empty(n)
    if n > 0:
        merge_states[lambda meta: (triton.cdiv(n, meta["BLOCK"]),)](m_a, s_a, m_b, s_b, m, s, n, BLOCK=512)
    return m, s


def common_factor(m):
    return math.exp(-m)


def normaliser_bounds(n):
    return 1, n


SMALL_SCORE_GETS = 0.0
SCORES_TO_NOTICE = 2.0**-24 / math.exp(-100)
LARGEST_FINITE = (3.40282e38, 65504, 3.38953e38)
STORED_BITS = (23, 10, 7)
OVERFLOW_FP32 = 88.7228
OVERFLOW_FP16 = 11.0899
OVERFLOW_BF16 = 88.7189
UNDERFLOW_BELOW = (-87.3365, -9.70406, -87.3365)
SUM_OF_ONES_ENDS_AT = (2**24, 2**11, 2**8)
LOST_SHARE = 1 - 1 / (1 + 131071 * math.exp(-17.5))
HEADROOM_SIGMAS = (11.0899 / 128**0.5, 11.0899)


def update_rule(m, s, x):
    top = max(m, x)
    return top, s * math.exp(m - top) + math.exp(x - top)


def running_sums(x):
    sums = []
    for k in range(1, len(x) + 1):
        top = max(x[:k])
        sums.append(sum(math.exp(one - top) for one in x[:k]))
    return sums


RESCALE_RANGE = (0, 1)


def scale_stays(m, x):
    return x <= m


def expected_new_maxima(n):
    return sum(1 / k for k in range(1, n + 1))


SHARE_RESCALED = sum(1 / k for k in range(1, 4097)) / 4096


def merge_rule(m_a, s_a, m_b, s_b):
    top = max(m_a, m_b)
    if top == -math.inf:
        return top, 0.0
    return top, s_a * math.exp(m_a - top) + s_b * math.exp(m_b - top)


IDENTITY = (-math.inf, 0.0)


def unguarded_is_nan(m_a, m_b):
    return m_a == -math.inf and m_b == -math.inf


def merge_rounds(n):
    return (n - 1).bit_length()


ROW_BYTES = 16384
TENSOR_BYTES = 134217728
TRAVERSALS = (3, 4, 3, 2)
BYTES_MOVED = [passes * 134217728 for passes in (3, 4, 3, 2)]
MICROSECONDS = [passes * 134217728 / 2e6 for passes in (3, 4, 3, 2)]
SPEEDUPS = (4 / 3, 2)
INTENSITY = 11 / 8
BOUND_BY = "memory"
FUSION = (7, 2)
FUSION_GAIN = 3.5


def columns_that_outgrow(cache_bytes, resident_rows, element_bytes):
    return cache_bytes // resident_rows // element_bytes


PASSES_DECIDE_AT_128 = False


def update_output(m, o, x, v):
    top = max(m, *x)
    return o * math.exp(m - top) + sum(math.exp(x[i] - top) * v[i] for i in range(len(x)))


def standard_elements(n, d):
    return 4 * n * d + 4 * n * n


def tiled_elements(n, d, tile):
    return 2 * n * d + n // tile * 2 * n * d


def log_softmax(x):
    top = max(x)
    log_total = math.log(sum(math.exp(one - top) for one in x))
    return [one - top - log_total for one in x]
