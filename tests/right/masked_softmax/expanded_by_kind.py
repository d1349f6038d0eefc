"""An expanded mask told by its strides of 0: one bias a row, one row for all, or a full mask."""

import torch
import triton
import triton.language as tl


@triton.jit
def masked_by_kind(
    x_ptr,
    mask_ptr,
    y_ptr,
    n_cols,
    x_stride,
    mask_row_stride,
    mask_col_stride,
    SAME_ROWS: tl.constexpr,
    SAME_COLS: tl.constexpr,
    BLOCK: tl.constexpr,
):
    row = tl.program_id(0).to(tl.int64)
    x_ptr = x_ptr + row * x_stride
    if not SAME_ROWS:
        mask_ptr = mask_ptr + row * mask_row_stride
    lanes = tl.arange(0, BLOCK)
    if SAME_COLS:
        row_bias = tl.load(mask_ptr)
    m = float("-inf")
    s = 0.0
    for start in range(0, n_cols, BLOCK):
        cols = start + lanes
        x = tl.load(x_ptr + cols, mask=cols < n_cols, other=float("-inf")).to(tl.float32)
        if SAME_COLS:
            v = tl.where(cols < n_cols, x + row_bias, float("-inf"))
        else:
            v = x + tl.load(mask_ptr + cols * mask_col_stride, mask=cols < n_cols, other=0.0)
        m_new = tl.maximum(m, tl.max(v, 0))
        shift = tl.where(m_new == float("-inf"), 0.0, m_new)
        s = s * tl.exp(m - shift) + tl.sum(tl.exp(v - shift), 0)
        m = m_new
    shift = tl.where(m == float("-inf"), 0.0, m)
    inverse = 1.0 / tl.where(s == 0.0, 1.0, s)
    for start in range(0, n_cols, BLOCK):
        cols = start + lanes
        x = tl.load(x_ptr + cols, mask=cols < n_cols, other=float("-inf")).to(tl.float32)
        bias = row_bias if SAME_COLS else tl.load(mask_ptr + cols * mask_col_stride, mask=cols < n_cols, other=0.0)
        v = x + bias
        y = tl.exp(v - shift) * inverse
        tl.store(y_ptr + row * n_cols + cols, y.to(y_ptr.dtype.element_ty), mask=cols < n_cols)


def masked_softmax(x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    n_rows, n_cols = x.shape
    mask = mask.expand(n_rows, n_cols)
    y = torch.empty((n_rows, n_cols), dtype=x.dtype, device=x.device)
    if y.numel() == 0:
        return y
    masked_by_kind[(n_rows,)](
        x,
        mask,
        y,
        n_cols,
        x.stride(0),
        mask.stride(0),
        mask.stride(1),
        SAME_ROWS=mask.stride(0) == 0,
        SAME_COLS=mask.stride(1) == 0,
        BLOCK=2048,
    )
    return y
