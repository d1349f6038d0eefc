"""Two launches: statistics into scratch tensors, then a grid over rows and columns that normalises."""

import torch
import triton
import triton.language as tl


@triton.jit
def statistics_kernel(x_ptr, max_ptr, sum_ptr, n_cols, x_stride, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    x_ptr += row.to(tl.int64) * x_stride
    m = -float("inf")
    s = 0.0
    for start in range(0, n_cols, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + cols, mask=cols < n_cols, other=-float("inf")).to(tl.float32)
        new_m = tl.maximum(m, tl.max(x))
        finite = tl.where(new_m == -float("inf"), 0.0, new_m)
        s = s * tl.exp(m - finite) + tl.sum(tl.exp(x - finite))
        m = new_m
    tl.store(max_ptr + row, m)
    tl.store(sum_ptr + row, s)


@triton.jit
def normalise_kernel(x_ptr, y_ptr, max_ptr, sum_ptr, n_cols, x_stride, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    m = tl.load(max_ptr + row)
    s = tl.load(sum_ptr + row)
    row = row.to(tl.int64)
    x = tl.load(x_ptr + row * x_stride + cols, mask=cols < n_cols).to(tl.float32)
    tl.store(y_ptr + row * n_cols + cols, tl.exp(x - m) / s, mask=cols < n_cols)


def safe_softmax(x: torch.Tensor) -> torch.Tensor:
    n_rows, n_cols = x.shape
    y = torch.empty((n_rows, n_cols), dtype=x.dtype, device=x.device)
    if n_rows == 0 or n_cols == 0:
        return y
    row_max = torch.empty(n_rows, dtype=torch.float32, device=x.device)
    row_sum = torch.empty_like(row_max)
    block = 1024
    statistics_kernel[(n_rows,)](x, row_max, row_sum, n_cols, x.stride(0), BLOCK=block)
    grid = (n_rows, triton.cdiv(n_cols, block))
    normalise_kernel[grid](x, y, row_max, row_sum, n_cols, x.stride(0), BLOCK=block)
    return y
