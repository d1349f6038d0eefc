"""x is shifted by its maximum first; the mask joins in the exponent."""

import torch
import triton
import triton.language as tl


@triton.jit
def masked_softmax_kernel(x_ptr, mask_ptr, y_ptr, cols, stride_x, stride_mr, stride_mc, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    cols_range = tl.arange(0, BLOCK)
    inside = cols_range < cols
    x = tl.load(x_ptr + row * stride_x + cols_range, mask=inside, other=float("-inf")).to(tl.float32)
    bias = tl.load(mask_ptr + row * stride_mr + cols_range * stride_mc, mask=inside, other=0.0)
    peak = tl.max(x, axis=0)
    peak = tl.where(peak == float("-inf"), 0.0, peak)
    e = tl.exp(x - peak + bias)
    total = tl.sum(e, axis=0)
    total = tl.where(total == 0.0, 1.0, total)
    tl.store(y_ptr + row * cols + cols_range, (e / total).to(y_ptr.dtype.element_ty), mask=inside)


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
