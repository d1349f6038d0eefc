"""A right kernel that keeps the block size of each width, and counts its calls."""

import torch
import triton
import triton.language as tl

BLOCKS = {}
CALLS = [0]


@triton.jit
def double_rows(x_ptr, y_ptr, x_stride, n_cols, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    cols = tl.arange(0, BLOCK)
    mask = cols < n_cols
    x = tl.load(x_ptr + row * x_stride + cols, mask=mask, other=0.0)
    tl.store(y_ptr + row * n_cols + cols, 2 * x, mask=mask)


def doubled(x):
    CALLS[0] += 1
    y = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    rows, cols = x.shape
    block = BLOCKS.setdefault(cols, triton.next_power_of_2(cols))
    double_rows[(rows,)](x, y, x.stride(0), cols, BLOCK=block)
    return y
