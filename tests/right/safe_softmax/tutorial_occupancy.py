"""After Triton's tutorial: a warm-up compilation, occupancy arithmetic, persistent programs."""

import torch
import triton
import triton.language as tl
from triton.runtime import driver

MAX_BLOCK = 16384


@triton.jit
def softmax_kernel(
    output_ptr,
    input_ptr,
    input_row_stride,
    output_row_stride,
    n_rows,
    n_cols,
    BLOCK_SIZE: tl.constexpr,
    num_stages: tl.constexpr,
):
    row_start = tl.program_id(0)
    row_step = tl.num_programs(0)
    for row_idx in tl.range(row_start, n_rows, row_step, num_stages=num_stages):
        row_start_ptr = input_ptr + tl.cast(row_idx, tl.int64) * input_row_stride
        col_offsets = tl.arange(0, BLOCK_SIZE)
        input_ptrs = row_start_ptr + col_offsets
        mask = col_offsets < n_cols
        row = tl.load(input_ptrs, mask=mask, other=-float("inf")).to(tl.float32)
        row_minus_max = row - tl.max(row, axis=0)
        numerator = tl.exp(row_minus_max)
        denominator = tl.sum(numerator, axis=0)
        softmax_output = numerator / denominator
        output_row_start_ptr = output_ptr + tl.cast(row_idx, tl.int64) * output_row_stride
        output_ptrs = output_row_start_ptr + col_offsets
        tl.store(output_ptrs, softmax_output, mask=mask)


@triton.jit
def wide_softmax_kernel(output_ptr, input_ptr, input_row_stride, output_row_stride, n_cols, BLOCK_SIZE: tl.constexpr):
    row = tl.cast(tl.program_id(0), tl.int64)
    cols = tl.arange(0, BLOCK_SIZE)
    biggest = tl.full([BLOCK_SIZE], -float("inf"), tl.float32)
    for start in range(0, n_cols, BLOCK_SIZE):
        x = tl.load(input_ptr + row * input_row_stride + start + cols, mask=start + cols < n_cols, other=-float("inf"))
        biggest = tl.maximum(biggest, x.to(tl.float32))
    top = tl.max(biggest, axis=0)
    total = tl.zeros([BLOCK_SIZE], tl.float32)
    for start in range(0, n_cols, BLOCK_SIZE):
        x = tl.load(input_ptr + row * input_row_stride + start + cols, mask=start + cols < n_cols, other=-float("inf"))
        total += tl.exp(x.to(tl.float32) - top)
    denominator = tl.sum(total, axis=0)
    for start in range(0, n_cols, BLOCK_SIZE):
        x = tl.load(input_ptr + row * input_row_stride + start + cols, mask=start + cols < n_cols, other=-float("inf"))
        y = tl.exp(x.to(tl.float32) - top) / denominator
        tl.store(output_ptr + row * output_row_stride + start + cols, y, mask=start + cols < n_cols)


def safe_softmax(x):
    n_rows, n_cols = x.shape
    y = torch.empty((n_rows, n_cols), dtype=x.dtype, device=x.device)
    if n_rows == 0 or n_cols == 0:
        return y

    BLOCK_SIZE = triton.next_power_of_2(n_cols)
    if BLOCK_SIZE > MAX_BLOCK:
        wide_softmax_kernel[(n_rows,)](y, x, x.stride(0), y.stride(0), n_cols, BLOCK_SIZE=4096, num_warps=8)
        return y

    properties = driver.active.utils.get_device_properties(torch.cuda.current_device())
    NUM_SM = properties["multiprocessor_count"]
    NUM_REGS = properties["max_num_regs"]
    SIZE_SMEM = properties["max_shared_mem"]
    WARP_SIZE = properties["warpSize"]

    num_warps = 8
    num_stages = 4 if SIZE_SMEM > 200000 else 2
    kernel = softmax_kernel.warmup(
        y,
        x,
        x.stride(0),
        y.stride(0),
        n_rows,
        n_cols,
        BLOCK_SIZE=BLOCK_SIZE,
        num_stages=num_stages,
        num_warps=num_warps,
        grid=(1,),
    )
    kernel._init_handles()
    n_regs = kernel.n_regs
    size_smem = kernel.metadata.shared
    occupancy = NUM_REGS // (n_regs * WARP_SIZE * num_warps)
    occupancy = min(occupancy, SIZE_SMEM // max(size_smem, 1))
    num_programs = min(NUM_SM * max(occupancy, 1), n_rows)

    kernel[(num_programs, 1, 1)](y, x, x.stride(0), y.stride(0), n_rows, n_cols, BLOCK_SIZE, num_stages)
    return y
