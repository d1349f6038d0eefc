"""Online softmax: maximum and sum in one loop, the result in a second."""

import math

import torch
import triton
import triton.language as tl

NEG_INF: tl.constexpr = tl.constexpr(-math.inf)


@triton.jit
def online_softmax_kernel(out, inp, stride_in, stride_out, N, BLOCK_N: tl.constexpr):
    pid = tl.program_id(0).to(tl.int64)
    inp = inp + pid * stride_in
    out = out + pid * stride_out
    m_i = tl.full([BLOCK_N], NEG_INF, dtype=tl.float32)
    l_i = tl.zeros([BLOCK_N], dtype=tl.float32)
    for n in range(0, N, BLOCK_N):
        offs = n + tl.arange(0, BLOCK_N)
        v = tl.load(inp + offs, mask=offs < N, other=NEG_INF).to(tl.float32)
        m_new = tl.maximum(m_i, v)
        all_neg_inf = m_new == NEG_INF
        # A lane that has seen nothing finite keeps what it has.
        l_i = tl.where(all_neg_inf, l_i, l_i * tl.exp(m_i - m_new) + tl.exp(v - m_new))
        # v may be NaN, which the maximum drops: keep it in the sum.
        l_i = tl.where(v != v, v, l_i)
        m_i = m_new
    m = tl.max(m_i, 0)
    # A lane without anything finite has a sum of 0, whatever its weight is.
    scale = tl.where(m_i == NEG_INF, 1.0, tl.exp(m_i - m))
    l_sum = tl.sum(l_i * scale, 0)
    for n in range(0, N, BLOCK_N):
        offs = n + tl.arange(0, BLOCK_N)
        v = tl.load(inp + offs, mask=offs < N, other=NEG_INF).to(tl.float32)
        tl.store(out + offs, (tl.exp(v - m) / l_sum).to(out.dtype.element_ty), mask=offs < N)


def safe_softmax(x: torch.Tensor) -> torch.Tensor:
    M, N = x.size()
    y = torch.empty((M, N), dtype=x.dtype, device="cuda")
    if M * N == 0:
        return y
    BLOCK_N = min(triton.next_power_of_2(N), 2048)

    def grid(meta):
        assert meta["BLOCK_N"] == BLOCK_N
        return (M,)

    online_softmax_kernel[grid](y, x, x.stride(0), y.stride(0), N, BLOCK_N=BLOCK_N, num_warps=8, num_stages=2)
    return y
