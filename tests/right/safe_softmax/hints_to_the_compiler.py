"""Hints, assertions and options of the compiler; the row in registers through tl.softmax."""

import torch
import triton
import triton.language as tl


@triton.jit(do_not_specialize=["n_cols"])
def softmax_in_registers(x_ptr, y_ptr, n_cols, x_stride, y_stride, BLOCK: tl.constexpr):
    tl.static_assert((BLOCK & (BLOCK - 1)) == 0, "BLOCK must be a power of two")
    row = tl.program_id(0).to(tl.int64)
    tl.assume(n_cols > 0)
    cols = tl.max_contiguous(tl.multiple_of(tl.arange(0, BLOCK), BLOCK), BLOCK)
    x = tl.load(x_ptr + row * x_stride + cols, mask=cols < n_cols, other=float("-inf"), cache_modifier=".cg")
    y = tl.softmax(x.to(tl.float32))
    tl.store(y_ptr + row * y_stride + cols, y.to(y_ptr.dtype.element_ty, fp_downcast_rounding="rtne"), cols < n_cols)


@triton.jit(do_not_specialize=["n_cols"])
def softmax_in_blocks(x_ptr, y_ptr, n_cols, x_stride, y_stride, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    tl.device_assert(n_cols > 0, "no columns")
    x_row = tl.multiple_of(x_ptr, 2) + row * x_stride
    y_row = y_ptr + row * y_stride
    top = tl.full([BLOCK], float("-inf"), tl.float32)
    for start in tl.range(0, n_cols, BLOCK, num_stages=3):
        cols = start + tl.arange(0, BLOCK)
        x = tl.load(x_row + cols, mask=cols < n_cols, other=float("-inf"), eviction_policy="evict_last")
        top = tl.maximum(top, x.to(tl.float32))
    m = tl.max(top, axis=0)
    total = tl.zeros_like(top)
    for start in tl.range(0, n_cols, BLOCK, num_stages=3):
        cols = start + tl.arange(0, BLOCK)
        x = tl.load(x_row + cols, mask=cols < n_cols, other=float("-inf"), eviction_policy="evict_last")
        total += tl.exp(x.to(tl.float32) - m)
    s = total.sum(axis=0)
    for start in tl.range(0, n_cols, BLOCK, loop_unroll_factor=2):
        cols = start + tl.arange(0, BLOCK)
        x = tl.load(x_row + cols, mask=cols < n_cols, other=float("-inf"), eviction_policy="evict_first")
        y = tl.fdiv((x.to(tl.float32) - m).exp(), s)
        tl.store(y_row + cols, y.to(y_ptr.dtype.element_ty), mask=cols < n_cols, eviction_policy="evict_first")


def safe_softmax(x: torch.Tensor) -> torch.Tensor:
    n_rows, n_cols = x.shape
    y = torch.empty_like(x, memory_format=torch.contiguous_format)
    if n_rows == 0 or n_cols == 0:
        return y
    if n_cols <= 16384:
        block = max(16, triton.next_power_of_2(n_cols))
        softmax_in_registers[(n_rows,)](x, y, n_cols, x.stride(0), y.stride(0), BLOCK=block, num_warps=8)
    else:
        softmax_in_blocks[(n_rows,)](x, y, n_cols, x.stride(0), y.stride(0), BLOCK=4096, num_warps=8, maxnreg=128)
    return y
