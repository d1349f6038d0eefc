"""exp from CUDA's math library."""

import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice


@triton.jit
def softmax_libdevice(x_ptr, y_ptr, cols, x_stride, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    src = x_ptr + row * x_stride
    dst = y_ptr + row * cols
    lanes = tl.arange(0, BLOCK)
    best = tl.full((BLOCK,), float("-inf"), dtype=tl.float32)
    for start in range(0, cols, BLOCK):
        x = tl.load(src + start + lanes, mask=start + lanes < cols, other=float("-inf")).to(tl.float32)
        best = tl.maximum(best, x)
    top = tl.max(best, 0)
    acc = tl.zeros((BLOCK,), dtype=tl.float32)
    for start in range(0, cols, BLOCK):
        x = tl.load(src + start + lanes, mask=start + lanes < cols, other=float("-inf")).to(tl.float32)
        acc += libdevice.exp(x - top)
    total = tl.sum(acc, 0)
    for start in range(0, cols, BLOCK):
        x = tl.load(src + start + lanes, mask=start + lanes < cols, other=float("-inf")).to(tl.float32)
        y = libdevice.div_rn(libdevice.exp(x - top), total)
        tl.store(dst + start + lanes, y.to(dst.dtype.element_ty), mask=start + lanes < cols)


def safe_softmax(x: torch.Tensor) -> torch.Tensor:
    rows, cols = x.shape
    y = torch.empty((rows, cols), dtype=x.dtype, device=x.device)
    if rows == 0 or cols == 0:
        return y
    softmax_libdevice[(rows,)](x, y, cols, x.stride(0), BLOCK=2048, num_warps=4)
    return y
