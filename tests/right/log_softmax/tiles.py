"""Several rows a program: two-dimensional tiles, reduced along axis 1."""

import torch
import triton
import triton.language as tl


@triton.jit
def log_softmax_tiles(x_ptr, y_ptr, M, N, stride_xm, stride_ym, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    rm = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    rows = rm.to(tl.int64)[:, None]
    m = tl.full((BLOCK_M,), float("-inf"), dtype=tl.float32)
    s = tl.zeros((BLOCK_M,), dtype=tl.float32)
    for start in range(0, N, BLOCK_N):
        rn = start + tl.arange(0, BLOCK_N)
        keep = (rm[:, None] < M) & (rn[None, :] < N)
        x = tl.load(x_ptr + rows * stride_xm + rn[None, :], mask=keep, other=float("-inf")).to(tl.float32)
        m_new = tl.maximum(m, tl.max(x, axis=1))
        shift = tl.where(m_new == float("-inf"), 0.0, m_new)
        s = s * tl.exp(m - shift) + tl.sum(tl.exp(x - shift[:, None]), axis=1)
        m = m_new
    log_s = tl.log(s)
    for start in range(0, N, BLOCK_N):
        rn = start + tl.arange(0, BLOCK_N)
        keep = (rm[:, None] < M) & (rn[None, :] < N)
        x = tl.load(x_ptr + rows * stride_xm + rn[None, :], mask=keep, other=float("-inf")).to(tl.float32)
        y = (x - m[:, None]) - log_s[:, None]
        tl.store(y_ptr + rows * stride_ym + rn[None, :], y.to(y_ptr.dtype.element_ty), mask=keep)


def log_softmax(x: torch.Tensor) -> torch.Tensor:
    M, N = x.shape
    y = x.new_empty((M, N))
    if M == 0 or N == 0:
        return y
    BLOCK_N = min(triton.next_power_of_2(N), 1024)
    BLOCK_M = min(max(1, 4096 // BLOCK_N), 64) if M > 1 else 1
    grid = (triton.cdiv(M, BLOCK_M),)
    log_softmax_tiles[grid](x, y, M, N, x.stride(0), y.stride(0), BLOCK_M=BLOCK_M, BLOCK_N=BLOCK_N)
    return y
