"""Row-wise softmax of `x + mask` that gives zeros where a row has nothing to attend to."""

import torch
import triton
import triton.language as tl

MAX_ROW_IN_REGISTERS = 16384
LOOP_BLOCK = 4096


@triton.jit
def softmax_row_in_registers(
    x_ptr, mask_ptr, y_ptr, cols, x_row_stride, mask_row_stride, mask_col_stride, BLOCK: tl.constexpr
):
    """One program a row, each element loaded once.

    x, mask and y have the shape (rows, cols); strides count elements. The
    columns of x and y lie side by side, those of mask `mask_col_stride` apart
    (0 or 1). BLOCK is a power of two, at least cols. Grid: (rows,).
    """
    row = tl.program_id(0).to(tl.int64)  # row * stride may pass 2^31
    columns = tl.arange(0, BLOCK)
    inside = columns < cols
    x = tl.load(x_ptr + row * x_row_stride + columns, mask=inside, other=float("-inf")).to(tl.float32)
    bias = tl.load(mask_ptr + row * mask_row_stride + columns * mask_col_stride, mask=inside, other=0.0)
    score = x + bias
    top = tl.max(score, axis=0)
    # A row of -inf has no maximum to subtract: with 0 in its place every weight is exp(-inf) = 0.
    shift = tl.where(top == float("-inf"), 0.0, top)
    weight = tl.exp(score - shift)
    total = tl.sum(weight, axis=0)
    # total is 0 only in such a row, and NaN (which is not 0) where the row must be NaN.
    y = weight / tl.where(total == 0.0, 1.0, total)
    tl.store(y_ptr + row * cols + columns, y.to(y_ptr.dtype.element_ty), mask=inside)


@triton.jit
def softmax_row_in_blocks(
    x_ptr, mask_ptr, y_ptr, cols, x_row_stride, mask_row_stride, mask_col_stride, BLOCK: tl.constexpr
):
    """One program a row that is too wide for registers: maximum and sum in one sweep, the result in another.

    Shapes, strides and grid as in `softmax_row_in_registers`; BLOCK is a power
    of two and may be smaller than cols.
    """
    row = tl.program_id(0).to(tl.int64)
    x_row = x_ptr + row * x_row_stride
    mask_row = mask_ptr + row * mask_row_stride
    top = float("-inf")
    total = 0.0
    for start in range(0, cols, BLOCK):
        columns = start + tl.arange(0, BLOCK)
        inside = columns < cols
        x = tl.load(x_row + columns, mask=inside, other=float("-inf")).to(tl.float32)
        score = x + tl.load(mask_row + columns * mask_col_stride, mask=inside, other=0.0)
        new_top = tl.maximum(top, tl.max(score, axis=0))
        shift = tl.where(new_top == float("-inf"), 0.0, new_top)
        # What was summed so far was relative to the old maximum.
        total = total * tl.exp(top - shift) + tl.sum(tl.exp(score - shift), axis=0)
        top = new_top
    shift = tl.where(top == float("-inf"), 0.0, top)
    total = tl.where(total == 0.0, 1.0, total)
    for start in range(0, cols, BLOCK):
        columns = start + tl.arange(0, BLOCK)
        inside = columns < cols
        x = tl.load(x_row + columns, mask=inside, other=float("-inf")).to(tl.float32)
        score = x + tl.load(mask_row + columns * mask_col_stride, mask=inside, other=0.0)
        y = tl.exp(score - shift) / total
        tl.store(y_ptr + row * cols + columns, y.to(y_ptr.dtype.element_ty), mask=inside)


def masked_softmax(x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """Return the softmax of each row of `x + mask`, fresh and contiguous, in x's dtype.

    x: (rows, cols), float32, float16 or bfloat16, unit column stride.
    mask: float32 of the same shape, any strides (0 where it was expanded).
    """
    rows, cols = x.shape
    y = torch.empty((rows, cols), dtype=x.dtype, device=x.device)
    if rows == 0 or cols == 0:
        return y
    strides = (x.stride(0), mask.stride(0), mask.stride(1))
    if cols <= MAX_ROW_IN_REGISTERS:
        block = triton.next_power_of_2(cols)
        warps = min(max(block // 512, 1), 16)
        softmax_row_in_registers[(rows,)](x, mask, y, cols, *strides, BLOCK=block, num_warps=warps)
    else:
        softmax_row_in_blocks[(rows,)](x, mask, y, cols, *strides, BLOCK=LOOP_BLOCK, num_warps=8)
    return y
