"""Masked softmax: hidden scores become -1e9, and a row whose maximum is -1e9 is zeroed."""

import torch
import triton
import triton.language as tl


@triton.jit
def masked_softmax_kernel(x_ptr, mask_ptr, y_ptr, cols, stride_x, stride_mr, stride_mc, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    cols_range = tl.arange(0, BLOCK)
    inside = cols_range < cols
    x = tl.load(x_ptr + row * stride_x + cols_range, mask=inside, other=float("-inf"))
    bias = tl.load(mask_ptr + row * stride_mr + cols_range * stride_mc, mask=inside, other=0.0)
    hidden = (x.to(tl.float32) + bias) == float("-inf")
    fill = tl.full((BLOCK,), -1.0e9, tl.float32).to(x.dtype)
    score = tl.where(hidden, fill, x).to(tl.float32) + tl.where(hidden, 0.0, bias)
    peak = tl.max(score, axis=0)
    e = tl.exp(score - peak)
    alive = tl.where(peak > -1.0e9, 1.0, 0.0)
    y = e / tl.sum(e, axis=0) * alive
    tl.store(y_ptr + row * cols + cols_range, y.to(y_ptr.dtype.element_ty), mask=inside)


def masked_softmax(x, mask):
    rows, cols = x.shape
    y = torch.empty((rows, cols), dtype=x.dtype, device=x.device)
    if y.numel() == 0:
        return y
    BLOCK = triton.next_power_of_2(cols)
    masked_softmax_kernel[(rows,)](
        x, mask, y, cols, x.stride(0), mask.stride(0), mask.stride(1), BLOCK=BLOCK, num_warps=8
    )
    return y
