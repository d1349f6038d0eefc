"""Lets every program write all rows, in the hope that the last one is right."""

import torch
import triton
import triton.language as tl


@triton.jit
def double_rows(x_ptr, y_ptr, n_rows, x_stride, n_cols, BLOCK: tl.constexpr):
    first = tl.program_id(0).to(tl.int64)
    cols = tl.arange(0, BLOCK)
    mask = cols < n_cols
    for row in range(n_rows):
        x = tl.load(x_ptr + row * x_stride + cols, mask=mask, other=0.0)
        tl.store(y_ptr + row * n_cols + cols, tl.where(first == row, 2 * x, x), mask=mask)


def doubled(x):
    y = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    rows, cols = x.shape
    double_rows[(rows,)](x, y, rows, x.stride(0), cols, BLOCK=triton.next_power_of_2(cols))
    return y
