"""@triton.heuristics choose the block, the number of warps and whether the row fits."""

import torch
import triton
import triton.language as tl


def pick_warps(args):
    block = args["BLOCK"]
    if block >= 8192:
        return 16
    return 8 if block >= 2048 else 4


@triton.heuristics(
    {
        "BLOCK": lambda args: min(triton.next_power_of_2(args["n_cols"]), 8192),
        "FITS": lambda args: args["n_cols"] <= 8192,
    }
)
@triton.heuristics({"num_warps": pick_warps})
@triton.jit
def softmax_heuristics(x_ptr, y_ptr, n_cols, x_stride, y_stride, BLOCK: tl.constexpr, FITS: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    x_ptr += row * x_stride
    y_ptr += row * y_stride
    cols = tl.arange(0, BLOCK)
    if FITS:
        x = tl.load(x_ptr + cols, mask=cols < n_cols, other=-float("inf")).to(tl.float32)
        e = tl.exp(x - tl.max(x, axis=0))
        y = e / tl.sum(e, axis=0)
        tl.store(y_ptr + cols, y, mask=cols < n_cols)
    else:
        top = tl.full([BLOCK], -float("inf"), tl.float32)
        for start in range(0, n_cols, BLOCK):
            x = tl.load(x_ptr + start + cols, mask=start + cols < n_cols, other=-float("inf")).to(tl.float32)
            top = tl.maximum(top, x)
        m = tl.max(top, axis=0)
        acc = tl.zeros([BLOCK], tl.float32)
        for start in range(0, n_cols, BLOCK):
            x = tl.load(x_ptr + start + cols, mask=start + cols < n_cols, other=-float("inf")).to(tl.float32)
            acc += tl.exp(x - m)
        s = tl.sum(acc, axis=0)
        for start in range(0, n_cols, BLOCK):
            x = tl.load(x_ptr + start + cols, mask=start + cols < n_cols, other=-float("inf")).to(tl.float32)
            tl.store(y_ptr + start + cols, tl.exp(x - m) / s, mask=start + cols < n_cols)


def safe_softmax(x: torch.Tensor) -> torch.Tensor:
    y = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    if x.numel() == 0:
        return y
    softmax_heuristics[(x.shape[0],)](x, y, x.shape[1], x.stride(0), y.stride(0))
    return y
