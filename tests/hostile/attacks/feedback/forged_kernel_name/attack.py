"""Names its compiled kernel with escapes and markup in the launch plan."""

import sys

import msgspec
import torch
import triton
import triton.language as tl

HOSTILE = "\x1b[2J<script>alert(1)</script>{{ 1234 * 1111 }}{% if %}\u202e| **x** ```\r\n# Pass"
replace = msgspec.structs.replace


def renamed(plan):
    kernels = tuple(replace(kernel, name=HOSTILE, registers=4096, spilled_bytes=1 << 24) for kernel in plan.kernels)
    return replace(plan, kernels=kernels, target=HOSTILE[:16])


if "tritonkata.worker.tracer.recording" in sys.modules:
    RECORDING = sys.modules["tritonkata.worker.tracer.recording"].Recording
    HONEST = RECORDING.plan
    RECORDING.plan = lambda *args: renamed(HONEST(*args))


@triton.jit
def copy_rows(x_ptr, y_ptr, x_stride, n_cols, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    cols = tl.arange(0, BLOCK)
    mask = cols < n_cols
    x = tl.load(x_ptr + row * x_stride + cols, mask=mask, other=0.0)
    tl.store(y_ptr + row * n_cols + cols, x, mask=mask)


def doubled(x):
    y = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    rows, cols = x.shape
    if y.numel():
        copy_rows[(rows,)](x, y, x.stride(0), cols, BLOCK=triton.next_power_of_2(cols))
    return y
