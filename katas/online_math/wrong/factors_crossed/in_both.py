"""Each sum gets the factor of the other one."""

import math

import torch
import triton
import triton.language as tl


@triton.jit
def merged(m_a, s_a, m_b, s_b):
    m = tl.maximum(m_a, m_b)
    shift = tl.where(m == float("-inf"), 0.0, m)
    return m, s_a * tl.exp(m_b - shift) + s_b * tl.exp(m_a - shift)


@triton.jit
def row_stats_kernel(x_ptr, m_ptr, s_ptr, cols, x_row_stride, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
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
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < count
    m_a = tl.load(m_a_ptr + at, mask=inside, other=float("-inf"))
    s_a = tl.load(s_a_ptr + at, mask=inside, other=0.0)
    m_b = tl.load(m_b_ptr + at, mask=inside, other=float("-inf"))
    s_b = tl.load(s_b_ptr + at, mask=inside, other=0.0)
    m, s = merged(m_a, s_a, m_b, s_b)
    tl.store(m_ptr + at, m, mask=inside)
    tl.store(s_ptr + at, s, mask=inside)


def row_stats(x):
    rows, cols = x.shape
    m = torch.empty((rows,), dtype=torch.float32, device=x.device)
    s = torch.empty((rows,), dtype=torch.float32, device=x.device)
    if rows > 0:
        block = min(triton.next_power_of_2(max(cols, 1)), 4096)
        row_stats_kernel[(rows,)](x, m, s, cols, x.stride(0), BLOCK=block, num_warps=4)
    return m, s


def merge(m_a, s_a, m_b, s_b):
    m, s = torch.empty_like(m_a), torch.empty_like(s_a)
    count = m_a.numel()
    if count > 0:
        merge_kernel[(triton.cdiv(count, 1024),)](m_a, s_a, m_b, s_b, m, s, count, BLOCK=1024)
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
