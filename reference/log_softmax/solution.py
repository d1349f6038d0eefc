"""Row-wise log-softmax, (x - m) - log(s): one pass for rows that fit in registers, two for wider ones."""

import torch
import triton
import triton.language as tl

MAX_COLUMNS_IN_REGISTERS = 16384
LOOP_BLOCK = 8192


@triton.jit
def log_softmax_row_in_registers(x_ptr, y_ptr, cols, x_row_stride, BLOCK: tl.constexpr):
    """One program a row, every element loaded once.

    x_ptr: (rows, cols), float32, float16 or bfloat16; rows x_row_stride elements apart, columns 1.
    y_ptr: (rows, cols), x's dtype, contiguous.
    BLOCK: a power of two, at least cols. Grid: (rows,).
    """
    row = tl.program_id(0).to(tl.int64)  # row * stride may pass 2^31
    columns = tl.arange(0, BLOCK)
    inside = columns < cols
    # -inf in the lanes past the row changes no maximum, and exp makes it 0 in the sum.
    scores = tl.load(x_ptr + row * x_row_stride + columns, mask=inside, other=float("-inf")).to(tl.float32)
    shifted = scores - tl.max(scores, axis=0)
    # The scores and their maximum may both be huge; the logarithm joins only when they have cancelled.
    result = shifted - tl.log(tl.sum(tl.exp(shifted), axis=0))
    tl.store(y_ptr + row * cols + columns, result.to(y_ptr.dtype.element_ty), mask=inside)


@triton.jit
def log_softmax_row_in_blocks(x_ptr, y_ptr, cols, x_row_stride, BLOCK: tl.constexpr):
    """One program a row of any width: one sweep for the maximum and the sum, one for the result.

    Shapes, strides and grid as in `log_softmax_row_in_registers`; BLOCK is a
    power of two and may be smaller than cols.
    """
    row = tl.program_id(0).to(tl.int64)
    x_row = x_ptr + row * x_row_stride
    y_row = y_ptr + row * cols
    top = float("-inf")
    total = 0.0
    for start in range(0, cols, BLOCK):
        columns = start + tl.arange(0, BLOCK)
        scores = tl.load(x_row + columns, mask=columns < cols, other=float("-inf")).to(tl.float32)
        new_top = tl.maximum(top, tl.max(scores, axis=0))
        # While all scores so far are -inf there is no maximum to subtract; 0 keeps the sum at 0.
        shift = tl.where(new_top == float("-inf"), 0.0, new_top)
        # The old sum was taken relative to the old maximum.
        total = total * tl.exp(top - shift) + tl.sum(tl.exp(scores - shift), axis=0)
        top = new_top
    log_total = tl.log(total)
    for start in range(0, cols, BLOCK):
        columns = start + tl.arange(0, BLOCK)
        inside = columns < cols
        scores = tl.load(x_row + columns, mask=inside, other=float("-inf")).to(tl.float32)
        result = (scores - top) - log_total
        tl.store(y_row + columns, result.to(y_ptr.dtype.element_ty), mask=inside)


def log_softmax(x: torch.Tensor) -> torch.Tensor:
    """Return the log-softmax of each row of x, fresh and contiguous, in x's shape and dtype.

    x: (rows, cols), float32, float16 or bfloat16, unit column stride, any row stride.
    """
    rows, cols = x.shape
    y = torch.empty((rows, cols), dtype=x.dtype, device=x.device)
    if rows == 0 or cols == 0:
        return y
    if cols <= MAX_COLUMNS_IN_REGISTERS:
        block = triton.next_power_of_2(cols)
        warps = min(max(block // 512, 1), 16)
        log_softmax_row_in_registers[(rows,)](x, y, cols, x.stride(0), BLOCK=block, num_warps=warps)
    else:
        log_softmax_row_in_blocks[(rows,)](x, y, cols, x.stride(0), BLOCK=LOOP_BLOCK, num_warps=16)
    return y
