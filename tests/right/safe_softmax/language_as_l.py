"""The language under another name, and constants under it too."""

import torch
import triton
import triton.language as L
from triton import cdiv, next_power_of_2

MINUS_INFINITY: L.constexpr = L.constexpr(float("-inf"))


@triton.jit
def load_row(ptr, at, n):
    return L.load(ptr + at, mask=at < n, other=MINUS_INFINITY).to(L.float32)


@triton.jit
def kernel(x_ptr, y_ptr, n, x_stride, y_stride, BLOCK: L.constexpr):
    row = L.program_id(0).to(L.int64)
    x_ptr += row * x_stride
    y_ptr += row * y_stride
    top, total = MINUS_INFINITY, 0.0
    for start in range(0, n, BLOCK):
        x = load_row(x_ptr, start + L.arange(0, BLOCK), n)
        new_top = L.maximum(top, L.max(x, 0))
        shift = L.where(new_top == MINUS_INFINITY, 0.0, new_top)
        total = total * L.exp(top - shift) + L.sum(L.exp(x - shift), 0)
        top = new_top
    for start in range(0, n, BLOCK):
        at = start + L.arange(0, BLOCK)
        y = L.exp(load_row(x_ptr, at, n) - top) / total
        L.store(y_ptr + at, y.to(y_ptr.type.element_ty), mask=at < n)


def safe_softmax(x: torch.Tensor) -> torch.Tensor:
    m, n = x.shape
    y = torch.empty((m, n), dtype=x.dtype, device=x.device)
    if m and n:
        block = min(next_power_of_2(n), 4096)
        assert cdiv(n, block) >= 1
        kernel[(m,)](x, y, n, x.stride(0), y.stride(0), block)
    return y
