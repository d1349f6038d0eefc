"""Sends a run whose names, counts and positions are hostile or impossible."""

import gc
import os
import sys

import numpy as np
import torch
import triton
import triton.language as tl

from tritonkata.boundary.messages import Interpreted
from tritonkata.model.observation import LineTraffic, TensorTraffic, Traffic, Unwritten
from tritonkata.model.tensors import Run, TensorData, TensorSpec

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
    shape = tuple(x.shape)
    values = np.full(shape, np.nan, x.cells.numpy().dtype)
    spec = TensorSpec(str(values.dtype), shape, (shape[1], 1), 0, values.size)
    most = 1 << 62
    tensor = TensorTraffic(HOSTILE, most, most, 0, 0, (LineTraffic(1 << 20, most, most),))
    answer = Interpreted(
        outputs=(TensorData(spec, (Run(0, values.size),)),),
        returned_tuple=False,
        traffic=Traffic("interpreter", most, most, (tensor,) * 256),
        launches=-most,
        inputs_changed=(HOSTILE,) * 16,
        unwritten=(Unwritten(99, -1, (), (-1, most, 3)),),
        notes=(HOSTILE,) * 16,
    )
    channel().send(answer, [values])
    os._exit(0)
