"""Base 2 throughout, one fused multiply-add an element: what the scaled maximum was rounded by cancels at the end."""

import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice

LOG2E = tl.constexpr(1.4426950408889634)
LN2 = tl.constexpr(0.6931471805599453)


@triton.jit
def below(x, scaled_top, BLOCK: tl.constexpr):
    """x * log2(e) - scaled_top, rounded once."""
    factor = tl.full([BLOCK], LOG2E, tl.float32)
    return libdevice.fma(x, factor, tl.zeros([BLOCK], tl.float32) - scaled_top)


@triton.jit
def log_softmax_fma(x_ptr, y_ptr, n_cols, x_stride, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    x_row = x_ptr + row * x_stride
    lanes = tl.arange(0, BLOCK)
    m = float("-inf")  # times log2(e), as is all that follows
    s = 0.0
    for start in range(0, n_cols, BLOCK):
        cols = start + lanes
        x = tl.load(x_row + cols, mask=cols < n_cols, other=float("-inf")).to(tl.float32)
        m_new = tl.maximum(m, tl.max(x, axis=0) * LOG2E)
        shift = tl.where(m_new == float("-inf"), 0.0, m_new)
        s = s * tl.exp2(m - shift) + tl.sum(tl.exp2(below(x, shift, BLOCK)), axis=0)
        m = m_new
    log_s = tl.log2(s)
    for start in range(0, n_cols, BLOCK):
        cols = start + lanes
        x = tl.load(x_row + cols, mask=cols < n_cols, other=float("-inf")).to(tl.float32)
        y = (below(x, m, BLOCK) - log_s) * LN2
        tl.store(y_ptr + row * n_cols + cols, y.to(y_ptr.dtype.element_ty), mask=cols < n_cols)


def log_softmax(x: torch.Tensor) -> torch.Tensor:
    n_rows, n_cols = x.shape
    y = torch.empty((n_rows, n_cols), dtype=x.dtype, device=x.device)
    if n_rows == 0 or n_cols == 0:
        return y
    block = min(max(triton.next_power_of_2(n_cols), 16), 4096)
    log_softmax_fma[(n_rows,)](x, y, n_cols, x.stride(0), BLOCK=block, num_warps=8)
    return y
