"""Scale, causal mask and softmax of attention scores: as three kernels, as one, and as one that skips.

x has the shape (rows, cols), is float32, float16 or bfloat16, and has unit column stride and any row
stride; y has x's shape and dtype and is contiguous. The rows are those of square score matrices, one after
another: row r is the query r % cols, which sees the columns up to r % cols and no later one. Arithmetic is float32,
and one program works on one row.
"""

import torch
import triton
import triton.language as tl

SCALE = 0.125
"""1 / sqrt(64), for heads of 64. A power of two: rounding the scaled scores to half precision loses nothing."""

SKIPPED_BLOCK = 64
SMALLEST_BLOCK = 128
LARGEST_BLOCK = 4096
SMALLEST_ROW = 32
"""Lanes of a warp: with fewer elements, threads would load the same one twice."""


@triton.jit
def scale_kernel(x_ptr, y_ptr, cols, x_row_stride, SCALE: tl.constexpr, BLOCK: tl.constexpr):
    """Y = x * SCALE: one load and one store."""
    row = tl.program_id(0).to(tl.int64)
    for start in range(0, cols, BLOCK):
        columns = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * x_row_stride + columns, mask=columns < cols).to(tl.float32)
        tl.store(y_ptr + row * cols + columns, (x * SCALE).to(y_ptr.dtype.element_ty), mask=columns < cols)


@triton.jit
def causal_mask_kernel(x_ptr, y_ptr, cols, BLOCK: tl.constexpr):
    """Y = x, plus -inf where the column lies after the query: one load and one store. x is contiguous."""
    row = tl.program_id(0).to(tl.int64)
    query = row % cols
    for start in range(0, cols, BLOCK):
        columns = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * cols + columns, mask=columns < cols).to(tl.float32)
        y = x + tl.where(columns <= query, 0.0, float("-inf"))
        tl.store(y_ptr + row * cols + columns, y.to(y_ptr.dtype.element_ty), mask=columns < cols)


@triton.jit
def softmax_kernel(x_ptr, y_ptr, cols, BLOCK: tl.constexpr):
    """Online softmax of contiguous rows that may hold -inf: two loads and one store."""
    row = tl.program_id(0).to(tl.int64)
    x_row = x_ptr + row * cols
    lanes = tl.arange(0, BLOCK)
    tops = tl.full([BLOCK], float("-inf"), tl.float32)
    sums = tl.zeros([BLOCK], tl.float32)
    for start in range(0, cols, BLOCK):
        columns = start + lanes
        scores = tl.load(x_row + columns, mask=columns < cols, other=float("-inf")).to(tl.float32)
        new_tops = tl.maximum(tops, scores)
        # A lane whose columns are all masked so far has no maximum to subtract.
        shift = tl.where(new_tops == float("-inf"), 0.0, new_tops)
        sums = sums * tl.exp(tops - shift) + tl.exp(scores - shift)
        tops = new_tops
    top = tl.max(tops, axis=0)
    total = tl.sum(sums * tl.exp(tops - top), axis=0)
    for start in range(0, cols, BLOCK):
        columns = start + lanes
        scores = tl.load(x_row + columns, mask=columns < cols, other=float("-inf")).to(tl.float32)
        y = tl.exp(scores - top) / total
        tl.store(y_ptr + row * cols + columns, y.to(y_ptr.dtype.element_ty), mask=columns < cols)


@triton.jit
def masked_row_softmax(x, columns, query, SCALE: tl.constexpr):
    """Scale, mask and softmax of one row that is in registers."""
    scores = x.to(tl.float32) * SCALE + tl.where(columns <= query, 0.0, float("-inf"))
    weights = tl.exp(scores - tl.max(scores, axis=0))
    return weights / tl.sum(weights, axis=0)


@triton.jit
def fused_kernel(x_ptr, y_ptr, cols, x_row_stride, SCALE: tl.constexpr, BLOCK: tl.constexpr):
    """All three steps with the row in registers: one load and one store. BLOCK is at least cols."""
    row = tl.program_id(0).to(tl.int64)
    columns = tl.arange(0, BLOCK)
    inside = columns < cols
    x = tl.load(x_ptr + row * x_row_stride + columns, mask=inside, other=float("-inf"))
    y = masked_row_softmax(x, columns, row % cols, SCALE)
    tl.store(y_ptr + row * cols + columns, y.to(y_ptr.dtype.element_ty), mask=inside)


@triton.jit
def fused_skipping_kernel(
    x_ptr, y_ptr, cols, x_row_stride, SCALE: tl.constexpr, SKIPPED: tl.constexpr, BLOCK: tl.constexpr
):
    """The same, but blocks of SKIPPED columns that lie wholly after the query are not loaded.

    About half a load and one store: the zeros above the diagonal are part of the result. BLOCK is at least cols.
    """
    row = tl.program_id(0).to(tl.int64)
    query = row % cols
    columns = tl.arange(0, BLOCK)
    inside = columns < cols
    wanted = columns < (query // SKIPPED + 1) * SKIPPED
    x = tl.load(x_ptr + row * x_row_stride + columns, mask=inside & wanted, other=float("-inf"))
    y = masked_row_softmax(x, columns, query, SCALE)
    tl.store(y_ptr + row * cols + columns, y.to(y_ptr.dtype.element_ty), mask=inside)


def unfused(x: torch.Tensor) -> torch.Tensor:
    """Three launches, with a scratch tensor between each two."""
    rows, cols = x.shape
    scaled = torch.empty((rows, cols), dtype=x.dtype, device=x.device)
    masked = torch.empty((rows, cols), dtype=x.dtype, device=x.device)
    y = torch.empty((rows, cols), dtype=x.dtype, device=x.device)
    block = min(max(triton.next_power_of_2(cols) // 4, SMALLEST_BLOCK), LARGEST_BLOCK)
    warps = min(max(block // 256, 1), 8)
    scale_kernel[(rows,)](x, scaled, cols, x.stride(0), SCALE=SCALE, BLOCK=block, num_warps=warps)
    causal_mask_kernel[(rows,)](scaled, masked, cols, BLOCK=block, num_warps=warps)
    softmax_kernel[(rows,)](masked, y, cols, BLOCK=block, num_warps=warps)
    return y


def fused(x: torch.Tensor) -> torch.Tensor:
    """One launch, nothing in between."""
    rows, cols = x.shape
    y = torch.empty((rows, cols), dtype=x.dtype, device=x.device)
    block = max(triton.next_power_of_2(cols), SMALLEST_ROW)
    fused_kernel[(rows,)](x, y, cols, x.stride(0), SCALE=SCALE, BLOCK=block, num_warps=_warps(block))
    return y


def fused_skipping(x: torch.Tensor) -> torch.Tensor:
    """One launch that leaves out what the mask hides."""
    rows, cols = x.shape
    y = torch.empty((rows, cols), dtype=x.dtype, device=x.device)
    block = max(triton.next_power_of_2(cols), SMALLEST_ROW)
    fused_skipping_kernel[(rows,)](
        x, y, cols, x.stride(0), SCALE=SCALE, SKIPPED=SKIPPED_BLOCK, BLOCK=block, num_warps=_warps(block)
    )
    return y


def _warps(block):
    """For a row in registers: 16 elements a thread, and more where 32 warps are not enough."""
    return min(max(block // 512, 1), 32)
