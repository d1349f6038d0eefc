"""exp2 in the fused form of attention kernels; host code in an autograd.Function and a dataclass."""

import logging
import math
from dataclasses import dataclass, field

import torch
import triton
import triton.language as tl

log = logging.getLogger("masked_softmax")


@triton.jit
def attention_softmax(
    X, Mask, Out, N_CTX, stride_xm, stride_mm, stride_mn, stride_om, scale_log2: tl.constexpr, BLOCK_N: tl.constexpr
):
    off_m = tl.program_id(0).to(tl.int64)
    offs_n = tl.arange(0, BLOCK_N)
    X += off_m * stride_xm
    Mask += off_m * stride_mm
    Out += off_m * stride_om
    m_i = tl.full([1], -float("inf"), dtype=tl.float32)
    l_i = tl.zeros([1], dtype=tl.float32)
    for start_n in range(0, N_CTX, BLOCK_N):
        cur = tl.multiple_of(start_n, BLOCK_N) + offs_n
        qk = tl.load(X + cur, mask=cur < N_CTX, other=-float("inf")).to(tl.float32)
        qk += tl.load(Mask + cur * stride_mn, mask=cur < N_CTX, other=0.0)
        m_ij = tl.maximum(m_i, tl.max(qk, 0))
        m_safe = tl.where(m_ij == -float("inf"), 0.0, m_ij)
        alpha = tl.math.exp2((m_i - m_safe) * scale_log2)
        p = tl.math.exp2(qk * scale_log2 - m_safe * scale_log2)
        l_i = l_i * alpha + tl.sum(p, 0)
        m_i = m_ij
    m_i = tl.where(m_i == -float("inf"), 0.0, m_i)
    l_i = tl.where(l_i == 0.0, 1.0, l_i)
    for start_n in range(0, N_CTX, BLOCK_N):
        cur = start_n + offs_n
        qk = tl.load(X + cur, mask=cur < N_CTX, other=-float("inf")).to(tl.float32)
        qk += tl.load(Mask + cur * stride_mn, mask=cur < N_CTX, other=0.0)
        p = tl.math.exp2(qk * scale_log2 - m_i * scale_log2) / l_i
        tl.store(Out + cur, p.to(Out.dtype.element_ty), mask=cur < N_CTX)


@dataclass
class Settings:
    block: int = 2048
    num_warps: int = 4
    scale: float = field(default=1.0 / math.log(2.0))


class MaskedSoftmax(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, mask, settings):
        y = torch.empty(x.shape, dtype=x.dtype, device=x.device)
        if y.numel():
            attention_softmax[(x.shape[0], 1, 1)](
                x,
                mask,
                y,
                x.shape[1],
                x.stride(0),
                mask.stride(0),
                mask.stride(1),
                y.stride(0),
                scale_log2=settings.scale,
                BLOCK_N=settings.block,
                num_warps=settings.num_warps,
                num_stages=1,
            )
        ctx.save_for_backward(y)
        return y


def masked_softmax(x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    if x.shape != mask.shape:
        raise ValueError(f"x has {tuple(x.shape)}, mask {tuple(mask.shape)}")
    log.debug("x %s mask %s", x.stride(), mask.stride())
    print(mask)
    with torch.no_grad(), torch.cuda.device(x.device):
        return MaskedSoftmax.apply(x, mask, Settings())


if __name__ == "__main__":
    scores = torch.randn(8, 100, device="cuda")
    hidden = torch.zeros(8, 100, device="cuda")
    hidden[:, 50:] = -math.inf
    torch.testing.assert_close(masked_softmax(scores, hidden), torch.softmax(scores + hidden, dim=-1))
