"""Writes before the start and past the end of its result."""

import torch
import triton
import triton.language as tl


@triton.jit
def double_rows(x_ptr, y_ptr, x_stride, n_cols, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    cols = tl.arange(0, BLOCK)
    mask = cols < n_cols
    x = tl.load(x_ptr + row * x_stride + cols, mask=mask, other=0.0)
    tl.store(y_ptr + row * n_cols + cols, 2 * x, mask=mask)
    tl.store(y_ptr - 8 + cols, 2 * x, mask=cols < 8)


def doubled(x):
    y = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    rows, cols = x.shape
    double_rows[(rows,)](x, y, x.stride(0), cols, BLOCK=triton.next_power_of_2(cols))
    return y
