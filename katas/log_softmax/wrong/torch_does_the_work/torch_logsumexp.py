"""torch finds the log-sum-exp, the kernel subtracts it."""

import torch
import triton
import triton.language as tl


@triton.jit
def subtract_kernel(x_ptr, lse_ptr, y_ptr, x_stride, y_stride, n_cols, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    cols = tl.arange(0, BLOCK)
    mask = cols < n_cols
    x = tl.load(x_ptr + row * x_stride + cols, mask=mask, other=0.0).to(tl.float32)
    tl.store(y_ptr + row * y_stride + cols, x - tl.load(lse_ptr + row).to(tl.float32), mask=mask)


def log_softmax(x):
    n_rows, n_cols = x.shape
    y = torch.empty((n_rows, n_cols), dtype=x.dtype, device=x.device)
    if x.numel() == 0:
        return y
    BLOCK = triton.next_power_of_2(n_cols)
    lse = torch.logsumexp(x, dim=1)
    subtract_kernel[(n_rows,)](x, lse, y, x.stride(0), y.stride(0), n_cols, BLOCK=BLOCK, num_warps=8)
    return y
