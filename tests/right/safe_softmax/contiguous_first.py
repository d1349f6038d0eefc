"""The input made contiguous first, so that a row number is all the kernel needs."""

import torch
import triton
import triton.language as tl


@triton.jit
def _row_softmax(x, y, n: tl.int32, BLOCK: tl.constexpr, LOOP: tl.constexpr):
    base = tl.program_id(0).to(tl.int64) * n
    idx = tl.arange(0, BLOCK)
    if not LOOP:
        v = tl.load(x + base + idx, mask=idx < n, other=float("-inf")).to(tl.float32)
        v = tl.exp(v - tl.max(v))
        v = v / tl.sum(v)
        tl.store(y + base + idx, v.to(y.dtype.element_ty), mask=idx < n)
    else:
        hi = tl.full([BLOCK], float("-inf"), tl.float32)
        start = 0
        while start < n:
            v = tl.load(x + base + start + idx, mask=start + idx < n, other=float("-inf"))
            hi = tl.maximum(hi, v.to(tl.float32))
            start += BLOCK
        top = tl.max(hi)
        acc = tl.zeros([BLOCK], tl.float32)
        start = 0
        while start < n:
            v = tl.load(x + base + start + idx, mask=start + idx < n, other=float("-inf"))
            acc += tl.exp(v.to(tl.float32) - top)
            start += BLOCK
        total = tl.sum(acc)
        start = 0
        while start < n:
            v = tl.load(x + base + start + idx, mask=start + idx < n, other=float("-inf")).to(tl.float32)
            tl.store(y + base + start + idx, (tl.exp(v - top) / total).to(y.dtype.element_ty), mask=start + idx < n)
            start += BLOCK


def safe_softmax(x: torch.Tensor) -> torch.Tensor:
    x = x.contiguous()
    y = torch.empty_like(x)
    rows, n = x.shape
    if x.numel() == 0:
        return y
    loop = n > 16384
    block = 8192 if loop else triton.next_power_of_2(n)
    _row_softmax[(rows, 1, 1)](x, y, n, BLOCK=block, LOOP=loop, num_warps=8)
    return y
