"""Masked softmax: exp of the mask is 1 or 0, so it can be multiplied in at the end."""

import torch
import triton
import triton.language as tl


@triton.jit
def softmax_times_mask(x_ptr, mask_ptr, y_ptr, cols, stride_x, stride_mr, stride_mc, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    x_row = x_ptr + row * stride_x
    mask_row = mask_ptr + row * stride_mr
    m = float("-inf")
    s = 0.0
    for start in range(0, cols, BLOCK):
        at = start + tl.arange(0, BLOCK)
        inside = at < cols
        x = tl.load(x_row + at, mask=inside, other=float("-inf")).to(tl.float32)
        m_new = tl.maximum(m, tl.max(x, axis=0))
        shift = tl.where(m_new == float("-inf"), 0.0, m_new)
        s = s * tl.exp(m - shift) + tl.sum(tl.exp(x - shift), axis=0)
        m = m_new
    s = tl.where(s == 0.0, 1.0, s)
    shift = tl.where(m == float("-inf"), 0.0, m)
    for start in range(0, cols, BLOCK):
        at = start + tl.arange(0, BLOCK)
        inside = at < cols
        x = tl.load(x_row + at, mask=inside, other=float("-inf")).to(tl.float32)
        keep = tl.exp(tl.load(mask_row + at * stride_mc, mask=inside, other=0.0))
        y = tl.exp(x - shift) / s * keep
        tl.store(y_ptr + row * cols + at, y.to(y_ptr.dtype.element_ty), mask=inside)


def masked_softmax(x, mask):
    rows, cols = x.shape
    y = torch.empty((rows, cols), dtype=x.dtype, device=x.device)
    if y.numel() == 0:
        return y
    BLOCK = min(triton.next_power_of_2(cols), 8192)
    softmax_times_mask[(rows,)](x, mask, y, cols, x.stride(0), mask.stride(0), mask.stride(1), BLOCK=BLOCK, num_warps=8)
    return y
