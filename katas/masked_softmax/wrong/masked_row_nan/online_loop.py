"""Masked softmax with the online recurrence, so any number of columns works."""

import torch
import triton
import triton.language as tl


@triton.jit
def online_masked_softmax(x_ptr, mask_ptr, y_ptr, cols, stride_x, stride_mr, stride_mc, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    x_row = x_ptr + row * stride_x
    mask_row = mask_ptr + row * stride_mr
    m = float("-inf")
    s = 0.0
    for start in range(0, cols, BLOCK):
        at = start + tl.arange(0, BLOCK)
        inside = at < cols
        x = tl.load(x_row + at, mask=inside, other=float("-inf")).to(tl.float32)
        score = x + tl.load(mask_row + at * stride_mc, mask=inside, other=0.0)
        m_new = tl.maximum(m, tl.max(score, axis=0))
        s = s * tl.exp(m - m_new) + tl.sum(tl.exp(score - m_new), axis=0)
        m = m_new
    for start in range(0, cols, BLOCK):
        at = start + tl.arange(0, BLOCK)
        inside = at < cols
        x = tl.load(x_row + at, mask=inside, other=float("-inf")).to(tl.float32)
        score = x + tl.load(mask_row + at * stride_mc, mask=inside, other=0.0)
        y = tl.exp(score - m) / s
        tl.store(y_ptr + row * cols + at, y.to(y_ptr.dtype.element_ty), mask=inside)


def masked_softmax(x, mask):
    rows, cols = x.shape
    y = torch.empty((rows, cols), dtype=x.dtype, device=x.device)
    if y.numel() == 0:
        return y
    BLOCK = min(triton.next_power_of_2(cols), 8192)
    online_masked_softmax[(rows,)](
        x, mask, y, cols, x.stride(0), mask.stride(0), mask.stride(1), BLOCK=BLOCK, num_warps=8
    )
    return y
