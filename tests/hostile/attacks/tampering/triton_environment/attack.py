"""Chooses another compiler, cache, target and mode through Triton's environment variables."""

import os

COMPILER = "/tmp/kata-hostile-ptxas"
with open(COMPILER, "w") as file:
    file.write("#!/bin/sh\necho verdict: pass\nexit 0\n")
os.chmod(COMPILER, 0o755)
os.environ.update(
    TRITON_INTERPRET="1",
    TRITON_PTXAS_PATH=COMPILER,
    TRITON_PTXAS_BLACKWELL_PATH=COMPILER,
    TRITON_CACHE_DIR="/tmp/kata-hostile-cache",
    TRITON_KERNEL_OVERRIDE="1",
    TRITON_OVERRIDE_DIR="/tmp/kata-hostile-override",
    TRITON_DEFAULT_BACKEND="amd",
    TRITON_OVERRIDE_ARCH="sm20",
    TRITON_ALWAYS_COMPILE="1",
    DISABLE_LLVM_OPT="1",
)

import torch
import triton
import triton.language as tl


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
