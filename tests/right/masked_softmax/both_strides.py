"""One pass in registers, a textbook loop for wide rows; the mask read with both of its strides."""

import torch
import triton
import triton.language as tl


@triton.jit
def masked_one_pass(x_ptr, m_ptr, y_ptr, n_cols, stride_x, stride_mr, stride_mc, stride_y, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    cols = tl.arange(0, BLOCK)
    inside = cols < n_cols
    x = tl.load(x_ptr + row * stride_x + cols, mask=inside, other=-float("inf")).to(tl.float32)
    bias = tl.load(m_ptr + row * stride_mr + cols * stride_mc, mask=inside, other=-float("inf"))
    score = tl.where(inside, x + bias, -float("inf"))
    top = tl.max(score, axis=0)
    top = tl.where(top == -float("inf"), 0.0, top)
    weight = tl.exp(score - top)
    total = tl.sum(weight, axis=0)
    total = tl.where(total == 0.0, 1.0, total)
    tl.store(y_ptr + row * stride_y + cols, weight / total, mask=inside)


@triton.jit
def masked_three_passes(x_ptr, m_ptr, y_ptr, n_cols, stride_x, stride_mr, stride_mc, stride_y, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    x_ptr += row * stride_x
    m_ptr += row * stride_mr
    y_ptr += row * stride_y
    lanes = tl.arange(0, BLOCK)
    best = tl.full([BLOCK], -float("inf"), tl.float32)
    for start in range(0, n_cols, BLOCK):
        cols = start + lanes
        x = tl.load(x_ptr + cols, mask=cols < n_cols, other=-float("inf")).to(tl.float32)
        best = tl.maximum(best, x + tl.load(m_ptr + cols * stride_mc, mask=cols < n_cols, other=0.0))
    top = tl.max(best, axis=0)
    top = tl.where(top == -float("inf"), 0.0, top)
    acc = tl.zeros([BLOCK], tl.float32)
    for start in range(0, n_cols, BLOCK):
        cols = start + lanes
        x = tl.load(x_ptr + cols, mask=cols < n_cols, other=-float("inf")).to(tl.float32)
        acc += tl.exp(x + tl.load(m_ptr + cols * stride_mc, mask=cols < n_cols, other=0.0) - top)
    total = tl.sum(acc, axis=0)
    total = tl.where(total == 0.0, 1.0, total)
    for start in range(0, n_cols, BLOCK):
        cols = start + lanes
        x = tl.load(x_ptr + cols, mask=cols < n_cols, other=-float("inf")).to(tl.float32)
        weight = tl.exp(x + tl.load(m_ptr + cols * stride_mc, mask=cols < n_cols, other=0.0) - top)
        tl.store(y_ptr + cols, weight / total, mask=cols < n_cols)


def masked_softmax(x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    n_rows, n_cols = x.shape
    y = torch.empty((n_rows, n_cols), dtype=x.dtype, device=x.device)
    if y.numel() == 0:
        return y
    strides = x.stride(0), mask.stride(0), mask.stride(1), y.stride(0)
    if n_cols <= 4096:
        masked_one_pass[(n_rows,)](x, mask, y, n_cols, *strides, BLOCK=triton.next_power_of_2(n_cols), num_warps=4)
    else:
        masked_three_passes[(n_rows,)](x, mask, y, n_cols, *strides, BLOCK=4096, num_warps=8)
    return y
