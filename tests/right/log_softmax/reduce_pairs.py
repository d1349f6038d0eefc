"""(maximum, sum) pairs, combined by tl.reduce with a function of its own; narrow rows stay in registers."""

import torch
import triton
import triton.language as tl


@triton.jit
def merge(m_a, s_a, m_b, s_b):
    m = tl.maximum(m_a, m_b)
    shift = tl.where(m == float("-inf"), 0.0, m)
    return m, s_a * tl.exp(m_a - shift) + s_b * tl.exp(m_b - shift)


@triton.jit
def in_registers(x_ptr, y_ptr, cols, x_stride, y_stride, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    at = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * x_stride + at, mask=at < cols, other=float("-inf")).to(tl.float32)
    m, s = tl.reduce((x, tl.full([BLOCK], 1.0, tl.float32)), axis=0, combine_fn=merge)
    tl.store(y_ptr + row * y_stride + at, ((x - m) - tl.log(s)).to(y_ptr.dtype.element_ty), mask=at < cols)


@triton.jit
def in_blocks(x_ptr, y_ptr, cols, x_stride, y_stride, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    m = tl.full([BLOCK], float("-inf"), tl.float32)
    s = tl.zeros([BLOCK], tl.float32)
    for start in range(0, cols, BLOCK):
        at = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * x_stride + at, mask=at < cols, other=float("-inf")).to(tl.float32)
        m, s = merge(m, s, x, 1.0)
    top, total = tl.reduce((m, s), 0, merge)
    log_total = tl.log(total)
    for start in range(0, cols, BLOCK):
        at = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * x_stride + at, mask=at < cols, other=float("-inf")).to(tl.float32)
        tl.store(y_ptr + row * y_stride + at, ((x - top) - log_total).to(y_ptr.dtype.element_ty), mask=at < cols)


def log_softmax(x: torch.Tensor) -> torch.Tensor:
    rows, cols = x.shape
    y = torch.empty((rows, cols), dtype=x.dtype, device=x.device)
    if rows == 0 or cols == 0:
        return y
    strides = (x.stride(0), y.stride(0))
    if cols <= 4096:
        in_registers[(rows,)](x, y, cols, *strides, BLOCK=triton.next_power_of_2(cols), num_warps=8)
    else:
        in_blocks[(rows,)](x, y, cols, *strides, BLOCK=4096, num_warps=8)
    return y
