"""One row-wise softmax, four ways, from the most memory traffic to the least.

x has the shape (rows, cols), is float32, float16 or bfloat16, and has unit column stride and any row
stride; y has x's shape and dtype and is contiguous. Statistics are float32. One program works on one row.
The looped kernels hold BLOCK columns at a time, so that going over a row again means loading it again.
"""

import torch
import triton
import triton.language as tl

SMALLEST_BLOCK = 128
LARGEST_BLOCK = 4096
SMALLEST_ROW = 32
"""Lanes of a warp: with fewer elements, threads would load the same one twice."""


@triton.jit
def load_scores(x_row, columns, cols):
    """Some columns of a row as float32, -inf past its end."""
    return tl.load(x_row + columns, mask=columns < cols, other=float("-inf")).to(tl.float32)


@triton.jit
def naive_unsafe_kernel(x_ptr, y_ptr, cols, x_row_stride, BLOCK: tl.constexpr):
    """exp(x) over the sum of exp(x): two loads and a store of the row, and inf where a score is above 88.7."""
    row = tl.program_id(0).to(tl.int64)
    x_row = x_ptr + row * x_row_stride
    y_row = y_ptr + row * cols
    lanes = tl.arange(0, BLOCK)
    sums = tl.zeros([BLOCK], tl.float32)
    for start in range(0, cols, BLOCK):
        sums += tl.exp(load_scores(x_row, start + lanes, cols))
    total = tl.sum(sums, axis=0)
    for start in range(0, cols, BLOCK):
        columns = start + lanes
        y = tl.exp(load_scores(x_row, columns, cols)) / total
        tl.store(y_row + columns, y.to(y_ptr.dtype.element_ty), mask=columns < cols)


@triton.jit
def safe_three_pass_kernel(x_ptr, y_ptr, cols, x_row_stride, BLOCK: tl.constexpr):
    """The maximum, then the sum, then the result: three loads and a store of the row."""
    row = tl.program_id(0).to(tl.int64)
    x_row = x_ptr + row * x_row_stride
    y_row = y_ptr + row * cols
    lanes = tl.arange(0, BLOCK)
    tops = tl.full([BLOCK], float("-inf"), tl.float32)
    for start in range(0, cols, BLOCK):
        tops = tl.maximum(tops, load_scores(x_row, start + lanes, cols))
    top = tl.max(tops, axis=0)
    sums = tl.zeros([BLOCK], tl.float32)
    for start in range(0, cols, BLOCK):
        sums += tl.exp(load_scores(x_row, start + lanes, cols) - top)
    total = tl.sum(sums, axis=0)
    for start in range(0, cols, BLOCK):
        columns = start + lanes
        y = tl.exp(load_scores(x_row, columns, cols) - top) / total
        tl.store(y_row + columns, y.to(y_ptr.dtype.element_ty), mask=columns < cols)


@triton.jit
def online_two_pass_kernel(x_ptr, y_ptr, cols, x_row_stride, BLOCK: tl.constexpr):
    """Maximum and sum together, then the result: two loads and a store of the row.

    Every lane runs the recurrence over its own columns; the lanes' pairs of maximum and sum are merged at the end.
    """
    row = tl.program_id(0).to(tl.int64)
    x_row = x_ptr + row * x_row_stride
    y_row = y_ptr + row * cols
    lanes = tl.arange(0, BLOCK)
    tops = tl.full([BLOCK], float("-inf"), tl.float32)
    sums = tl.zeros([BLOCK], tl.float32)
    for start in range(0, cols, BLOCK):
        scores = load_scores(x_row, start + lanes, cols)
        new_tops = tl.maximum(tops, scores)
        # A lane that has seen nothing but -inf has no maximum to subtract.
        shift = tl.where(new_tops == float("-inf"), 0.0, new_tops)
        sums = sums * tl.exp(tops - shift) + tl.exp(scores - shift)
        tops = new_tops
    top = tl.max(tops, axis=0)
    total = tl.sum(sums * tl.exp(tops - top), axis=0)
    for start in range(0, cols, BLOCK):
        columns = start + lanes
        y = tl.exp(load_scores(x_row, columns, cols) - top) / total
        tl.store(y_row + columns, y.to(y_ptr.dtype.element_ty), mask=columns < cols)


@triton.jit
def online_one_pass_kernel(x_ptr, y_ptr, cols, x_row_stride, BLOCK: tl.constexpr):
    """The whole row in registers: one load and one store. BLOCK is at least cols."""
    row = tl.program_id(0).to(tl.int64)
    columns = tl.arange(0, BLOCK)
    scores = load_scores(x_ptr + row * x_row_stride, columns, cols)
    weights = tl.exp(scores - tl.max(scores, axis=0))
    y = weights / tl.sum(weights, axis=0)
    tl.store(y_ptr + row * cols + columns, y.to(y_ptr.dtype.element_ty), mask=columns < cols)


def naive_unsafe(x: torch.Tensor) -> torch.Tensor:
    """The textbook formula."""
    return _in_blocks(naive_unsafe_kernel, x)


def safe_three_pass(x: torch.Tensor) -> torch.Tensor:
    """The textbook formula with the maximum subtracted."""
    return _in_blocks(safe_three_pass_kernel, x)


def online_two_pass(x: torch.Tensor) -> torch.Tensor:
    """Maximum and sum in one pass."""
    return _in_blocks(online_two_pass_kernel, x)


def online_one_pass(x: torch.Tensor) -> torch.Tensor:
    """Everything in one pass; long rows do not fit in the registers and spill."""
    rows, cols = x.shape
    y = torch.empty((rows, cols), dtype=x.dtype, device=x.device)
    block = max(triton.next_power_of_2(cols), SMALLEST_ROW)
    warps = min(max(block // 512, 1), 32)
    online_one_pass_kernel[(rows,)](x, y, cols, x.stride(0), BLOCK=block, num_warps=warps)
    return y


def _in_blocks(kernel, x):
    """Launch a looped kernel with about four blocks to a row, or more."""
    rows, cols = x.shape
    y = torch.empty((rows, cols), dtype=x.dtype, device=x.device)
    block = min(max(triton.next_power_of_2(cols) // 4, SMALLEST_BLOCK), LARGEST_BLOCK)
    warps = min(max(block // 256, 1), 8)
    kernel[(rows,)](x, y, cols, x.stride(0), BLOCK=block, num_warps=warps)
    return y
