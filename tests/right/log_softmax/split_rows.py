"""Split rows: every chunk of a row has its own program and partial statistics; the second kernel merges them."""

import torch
import triton
import triton.language as tl

CHUNK = 4096


@triton.jit
def chunk_statistics(x_ptr, part_ptr, n_cols, x_stride, n_chunks, CHUNK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    chunk = tl.program_id(1)
    cols = chunk * CHUNK + tl.arange(0, CHUNK)
    x = tl.load(x_ptr + row * x_stride + cols, mask=cols < n_cols, other=-float("inf")).to(tl.float32)
    m = tl.max(x, axis=0)
    shift = tl.where(m == -float("inf"), 0.0, m)
    out = part_ptr + (row * n_chunks + chunk) * 2
    tl.store(out, m)
    tl.store(out + 1, tl.sum(tl.exp(x - shift), axis=0))


@triton.jit
def merge_and_subtract(x_ptr, y_ptr, part_ptr, n_cols, x_stride, n_chunks, CHUNK: tl.constexpr, CHUNKS: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    c = tl.arange(0, CHUNKS)
    parts = part_ptr + (row * n_chunks + c) * 2
    m_c = tl.load(parts, mask=c < n_chunks, other=-float("inf"))
    s_c = tl.load(parts + 1, mask=c < n_chunks, other=0.0)
    m = tl.max(m_c, axis=0)
    shift = tl.where(m == -float("inf"), 0.0, m)
    log_s = tl.log(tl.sum(s_c * tl.exp(m_c - shift), axis=0))
    cols = tl.program_id(1) * CHUNK + tl.arange(0, CHUNK)
    x = tl.load(x_ptr + row * x_stride + cols, mask=cols < n_cols, other=-float("inf")).to(tl.float32)
    y = (x - m) - log_s
    tl.store(y_ptr + row * n_cols + cols, y.to(y_ptr.dtype.element_ty), mask=cols < n_cols)


def log_softmax(x: torch.Tensor) -> torch.Tensor:
    rows, cols = x.shape
    y = torch.empty((rows, cols), dtype=x.dtype, device=x.device)
    if rows == 0 or cols == 0:
        return y
    chunks = triton.cdiv(cols, CHUNK)
    parts = torch.empty((rows, chunks, 2), dtype=torch.float32, device=x.device)
    grid = (rows, chunks)
    chunk_statistics[grid](x, parts, cols, x.stride(0), chunks, CHUNK=CHUNK, num_warps=8)
    merge_and_subtract[grid](
        x, y, parts, cols, x.stride(0), chunks, CHUNK=CHUNK, CHUNKS=triton.next_power_of_2(chunks), num_warps=8
    )
    return y
