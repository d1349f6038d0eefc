"""@triton.heuristics choose the block, the number of warps and whether the row fits in registers."""

import torch
import triton
import triton.language as L

MINUS_INFINITY: L.constexpr = L.constexpr(float("-inf"))
WIDEST = 8192


@triton.heuristics(
    {
        "BLOCK": lambda args: min(triton.next_power_of_2(args["n_cols"]), WIDEST),
        "FITS": lambda args: args["n_cols"] <= WIDEST,
    }
)
@triton.heuristics({"num_warps": lambda args: 16 if args["BLOCK"] >= 8192 else 4})
@triton.jit
def log_softmax_heuristics(x_ptr, y_ptr, n_cols, x_stride, y_stride, BLOCK: L.constexpr, FITS: L.constexpr):
    row = L.program_id(0).to(L.int64)
    x_ptr += row * x_stride
    y_ptr += row * y_stride
    cols = L.arange(0, BLOCK)
    if FITS:
        x = L.load(x_ptr + cols, mask=cols < n_cols, other=MINUS_INFINITY).to(L.float32)
        x -= L.max(x, axis=0)
        x -= L.log(L.sum(L.exp(x), axis=0))
        L.store(y_ptr + cols, x, mask=cols < n_cols)
    else:
        top = L.full([BLOCK], MINUS_INFINITY, L.float32)
        for start in range(0, n_cols, BLOCK):
            x = L.load(x_ptr + start + cols, mask=start + cols < n_cols, other=MINUS_INFINITY).to(L.float32)
            top = L.maximum(top, x)
        m = L.max(top, axis=0)
        acc = L.zeros([BLOCK], L.float32)
        for start in range(0, n_cols, BLOCK):
            x = L.load(x_ptr + start + cols, mask=start + cols < n_cols, other=MINUS_INFINITY).to(L.float32)
            acc += L.exp(x - m)
        log_s = L.log(L.sum(acc, axis=0))
        for start in range(0, n_cols, BLOCK):
            x = L.load(x_ptr + start + cols, mask=start + cols < n_cols, other=MINUS_INFINITY).to(L.float32)
            L.store(y_ptr + start + cols, (x - m) - log_s, mask=start + cols < n_cols)


def log_softmax(x: torch.Tensor) -> torch.Tensor:
    y = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    if x.numel() == 0:
        return y
    log_softmax_heuristics[(x.shape[0],)](x, y, x.shape[1], x.stride(0), y.stride(0))
    return y
