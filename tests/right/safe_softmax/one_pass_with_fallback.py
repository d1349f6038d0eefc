"""One pass in registers; rows that are too wide fall back to a loop."""

import torch
import triton
import triton.language as tl


@triton.jit
def one_pass(y_ptr, x_ptr, x_stride, y_stride, n_cols, BLOCK: tl.constexpr):
    row = tl.program_id(axis=0).to(tl.int64)
    offs = tl.arange(0, BLOCK)
    mask = offs < n_cols
    x = tl.load(x_ptr + row * x_stride + offs, mask=mask, other=-float("inf"))
    x = x.to(tl.float32)
    x = x - tl.max(x, axis=0)
    num = tl.exp(x)
    den = tl.sum(num, axis=0)
    tl.store(y_ptr + row * y_stride + offs, num / den, mask=mask)


@triton.jit
def looped(y_ptr, x_ptr, x_stride, y_stride, n_cols, BLOCK: tl.constexpr):
    row = tl.program_id(axis=0).to(tl.int64)
    x_ptr += row * x_stride
    y_ptr += row * y_stride
    m = tl.full((), -float("inf"), tl.float32)
    for start in tl.range(0, n_cols, BLOCK):
        offs = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + offs, mask=offs < n_cols, other=-float("inf")).to(tl.float32)
        m = max(m, tl.max(x, axis=0))
    s = tl.zeros((), tl.float32)
    for start in tl.range(0, n_cols, BLOCK):
        offs = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + offs, mask=offs < n_cols, other=-float("inf")).to(tl.float32)
        s += tl.sum(tl.exp(x - m), axis=0)
    for start in tl.range(0, n_cols, BLOCK):
        offs = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + offs, mask=offs < n_cols, other=-float("inf")).to(tl.float32)
        tl.store(y_ptr + offs, tl.exp(x - m) / s, mask=offs < n_cols)


def safe_softmax(x: torch.Tensor) -> torch.Tensor:
    n_rows, n_cols = x.shape
    y = torch.empty(n_rows, n_cols, dtype=x.dtype, device=x.device)
    if y.numel() == 0:
        return y
    block = triton.next_power_of_2(n_cols)
    if block <= 32768:
        num_warps = 4 if block < 2048 else 8 if block < 8192 else 16
        one_pass[(n_rows,)](y, x, x.stride(0), y.stride(0), n_cols, BLOCK=block, num_warps=num_warps)
    else:
        looped[(n_rows,)](y, x, x.stride(0), y.stride(0), n_cols, BLOCK=8192, num_warps=16)
    return y
