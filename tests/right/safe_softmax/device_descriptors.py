"""Tensor descriptors made on the device, for rows that they can describe; pointers for the others."""

from typing import Optional

import torch
import triton
import triton.language as tl


def allocate(size: int, alignment: int, stream: Optional[int]):  # noqa: UP045
    return torch.empty(size, dtype=torch.int8, device="cuda")


@triton.jit
def softmax_descriptors(x_ptr, y_ptr, rows, cols, x_stride, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    source = tl.make_tensor_descriptor(x_ptr, shape=[rows, cols], strides=[x_stride, 1], block_shape=[1, BLOCK])
    target = tl.make_tensor_descriptor(y_ptr, shape=[rows, cols], strides=[cols, 1], block_shape=[1, BLOCK])
    lanes = tl.arange(0, BLOCK)[None, :]
    m = tl.full([1], float("-inf"), tl.float32)
    s = tl.zeros([1], tl.float32)
    for start in range(0, cols, BLOCK):
        x = source.load([row, start]).to(tl.float32)
        # A descriptor fills with zeros past the end of a row.
        x = tl.where(start + lanes < cols, x, float("-inf"))
        m_new = tl.maximum(m, tl.max(x, 1))
        shift = tl.where(m_new == float("-inf"), 0.0, m_new)
        s = s * tl.exp(m - shift) + tl.sum(tl.exp(x - shift[:, None]), 1)
        m = m_new
    for start in range(0, cols, BLOCK):
        x = source.load([row, start]).to(tl.float32)
        y = tl.exp(x - m[:, None]) / s[:, None]
        target.store([row, start], y.to(y_ptr.dtype.element_ty))


@triton.jit
def softmax_pointers(x_ptr, y_ptr, cols, x_stride, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    m = float("-inf")
    s = 0.0
    for start in range(0, cols, BLOCK):
        at = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * x_stride + at, mask=at < cols, other=float("-inf")).to(tl.float32)
        m_new = tl.maximum(m, tl.max(x, 0))
        shift = tl.where(m_new == float("-inf"), 0.0, m_new)
        s = s * tl.exp(m - shift) + tl.sum(tl.exp(x - shift), 0)
        m = m_new
    for start in range(0, cols, BLOCK):
        at = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * x_stride + at, mask=at < cols, other=float("-inf")).to(tl.float32)
        tl.store(y_ptr + row * cols + at, (tl.exp(x - m) / s).to(y_ptr.dtype.element_ty), mask=at < cols)


def describable(t: torch.Tensor) -> bool:
    """Descriptors want 16-byte boundaries for the start and for every row."""
    size = t.element_size()
    return t.data_ptr() % 16 == 0 and t.stride(0) * size % 16 == 0 and t.shape[1] * size >= 16


def safe_softmax(x: torch.Tensor) -> torch.Tensor:
    rows, cols = x.shape
    y = torch.empty((rows, cols), dtype=x.dtype, device=x.device)
    if rows == 0 or cols == 0:
        return y
    if describable(x) and describable(y):
        triton.set_allocator(allocate)
        softmax_descriptors[(rows,)](x, y, rows, cols, x.stride(0), BLOCK=1024)
    else:
        softmax_pointers[(rows,)](x, y, cols, x.stride(0), BLOCK=1024)
    return y
