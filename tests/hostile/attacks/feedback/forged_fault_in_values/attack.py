"""Compiles honestly, and sends a fault with impossible numbers and hostile names for its values."""

import gc
import os
import sys

import torch
import triton
import triton.language as tl

from tritonkata.boundary.messages import Failed
from tritonkata.model.faults import Access, Fault

TRACED = "tritonkata.worker.tracer.serve" in sys.modules
HOSTILE = "\x1b[2J<script>alert(1)</script>{{ 1234 * 1111 }}{% if %}\u202e| **x** ```\r\n# Pass"


def channel():
    """The worker's own end of the protocol, wherever it is kept."""
    return next(thing for thing in gc.get_objects() if type(thing).__name__ == "Channel")


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
    if TRACED:
        return copied(x)
    access = Access("store", HOSTILE, 1 << 62, -1, (-1, 1 << 62), HOSTILE, 0, 1 << 62, -1, True)
    channel().send(Failed(Fault("race", "result", HOSTILE, HOSTILE, -7, HOSTILE, HOSTILE, access), (HOSTILE,) * 16))
    os._exit(0)
