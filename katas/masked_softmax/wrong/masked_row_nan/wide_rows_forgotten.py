"""Masked softmax with two kernels; the one for wide rows divides by the sum of a row that has nothing left."""

import torch
import triton
import triton.language as tl

ONE_BLOCK = 8192


@triton.jit
def narrow(x_ptr, mask_ptr, y_ptr, cols, stride_x, stride_mr, stride_mc, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    at = tl.arange(0, BLOCK)
    inside = at < cols
    x = tl.load(x_ptr + row * stride_x + at, mask=inside, other=float("-inf")).to(tl.float32)
    score = x + tl.load(mask_ptr + row * stride_mr + at * stride_mc, mask=inside, other=0.0)
    peak = tl.max(score, axis=0)
    e = tl.exp(score - tl.where(peak == float("-inf"), 0.0, peak))
    total = tl.sum(e, axis=0)
    y = e / tl.where(total == 0.0, 1.0, total)
    tl.store(y_ptr + row * cols + at, y.to(y_ptr.dtype.element_ty), mask=inside)


@triton.jit
def wide(x_ptr, mask_ptr, y_ptr, cols, stride_x, stride_mr, stride_mc, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    peak = float("-inf")
    total = 0.0
    for start in range(0, cols, BLOCK):
        at = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * stride_x + at, mask=at < cols, other=float("-inf")).to(tl.float32)
        score = x + tl.load(mask_ptr + row * stride_mr + at * stride_mc, mask=at < cols, other=0.0)
        higher = tl.maximum(peak, tl.max(score, axis=0))
        base = tl.where(higher == float("-inf"), 0.0, higher)
        total = total * tl.exp(peak - base) + tl.sum(tl.exp(score - base), axis=0)
        peak = higher
    for start in range(0, cols, BLOCK):
        at = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * stride_x + at, mask=at < cols, other=float("-inf")).to(tl.float32)
        score = x + tl.load(mask_ptr + row * stride_mr + at * stride_mc, mask=at < cols, other=0.0)
        y = tl.exp(score - peak) / total
        tl.store(y_ptr + row * cols + at, y.to(y_ptr.dtype.element_ty), mask=at < cols)


def masked_softmax(x, mask):
    rows, cols = x.shape
    y = torch.empty((rows, cols), dtype=x.dtype, device=x.device)
    if y.numel() == 0:
        return y
    strides = (x.stride(0), mask.stride(0), mask.stride(1))
    if cols <= ONE_BLOCK:
        narrow[(rows,)](x, mask, y, cols, *strides, BLOCK=triton.next_power_of_2(cols), num_warps=8)
    else:
        wide[(rows,)](x, mask, y, cols, *strides, BLOCK=4096, num_warps=8)
    return y
