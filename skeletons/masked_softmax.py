"""masked_softmax: fill in the five TODOs, then run `kata check`. The task is in masked_softmax.md."""

import torch
import triton
import triton.language as tl


@triton.jit
def masked_softmax_kernel(
    x_ptr, mask_ptr, y_ptr, cols, x_row_stride, mask_row_stride, mask_col_stride, BLOCK: tl.constexpr
):
    """Write one row of softmax(x + mask).

    x_ptr: (rows, cols), float32, float16 or bfloat16; rows are x_row_stride elements apart, columns 1.
    mask_ptr: (rows, cols), float32; strides mask_row_stride and mask_col_stride, either may be 0.
    y_ptr: (rows, cols), x's dtype, contiguous: rows are cols elements apart.
    BLOCK: a power of two, at least cols. Grid: one program a row.
    """
    row = tl.program_id(0).to(tl.int64)
    columns = tl.arange(0, BLOCK)
    inside = columns < cols

    # TODO 1: load the row of x as float32, and the row of the mask through both of its strides.
    #         What must a lane outside the row hold, so that it joins neither maximum nor sum?

    # TODO 2: the scores are x + mask. Find their maximum.

    # TODO 3: a row may have no score but -inf. Choose what to subtract so that it gives no NaN.

    # TODO 4: exp and sum, then divide. What is the sum of a row of TODO 3?

    # TODO 5: store the row. Which lanes may be written?


def masked_softmax(x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """Return softmax(x + mask) over the columns, in x's shape and dtype, fresh and contiguous."""
    rows, cols = x.shape
    y = torch.empty((rows, cols), dtype=x.dtype, device=x.device)
    if rows == 0 or cols == 0:
        return y
    block = triton.next_power_of_2(cols)
    masked_softmax_kernel[(rows,)](
        x, mask, y, cols, x.stride(0), mask.stride(0), mask.stride(1), BLOCK=block, num_warps=8
    )
    return y
