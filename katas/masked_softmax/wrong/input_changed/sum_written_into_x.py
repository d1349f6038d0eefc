"""Masked softmax that keeps x + mask in x."""

import torch
import triton
import triton.language as tl


@triton.jit
def masked_row_kernel(x_ptr, mask_ptr, y_ptr, cols, stride_x, stride_mr, stride_mc, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    col = tl.arange(0, BLOCK)
    inside = col < cols
    x = tl.load(x_ptr + row * stride_x + col, mask=inside, other=float("-inf")).to(tl.float32)
    score = x + tl.load(mask_ptr + row * stride_mr + col * stride_mc, mask=inside, other=0.0)
    tl.store(x_ptr + row * stride_x + col, score.to(x_ptr.dtype.element_ty), mask=inside)
    peak = tl.max(score, axis=0)
    e = tl.exp(score - tl.where(peak == float("-inf"), 0.0, peak))
    total = tl.sum(e, axis=0)
    y = e / tl.where(total == 0.0, 1.0, total)
    tl.store(y_ptr + row * cols + col, y.to(y_ptr.dtype.element_ty), mask=inside)


def masked_softmax(x, mask):
    rows, cols = x.shape
    y = torch.empty((rows, cols), dtype=x.dtype, device=x.device)
    if y.numel() == 0:
        return y
    strides = (x.stride(0), mask.stride(0), mask.stride(1))
    masked_row_kernel[(rows,)](x, mask, y, cols, *strides, BLOCK=triton.next_power_of_2(cols), num_warps=16)
    return y
