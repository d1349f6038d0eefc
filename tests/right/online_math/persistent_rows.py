"""Persistent programs that stride over the rows; the guard is an `if` on the running maximum."""

from fractions import Fraction
from math import exp, fsum, inf, isnan, log

import torch
import triton
import triton.language as tl


@triton.jit
def persistent_stats(x_ptr, m_ptr, s_ptr, rows, cols, stride, BLOCK: tl.constexpr):
    for row in range(tl.program_id(0), rows, tl.num_programs(0)):
        src = x_ptr + row.to(tl.int64) * stride
        top = -float("inf")
        total = 0.0
        for first in range(0, cols, BLOCK):
            at = first + tl.arange(0, BLOCK)
            x = tl.load(src + at, mask=at < cols, other=-float("inf")).to(tl.float32)
            new = tl.maximum(top, tl.max(x, 0))
            if new != -float("inf"):
                total = total * tl.exp(top - new) + tl.sum(tl.exp(x - new), 0)
            else:
                # Only -inf and NaN so far; NaN must not get lost.
                total += tl.sum(tl.exp(x), 0)
            top = new
        tl.store(m_ptr + row, top)
        tl.store(s_ptr + row, total)


@triton.jit
def persistent_merge(m_a_ptr, s_a_ptr, m_b_ptr, s_b_ptr, m_ptr, s_ptr, n, BLOCK: tl.constexpr):
    for first in range(tl.program_id(0) * BLOCK, n, tl.num_programs(0) * BLOCK):
        at = first + tl.arange(0, BLOCK)
        here = at < n
        m_a = tl.load(m_a_ptr + at, mask=here, other=0.0)
        m_b = tl.load(m_b_ptr + at, mask=here, other=0.0)
        m = tl.maximum(m_a, m_b)
        base = tl.where(m == -float("inf"), 0.0, m)
        s = tl.load(s_a_ptr + at, mask=here, other=0.0) * tl.exp(m_a - base)
        s += tl.load(s_b_ptr + at, mask=here, other=0.0) * tl.exp(m_b - base)
        tl.store(m_ptr + at, m, mask=here)
        tl.store(s_ptr + at, s, mask=here)


def row_stats(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    rows, cols = x.shape
    m = torch.empty(rows, dtype=torch.float32, device=x.device)
    s = torch.empty_like(m)
    if rows == 0:
        return m, s
    num_sms = torch.cuda.get_device_properties(x.device).multi_processor_count
    block = max(16, min(2048, triton.next_power_of_2(max(1, cols))))
    persistent_stats[(min(rows, 4 * num_sms),)](x, m, s, rows, cols, x.stride(0), BLOCK=block, num_warps=8)
    return m, s


def merge(m_a, s_a, m_b, s_b):
    m, s = torch.empty_like(m_a), torch.empty_like(m_a)
    n = m_a.shape[0]
    if n:
        persistent_merge[(min(triton.cdiv(n, 256), 8),)](m_a, s_a, m_b, s_b, m, s, n, BLOCK=256)
    return m, s


# Worksheet, every answer as the number it is, to four or five digits.


def common_factor(m):
    return 1 / exp(m)


def normaliser_bounds(n):
    return [1.0, float(n)]


SMALL_SCORE_GETS = 0
SCORES_TO_NOTICE = 1.602e36
LARGEST_FINITE = (3.4028e38, 65504.0, 3.3895e38)
STORED_BITS = [23, 10, 7]
OVERFLOW_FP32 = 88.72
OVERFLOW_FP16 = 11.09
OVERFLOW_BF16 = 88.72
UNDERFLOW_BELOW = (-87.34, -9.704, -87.34)
SUM_OF_ONES_ENDS_AT = (16_777_216, 2048, 256)
LOST_SHARE = 0.003280
HEADROOM_SIGMAS = (0.9802, 11.09)


def update_rule(m, s, x):
    if x > m:
        return x, s * exp(m - x) + 1.0
    return m, s + exp(x - m)


def running_sums(x):
    m, s, out = -inf, 0.0, []
    for v in x:
        m, s = update_rule(m, s, v)
        out += [s]
    return out


RESCALE_RANGE = (0.0, 1.0)


def scale_stays(m, x):
    return not x > m


def expected_new_maxima(n):
    return float(sum(Fraction(1, k) for k in range(1, n + 1))) if n < 100 else fsum(1 / k for k in range(1, n + 1))


SHARE_RESCALED = 0.002172


def merge_rule(m_a, s_a, m_b, s_b):
    if s_a == 0:
        return m_b, s_b
    if s_b == 0:
        return m_a, s_a
    if m_a < m_b:
        return m_b, s_a * exp(m_a - m_b) + s_b
    return m_a, s_a + s_b * exp(m_b - m_a)


IDENTITY = [float("-inf"), 0]


def unguarded_is_nan(m_a, m_b):
    return isnan(m_a - max(m_a, m_b))


def merge_rounds(n):
    rounds = 0
    while n > 1:
        n, rounds = (n + 1) // 2, rounds + 1
    return rounds


ROW_BYTES = 16_384
TENSOR_BYTES = 134_217_728
TRAVERSALS = [3, 4, 3, 2]
BYTES_MOVED = [402_653_184, 536_870_912, 402_653_184, 268_435_456]
MICROSECONDS = [201.3, 268.4, 201.3, 134.2]
SPEEDUPS = [1.333, 2]
INTENSITY = 1.375
BOUND_BY = "Memory"
FUSION = (7, 2)
FUSION_GAIN = 3.5


def columns_that_outgrow(cache_bytes, resident_rows, element_bytes):
    return 1 + cache_bytes // (resident_rows * element_bytes)


PASSES_DECIDE_AT_128 = False


def update_output(m, o, x, v):
    new = max([m, *x])
    scale = 0.0 if m == -inf else exp(m - new)
    return fsum([o * scale, *(exp(a - new) * b for a, b in zip(x, v, strict=True))])


def standard_elements(n, d):
    return 4 * n * (n + d)


def tiled_elements(n, d, tile):
    return 2 * n * d * (1 + n / tile)


def log_softmax(x):
    m = max(x)
    shifted = [v - m for v in x]
    s = fsum(map(exp, shifted))
    return [v - log(s) for v in shifted]
