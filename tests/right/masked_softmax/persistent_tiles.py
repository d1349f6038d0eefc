"""Tiles of several rows by persistent programs; reductions along axis 1, guards with tl.where."""

import torch
import triton
import triton.language as tl


@triton.jit
def masked_tiles(
    x_ptr,
    mask_ptr,
    y_ptr,
    rows,
    cols,
    x_stride,
    mask_row_stride,
    mask_col_stride,
    y_stride,
    ROWS: tl.constexpr,
    COLS: tl.constexpr,
):
    tiles = tl.cdiv(rows, ROWS)
    for tile in tl.range(tl.program_id(0), tiles, tl.num_programs(0)):
        r = tile * ROWS + tl.arange(0, ROWS)
        r64 = r.to(tl.int64)[:, None]
        m = tl.full([ROWS], float("-inf"), tl.float32)
        s = tl.zeros([ROWS], tl.float32)
        for start in range(0, cols, COLS):
            c = (start + tl.arange(0, COLS))[None, :]
            inside = (r[:, None] < rows) & (c < cols)
            v = tl.load(x_ptr + r64 * x_stride + c, mask=inside, other=float("-inf")).to(tl.float32)
            v += tl.load(mask_ptr + r64 * mask_row_stride + c * mask_col_stride, mask=inside, other=0.0)
            m_new = tl.maximum(m, tl.max(v, 1))
            shift = tl.where(m_new == float("-inf"), 0.0, m_new)
            s = s * tl.exp(m - shift) + tl.sum(tl.exp(v - shift[:, None]), 1)
            m = m_new
        shift = tl.where(m == float("-inf"), 0.0, m)
        s = tl.where(s == 0.0, 1.0, s)
        for start in range(0, cols, COLS):
            c = (start + tl.arange(0, COLS))[None, :]
            inside = (r[:, None] < rows) & (c < cols)
            v = tl.load(x_ptr + r64 * x_stride + c, mask=inside, other=float("-inf")).to(tl.float32)
            v += tl.load(mask_ptr + r64 * mask_row_stride + c * mask_col_stride, mask=inside, other=0.0)
            p = tl.exp(v - shift[:, None]) / s[:, None]
            tl.store(y_ptr + r64 * y_stride + c, p.to(y_ptr.dtype.element_ty), mask=inside)


def masked_softmax(x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    rows, cols = x.shape
    y = x.new_empty(rows, cols)
    if rows == 0 or cols == 0:
        return y
    device = triton.runtime.driver.active.get_current_device()
    num_sms = triton.runtime.driver.active.utils.get_device_properties(device)["multiprocessor_count"]
    COLS = min(triton.next_power_of_2(cols), 2048)
    ROWS = 4 if rows >= 4 else 1
    grid = (min(2 * num_sms, triton.cdiv(rows, ROWS)),)
    masked_tiles[grid](
        x, mask, y, rows, cols, x.stride(0), mask.stride(0), mask.stride(1), y.stride(0), ROWS=ROWS, COLS=COLS
    )
    return y
