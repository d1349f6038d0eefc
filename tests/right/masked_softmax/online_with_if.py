"""Online: blocks that hide every column so far are skipped by a guard with if."""

import torch
import triton
import triton.language as tl


@triton.jit
def scores_at(x_ptr, mask_ptr, cols, n_cols, mask_stride):
    x = tl.load(x_ptr + cols, mask=cols < n_cols, other=float("-inf"))
    bias = tl.load(mask_ptr + cols * mask_stride, mask=cols < n_cols, other=0.0)
    return x.to(tl.float32) + bias


@triton.jit
def masked_online(x_ptr, mask_ptr, y_ptr, n_cols, x_stride, mask_row_stride, mask_col_stride, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    x_ptr += row * x_stride
    mask_ptr += row * mask_row_stride
    y_ptr += row * n_cols
    m = float("-inf")
    s = 0.0
    for start in range(0, n_cols, BLOCK):
        v = scores_at(x_ptr, mask_ptr, start + tl.arange(0, BLOCK), n_cols, mask_col_stride)
        m_new = tl.maximum(m, tl.max(v, axis=0))
        if m_new == float("-inf"):
            # exp(-inf) is 0 and exp(NaN) is NaN, so a NaN is kept and all else adds nothing.
            s += tl.sum(tl.exp(v), axis=0)
        else:
            s = s * tl.exp(m - m_new) + tl.sum(tl.exp(v - m_new), axis=0)
            m = m_new
    if m == float("-inf"):
        m = 0.0
    if s == 0.0:
        s = 1.0
    for start in range(0, n_cols, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        v = scores_at(x_ptr, mask_ptr, cols, n_cols, mask_col_stride)
        tl.store(y_ptr + cols, (tl.exp(v - m) / s).to(y_ptr.dtype.element_ty), mask=cols < n_cols)


def masked_softmax(x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    assert x.shape == mask.shape, (x.shape, mask.shape)
    assert mask.dtype == torch.float32
    n_rows, n_cols = x.shape
    y = torch.empty((n_rows, n_cols), dtype=x.dtype, device=x.device)
    if n_rows == 0 or n_cols == 0:
        return y
    block = min(triton.next_power_of_2(n_cols), 4096)
    masked_online[(n_rows,)](x, mask, y, n_cols, x.stride(0), mask.stride(0), mask.stride(1), BLOCK=block, num_warps=8)
    return y
