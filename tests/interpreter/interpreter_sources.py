"""Softmax kernels by their number of passes, as sources that a worker loads."""

from __future__ import annotations

LOOPED = """
@triton.jit
def kernel(y_ptr, x_ptr, x_stride, y_stride, n_cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    {statistics}
    for start in range(0, n_cols, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * x_stride + cols, mask=cols < n_cols, other=-float("inf"))
        tl.store(y_ptr + row * y_stride + cols, tl.exp(x - m) / s, mask=cols < n_cols)

def run(x):
    y = torch.empty_like(x)
    kernel[(x.shape[0],)](y, x, x.stride(0), y.stride(0), x.shape[1], BLOCK=256)
    return y
"""
PASS = """
    for start in range(0, n_cols, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * x_stride + cols, mask=cols < n_cols, other=-float("inf"))
"""
NAIVE = LOOPED.format(statistics="m = 0.0\n    s = 0.0" + PASS + "        s += tl.sum(tl.exp(x), 0)\n")
THREE_PASS = LOOPED.format(
    statistics='m = -float("inf")'
    + PASS
    + "        m = tl.maximum(m, tl.max(x, 0))\n    s = 0.0"
    + PASS
    + "        s += tl.sum(tl.exp(x - m), 0)\n"
)
TWO_PASS = LOOPED.format(
    statistics='m = -float("inf")\n    s = 0.0'
    + PASS
    + "        new = tl.maximum(m, tl.max(x, 0))\n"
    + "        s = s * tl.exp(m - new) + tl.sum(tl.exp(x - new), 0)\n        m = new\n"
)
ONE_PASS = """
@triton.jit
def kernel(y_ptr, x_ptr, x_stride, y_stride, n_cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * x_stride + cols, mask=cols < n_cols, other=-float("inf")).to(tl.float32)
    e = tl.exp(x - tl.max(x, 0))
    tl.store(y_ptr + row * y_stride + cols, e / tl.sum(e, 0), mask=cols < n_cols)

def run(x):
    y = torch.empty_like(x)
    kernel[(x.shape[0],)](y, x, x.stride(0), y.stride(0), x.shape[1], BLOCK=triton.next_power_of_2(x.shape[1]))
    return y
"""
