"""Masked softmax in three passes over blocks of 1024 columns."""

import torch
import triton
import triton.language as tl


@triton.jit
def masked_softmax_3pass(x_ptr, mask_ptr, y_ptr, cols, stride_x, stride_mr, stride_mc, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    x_row = x_ptr + row * stride_x
    mask_row = mask_ptr + row * stride_mr
    DTYPE: tl.constexpr = x_ptr.dtype.element_ty
    m = float("-inf")
    for start in range(0, cols, BLOCK):
        at = start + tl.arange(0, BLOCK)
        inside = at < cols
        x = tl.load(x_row + at, mask=inside, other=float("-inf")).to(tl.float32)
        score = x + tl.load(mask_row + at * stride_mc, mask=inside, other=0.0)
        m = tl.maximum(m, tl.max(score, axis=0))
    m = tl.where(m == float("-inf"), 0.0, m)
    s = tl.zeros((1,), dtype=DTYPE)
    for start in range(0, cols, BLOCK):
        at = start + tl.arange(0, BLOCK)
        inside = at < cols
        x = tl.load(x_row + at, mask=inside, other=float("-inf")).to(tl.float32)
        score = x + tl.load(mask_row + at * stride_mc, mask=inside, other=0.0)
        s = (s.to(tl.float32) + tl.sum(tl.exp(score - m), axis=0)).to(DTYPE)
    total = s.to(tl.float32)
    total = tl.where(total == 0.0, 1.0, total)
    for start in range(0, cols, BLOCK):
        at = start + tl.arange(0, BLOCK)
        inside = at < cols
        x = tl.load(x_row + at, mask=inside, other=float("-inf")).to(tl.float32)
        score = x + tl.load(mask_row + at * stride_mc, mask=inside, other=0.0)
        tl.store(y_ptr + row * cols + at, (tl.exp(score - m) / total).to(DTYPE), mask=inside)


def masked_softmax(x, mask):
    rows, cols = x.shape
    y = torch.empty((rows, cols), dtype=x.dtype, device=x.device)
    if y.numel() == 0:
        return y
    BLOCK = 1024
    masked_softmax_3pass[(rows,)](
        x, mask, y, cols, x.stride(0), mask.stride(0), mask.stride(1), BLOCK=BLOCK, num_warps=8
    )
    return y
