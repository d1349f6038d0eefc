"""Split rows: partial (maximum, sum) pairs a chunk, merged with tl.reduce by a second kernel."""

import torch
import triton
import triton.language as tl


@triton.jit
def merge(m_a, s_a, m_b, s_b):
    m = tl.maximum(m_a, m_b)
    base = tl.where(m == float("-inf"), 0.0, m)
    return m, tl.exp(m_a - base) * s_a + tl.exp(m_b - base) * s_b


@triton.jit
def partial_kernel(x_ptr, mask_ptr, m_ptr, s_ptr, cols, xs, mr, mc, CHUNK: tl.constexpr):
    chunk = tl.program_id(1)
    row = tl.program_id(0)
    at = chunk * CHUNK + tl.arange(0, CHUNK)
    v = tl.load(x_ptr + row.to(tl.int64) * xs + at, mask=at < cols, other=float("-inf")).to(tl.float32)
    v = v + tl.load(mask_ptr + row.to(tl.int64) * mr + at * mc, mask=at < cols, other=0.0)
    m = tl.max(v, axis=0)
    s = tl.sum(tl.exp(v - tl.where(m == float("-inf"), 0.0, m)), axis=0)
    place = row.to(tl.int64) * tl.num_programs(1) + chunk
    tl.store(m_ptr + place, m)
    tl.store(s_ptr + place, s)


@triton.jit
def finish_kernel(x_ptr, mask_ptr, y_ptr, m_ptr, s_ptr, cols, xs, mr, mc, CHUNK: tl.constexpr, CHUNKS: tl.constexpr):
    chunk = tl.program_id(1)
    row = tl.program_id(0).to(tl.int64)
    n_chunks = tl.num_programs(1)
    part = tl.arange(0, CHUNKS)
    m_parts = tl.load(m_ptr + row * n_chunks + part, mask=part < n_chunks, other=float("-inf"))
    s_parts = tl.load(s_ptr + row * n_chunks + part, mask=part < n_chunks, other=0.0)
    m, s = tl.reduce((m_parts, s_parts), axis=0, combine_fn=merge)
    m = tl.where(m == float("-inf"), 0.0, m)
    s = tl.where(s == 0.0, 1.0, s)
    at = chunk * CHUNK + tl.arange(0, CHUNK)
    v = tl.load(x_ptr + row * xs + at, mask=at < cols, other=float("-inf")).to(tl.float32)
    v = v + tl.load(mask_ptr + row * mr + at * mc, mask=at < cols, other=0.0)
    tl.store(y_ptr + row * cols + at, (tl.exp(v - m) / s).to(y_ptr.dtype.element_ty), mask=at < cols)


def masked_softmax(x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    rows, cols = x.shape
    y = torch.empty((rows, cols), dtype=x.dtype, device=x.device)
    if rows == 0 or cols == 0:
        return y
    chunk_size = min(4096, triton.next_power_of_2(cols))
    chunks = triton.cdiv(cols, chunk_size)
    scratch = torch.empty((2, rows, chunks), dtype=torch.float32, device=x.device)
    tops, totals = scratch[0], scratch[1]
    strides = (x.stride(0), mask.stride(0), mask.stride(1))
    partial_kernel[(rows, chunks)](x, mask, tops, totals, cols, *strides, CHUNK=chunk_size)
    finish_kernel[(rows, chunks)](
        x, mask, y, tops, totals, cols, *strides, CHUNK=chunk_size, CHUNKS=triton.next_power_of_2(chunks)
    )
    return y
