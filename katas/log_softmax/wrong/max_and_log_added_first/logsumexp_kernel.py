"""One kernel for the log-sum-exp of each row, another that subtracts it."""

import torch
import triton
import triton.language as tl


@triton.jit
def logsumexp_kernel(x_ptr, lse_ptr, x_stride, n_cols, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    x_row = x_ptr + row * x_stride
    m = -float("inf")
    s = 0.0
    for start in range(0, n_cols, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        x = tl.load(x_row + cols, mask=cols < n_cols, other=-float("inf")).to(tl.float32)
        m_new = tl.maximum(m, tl.max(x, axis=0))
        shift = tl.where(m_new == -float("inf"), 0.0, m_new)
        s = s * tl.exp(m - shift) + tl.sum(tl.exp(x - shift), axis=0)
        m = m_new
    tl.store(lse_ptr + row, m + tl.log(s))


@triton.jit
def subtract_kernel(x_ptr, lse_ptr, y_ptr, x_stride, n_cols, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    cols = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    mask = cols < n_cols
    x = tl.load(x_ptr + row * x_stride + cols, mask=mask, other=0.0).to(tl.float32)
    tl.store(y_ptr + row * n_cols + cols, x - tl.load(lse_ptr + row), mask=mask)


def log_softmax(x):
    n_rows, n_cols = x.shape
    y = torch.empty((n_rows, n_cols), dtype=x.dtype, device=x.device)
    if x.numel() == 0:
        return y
    lse = torch.empty((n_rows,), dtype=torch.float32, device=x.device)
    logsumexp_kernel[(n_rows,)](x, lse, x.stride(0), n_cols, BLOCK=4096, num_warps=8)
    grid = (n_rows, triton.cdiv(n_cols, 4096))
    subtract_kernel[grid](x, lse, y, x.stride(0), n_cols, BLOCK=4096, num_warps=8)
    return y
