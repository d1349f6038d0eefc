"""(maximum, sum) pairs, combined by tl.reduce with a function of its own."""

import torch
import triton
import triton.language as tl


@triton.jit
def merge(m_a, s_a, m_b, s_b):
    m = tl.maximum(m_a, m_b)
    shift = tl.where(m == float("-inf"), 0.0, m)
    return m, s_a * tl.exp(m_a - shift) + s_b * tl.exp(m_b - shift)


@triton.jit
def row_statistics(x_row, cols, BLOCK: tl.constexpr):
    top = tl.full([BLOCK], float("-inf"), tl.float32)
    total = tl.zeros([BLOCK], tl.float32)
    for start in range(0, cols, BLOCK):
        at = start + tl.arange(0, BLOCK)
        x = tl.load(x_row + at, mask=at < cols, other=float("-inf")).to(tl.float32)
        top, total = merge(top, total, x, 1.0)
    return tl.reduce((top, total), 0, merge)


@triton.jit
def softmax_pairs(x_ptr, y_ptr, cols, x_stride, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    x_row = x_ptr + row * x_stride
    top, total = row_statistics(x_row, cols, BLOCK)
    for start in range(0, cols, BLOCK):
        at = start + tl.arange(0, BLOCK)
        x = tl.load(x_row + at, mask=at < cols, other=float("-inf")).to(tl.float32)
        tl.store(y_ptr + row * cols + at, (tl.exp(x - top) / total).to(y_ptr.dtype.element_ty), mask=at < cols)


def safe_softmax(x: torch.Tensor) -> torch.Tensor:
    rows, cols = x.shape
    y = torch.empty((rows, cols), dtype=x.dtype, device=x.device)
    if rows == 0 or cols == 0:
        return y
    softmax_pairs[(rows,)](x, y, cols, x.stride(0), BLOCK=2048, num_warps=8)
    return y
