"""log_softmax: fill in the five TODOs, then run `kata check`. The task is in log_softmax.md."""

import torch
import triton
import triton.language as tl


@triton.jit
def log_softmax_kernel(x_ptr, y_ptr, cols, x_row_stride, BLOCK: tl.constexpr):
    """Write the log-softmax of one row; as it stands, it only copies the row.

    x_ptr: (rows, cols), float32, float16 or bfloat16; rows are x_row_stride elements apart, columns 1.
    y_ptr: (rows, cols), x's dtype, contiguous: rows are cols elements apart.
    BLOCK: a power of two, at least cols. Grid: one program a row.
    """
    row = tl.program_id(0).to(tl.int64)
    columns = tl.arange(0, BLOCK)
    inside = columns < cols

    # TODO 1: what must the lanes past the row hold, and which dtype do you compute in?
    scores = tl.load(x_ptr + row * x_row_stride + columns, mask=inside)

    # TODO 2: subtract the row's maximum, and keep the difference: you need it twice.

    # TODO 3: the sum of the exponentials, and its logarithm. To which base?

    # TODO 4: put the result together. Which subtraction comes first?
    result = scores

    tl.store(y_ptr + row * cols + columns, result, mask=inside)


def log_softmax(x: torch.Tensor) -> torch.Tensor:
    """Return the logarithm of the softmax of each row of x, in x's shape and dtype, fresh and contiguous."""
    rows, cols = x.shape
    y = torch.empty((rows, cols), dtype=x.dtype, device=x.device)
    if rows == 0 or cols == 0:
        return y
    # TODO 5: a row of 131,072 columns does not fit in one block.
    block = triton.next_power_of_2(cols)
    log_softmax_kernel[(rows,)](x, y, cols, x.stride(0), BLOCK=block, num_warps=8)
    return y
