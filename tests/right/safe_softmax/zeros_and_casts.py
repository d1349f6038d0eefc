"""The result allocated as zeros, scratch filled from the host, casts with tl.cast."""

import torch
import triton
import triton.language as tl

NARROW = 16384


@triton.jit
def narrow(x_ptr, y_ptr, cols, stride, y_stride, BLOCK: tl.constexpr):
    row = tl.cast(tl.program_id(0), tl.int64)
    at = tl.cast(tl.arange(0, BLOCK), tl.int32)
    x = tl.cast(tl.load(x_ptr + row * stride + at, mask=at < cols, other=float("-inf")), tl.float32)
    weights = tl.exp(x - tl.max(x, 0))
    y = weights / tl.sum(weights, 0)
    tl.store(y_ptr + row * y_stride + at, tl.cast(y, y_ptr.dtype.element_ty), mask=at < cols)


@triton.jit
def statistics(x_ptr, top_ptr, total_ptr, cols, stride, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    src = x_ptr + tl.cast(row, tl.int64) * stride
    top = tl.load(top_ptr + row)
    total = tl.load(total_ptr + row)
    for start in range(0, cols, BLOCK):
        at = start + tl.arange(0, BLOCK)
        x = tl.cast(tl.load(src + at, mask=at < cols, other=float("-inf")), tl.float32)
        new_top = tl.maximum(top, tl.max(x, 0))
        shift = tl.where(new_top == float("-inf"), 0.0, new_top)
        total = total * tl.exp(top - shift) + tl.sum(tl.exp(x - shift), 0)
        top = new_top
    tl.store(top_ptr + row, top)
    tl.store(total_ptr + row, total)


@triton.jit
def divide(x_ptr, y_ptr, top_ptr, total_ptr, cols, stride, y_stride, BLOCK: tl.constexpr):
    row = tl.program_id(1)
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + tl.cast(row, tl.int64) * stride + at, mask=at < cols, other=0.0)
    y = tl.exp(tl.cast(x, tl.float32) - tl.load(top_ptr + row)) / tl.load(total_ptr + row)
    tl.store(y_ptr + tl.cast(row, tl.int64) * y_stride + at, tl.cast(y, y_ptr.dtype.element_ty), mask=at < cols)


def safe_softmax(x: torch.Tensor) -> torch.Tensor:
    rows, cols = x.shape
    y = torch.zeros((rows, cols), dtype=x.dtype, device=x.device)
    if not (rows and cols):
        return y
    if cols <= NARROW:
        narrow[(rows,)](x, y, cols, x.stride(0), y.stride(0), BLOCK=triton.next_power_of_2(cols), num_warps=8)
        return y
    top = torch.empty(rows, device=x.device, dtype=torch.float32).fill_(float("-inf"))
    total = torch.zeros_like(top)
    statistics[(rows,)](x, top, total, cols, x.stride(0), BLOCK=2048)
    # The second dimension of a grid ends at 65,535.
    for first in range(0, rows, 32768):
        part = slice(first, min(first + 32768, rows))
        grid = (triton.cdiv(cols, 2048), part.stop - first)
        divide[grid](x[part], y[part], top[part], total[part], cols, x.stride(0), y.stride(0), BLOCK=2048)
    return y
