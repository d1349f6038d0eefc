"""Every element a (maximum, sum) pair of its own, and one tl.reduce over a row held in registers."""

import torch
import triton
import triton.language as tl

MAX_BLOCK = 16384


@triton.jit
def merge(m_a, s_a, m_b, s_b):
    m = tl.maximum(m_a, m_b)
    shift = tl.where(m == float("-inf"), 0.0, m)
    return m, s_a * tl.exp(m_a - shift) + s_b * tl.exp(m_b - shift)


@triton.jit
def softmax_reduce(x_ptr, y_ptr, cols, x_stride, y_stride, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    at = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * x_stride + at, mask=at < cols, other=float("-inf")).to(tl.float32)
    m, s = tl.reduce((x, tl.full([BLOCK], 1.0, tl.float32)), axis=0, combine_fn=merge)
    tl.store(y_ptr + row * y_stride + at, (tl.exp(x - m) / s).to(y_ptr.dtype.element_ty), mask=at < cols)


@triton.jit
def softmax_reduce_blocks(x_ptr, y_ptr, cols, x_stride, y_stride, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    ones = tl.full([BLOCK], 1.0, tl.float32)
    m = float("-inf")
    s = 0.0
    for start in range(0, cols, BLOCK):
        at = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * x_stride + at, mask=at < cols, other=float("-inf")).to(tl.float32)
        m_block, s_block = tl.reduce((x, ones), axis=0, combine_fn=merge)
        m, s = merge(m, s, m_block, s_block)
    for start in range(0, cols, BLOCK):
        at = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * x_stride + at, mask=at < cols, other=float("-inf")).to(tl.float32)
        tl.store(y_ptr + row * y_stride + at, (tl.exp(x - m) / s).to(y_ptr.dtype.element_ty), mask=at < cols)


def safe_softmax(x: torch.Tensor) -> torch.Tensor:
    rows, cols = x.shape
    y = torch.empty((rows, cols), dtype=x.dtype, device=x.device)
    if rows == 0 or cols == 0:
        return y
    strides = (x.stride(0), y.stride(0))
    if cols <= MAX_BLOCK:
        softmax_reduce[(rows,)](x, y, cols, *strides, BLOCK=triton.next_power_of_2(cols), num_warps=16)
    else:
        softmax_reduce_blocks[(rows,)](x, y, cols, *strides, BLOCK=8192, num_warps=16)
    return y
