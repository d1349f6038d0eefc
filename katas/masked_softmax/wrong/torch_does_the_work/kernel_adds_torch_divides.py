"""Masked softmax: the kernel adds the mask, the rest is one line."""

import torch
import triton
import triton.language as tl


@triton.jit
def add_mask_kernel(x_ptr, mask_ptr, y_ptr, cols, stride_x, stride_mr, stride_mc, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    cols_range = tl.arange(0, BLOCK)
    inside = cols_range < cols
    x = tl.load(x_ptr + row * stride_x + cols_range, mask=inside, other=float("-inf")).to(tl.float32)
    bias = tl.load(mask_ptr + row * stride_mr + cols_range * stride_mc, mask=inside, other=0.0)
    tl.store(y_ptr + row * cols + cols_range, x + bias, mask=inside)


def masked_softmax(x, mask):
    rows, cols = x.shape
    scores = torch.empty((rows, cols), dtype=torch.float32, device=x.device)
    if scores.numel() == 0:
        return torch.empty((rows, cols), dtype=x.dtype, device=x.device)
    BLOCK = triton.next_power_of_2(cols)
    add_mask_kernel[(rows,)](x, mask, scores, cols, x.stride(0), mask.stride(0), mask.stride(1), BLOCK=BLOCK)
    weights = torch.exp(scores - scores.amax(dim=1, keepdim=True).clamp(min=-1e30))
    return (weights / weights.sum(dim=1, keepdim=True).clamp(min=1e-30)).to(x.dtype)
