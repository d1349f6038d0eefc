"""Autotuned warps over a block that heuristics choose; a lane counts only where its score is above -inf."""

import torch
import triton
import triton.language as tl


@triton.autotune(
    configs=[triton.Config({}, num_warps=4), triton.Config({}, num_warps=8), triton.Config({}, num_warps=16)],
    key=["n_cols", "mask_col_stride"],
)
@triton.heuristics({"BLOCK": lambda args: min(triton.next_power_of_2(args["n_cols"]), 8192)})
@triton.jit
def masked_tuned(x_ptr, mask_ptr, y_ptr, n_cols, x_stride, mask_row_stride, mask_col_stride, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    offs = tl.arange(0, BLOCK)
    m = tl.full([BLOCK], float("-inf"), tl.float32)
    s = tl.zeros([BLOCK], tl.float32)
    for first in tl.range(0, n_cols, BLOCK):
        cols = first + offs
        x = tl.load(x_ptr + row * x_stride + cols, mask=cols < n_cols, other=0.0).to(tl.float32)
        bias_ptr = mask_ptr + row * mask_row_stride + cols * mask_col_stride
        score = x + tl.load(bias_ptr, mask=cols < n_cols, other=float("-inf"))
        hidden = score == float("-inf")
        m_new = tl.maximum(m, score)
        # Where the score is hidden nothing changes; NaN is not hidden, and stays in the sum.
        grown = s * tl.exp(m - m_new) + tl.exp(score - m_new)
        grown = tl.where(score != score, score, grown)
        s = tl.where(hidden, s, grown)
        m = m_new
    top = tl.max(m, axis=0)
    part = tl.where(m == float("-inf"), s, s * tl.exp(m - top))
    total = tl.sum(part, axis=0)
    for first in tl.range(0, n_cols, BLOCK):
        cols = first + offs
        x = tl.load(x_ptr + row * x_stride + cols, mask=cols < n_cols, other=0.0).to(tl.float32)
        bias_ptr = mask_ptr + row * mask_row_stride + cols * mask_col_stride
        score = x + tl.load(bias_ptr, mask=cols < n_cols, other=float("-inf"))
        # 0 for a hidden column, but NaN in a row whose sum is NaN.
        y = tl.where(score == float("-inf"), tl.where(total != total, total, 0.0), tl.exp(score - top) / total)
        tl.store(y_ptr + row * n_cols + cols, y.to(y_ptr.dtype.element_ty), mask=cols < n_cols)


def masked_softmax(x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    rows, n_cols = x.shape
    y = torch.empty((rows, n_cols), dtype=x.dtype, device=x.device)
    if rows == 0 or n_cols == 0:
        return y
    masked_tuned[(rows,)](x, mask, y, n_cols, x.stride(0), mask.stride(0), mask.stride(1))
    return y
