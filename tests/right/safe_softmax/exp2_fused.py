"""exp2 in the form that attention kernels use: exp2(x * log2(e) - m * log2(e)), one fused multiply-add an element."""

import torch
import triton
import triton.language as tl


@triton.jit
def softmax_flash(X, Y, stride_x, stride_y, N, BLOCK: tl.constexpr):
    qk_scale = 1.44269504
    row = tl.program_id(0).to(tl.int64)
    cols = tl.arange(0, BLOCK)
    inside = cols < N
    x = tl.load(X + row * stride_x + cols, mask=inside, other=float("-inf")).to(tl.float32)
    m = tl.max(x, 0)
    p = tl.math.exp2(x * qk_scale - m * qk_scale)
    l_i = tl.sum(p, 0)
    tl.store(Y + row * stride_y + cols, (p / l_i).to(Y.dtype.element_ty), mask=inside)


@triton.jit
def softmax_flash_wide(X, Y, stride_x, stride_y, N, BLOCK: tl.constexpr):
    qk_scale = 1.44269504
    row = tl.program_id(0).to(tl.int64)
    m = float("-inf")
    l_i = 0.0
    for start in range(0, N, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        x = tl.load(X + row * stride_x + cols, mask=cols < N, other=float("-inf")).to(tl.float32)
        m_new = tl.maximum(m, tl.max(x, 0))
        safe = tl.where(m_new == float("-inf"), 0.0, m_new)
        alpha = tl.math.exp2((m - safe) * qk_scale)
        l_i = l_i * alpha + tl.sum(tl.math.exp2(x * qk_scale - safe * qk_scale), 0)
        m = m_new
    for start in range(0, N, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        x = tl.load(X + row * stride_x + cols, mask=cols < N, other=float("-inf")).to(tl.float32)
        p = tl.math.exp2(x * qk_scale - m * qk_scale) / l_i
        tl.store(Y + row * stride_y + cols, p.to(Y.dtype.element_ty), mask=cols < N)


def safe_softmax(x: torch.Tensor) -> torch.Tensor:
    M, N = x.shape
    y = torch.empty((M, N), dtype=x.dtype, device=x.device)
    if M == 0 or N == 0:
        return y
    if N <= 8192:
        softmax_flash[(M,)](x, y, x.stride(0), y.stride(0), N, BLOCK=triton.next_power_of_2(N), num_warps=8)
    else:
        softmax_flash_wide[(M,)](x, y, x.stride(0), y.stride(0), N, BLOCK=4096, num_warps=8)
    return y
