"""Two launches over scratch that the host fills; x and the mask dense before the kernels see them."""

import torch
import triton
import triton.language as tl

BLOCK = 4096


@triton.jit
def accumulate(x_ptr, mask_ptr, top_ptr, total_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    offset = tl.cast(row, tl.int64) * n
    top = tl.load(top_ptr + row)
    total = tl.load(total_ptr + row)
    for block in range(tl.cdiv(n, BLOCK)):
        cols = block * BLOCK + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + offset + cols, mask=cols < n, other=float("-inf")).to(tl.float32)
        score = x + tl.load(mask_ptr + offset + cols, mask=cols < n, other=0.0)
        new_top = tl.maximum(top, tl.max(score))
        shift = tl.where(new_top > float("-inf"), new_top, 0.0)
        total = total * tl.exp(top - shift) + tl.sum(tl.exp(score - shift))
        top = new_top
    tl.store(top_ptr + row, tl.where(top > float("-inf"), top, 0.0))
    tl.store(total_ptr + row, tl.where(total == 0.0, 1.0, total))


@triton.jit
def normalise(x_ptr, mask_ptr, top_ptr, total_ptr, y_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    at = tl.cast(row, tl.int64) * n + cols
    score = tl.load(x_ptr + at, mask=cols < n, other=0.0).to(tl.float32)
    score += tl.load(mask_ptr + at, mask=cols < n, other=0.0)
    weight = tl.exp(score - tl.load(top_ptr + row)) / tl.load(total_ptr + row)
    tl.store(y_ptr + at, weight, mask=cols < n)


def masked_softmax(x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    x = x.contiguous()
    mask = mask.contiguous()
    rows, n = x.shape
    y = torch.empty_like(x)
    if rows == 0 or n == 0:
        return y
    top = torch.full((rows,), float("-inf"), dtype=torch.float32, device=x.device)
    total = torch.empty((rows,), dtype=torch.float32, device=x.device)
    total.fill_(0)
    accumulate[(rows,)](x, mask, top, total, n, BLOCK=BLOCK, num_warps=8)
    normalise[(rows, triton.cdiv(n, BLOCK))](x, mask, top, total, y, n, BLOCK=BLOCK, num_warps=8)
    return y
