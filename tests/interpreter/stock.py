"""Runs one kernel in Triton's interpreter as it is installed, without any shim: `python stock.py NAME`.

Prints `right`, `wrong`, or the name of the exception. Not a test itself; see test_shims_needed.py.
"""

from __future__ import annotations

import os
import sys
import warnings

os.environ["TRITON_INTERPRET"] = "1"

import torch
import triton
import triton.language as L
import triton.language as tl
from triton.language.extra import libdevice


@triton.jit
def loop_variable(y_ptr, x_ptr, n, BLOCK: tl.constexpr):
    for row in range(tl.program_id(0), 1, tl.num_programs(0)):
        cols = row.to(tl.int64) + tl.arange(0, BLOCK)
        tl.store(y_ptr + cols, tl.load(x_ptr + cols))


@triton.jit
def scalar_condition(y_ptr, x_ptr, n, BLOCK: tl.constexpr):
    cols = tl.arange(0, BLOCK)
    mask = (cols < n) & (tl.program_id(0) < n)
    tl.store(y_ptr + cols, tl.load(x_ptr + cols, mask=mask), mask=mask)


@triton.jit
def float_condition(y_ptr, x_ptr, n, BLOCK: tl.constexpr):
    cols = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + cols)
    tl.store(y_ptr + cols, x, mask=(cols < n) & (tl.max(x, 0) > -1.0))


def chained_assignment(y_ptr, x_ptr, n, BLOCK: tl.constexpr):
    m = s = 0.0
    cols = tl.arange(0, BLOCK)
    tl.store(y_ptr + cols, tl.load(x_ptr + cols) + m + s)


@triton.jit
def library_function(y_ptr, x_ptr, n, BLOCK: tl.constexpr):
    cols = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + cols)
    tl.store(y_ptr + cols, x + libdevice.exp(x) - tl.exp(x))


@triton.jit
def alias(y_ptr, x_ptr, n, BLOCK: L.constexpr):
    cols = L.arange(0, BLOCK)
    L.store(y_ptr + cols, L.load(x_ptr + cols))


@triton.jit
def bfloat16_rounding(y_ptr, x_ptr, n, BLOCK: tl.constexpr):
    cols = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + cols)
    tl.store(y_ptr + cols, (x + 0.99609375).to(tl.bfloat16).to(tl.float32) - 1.0)


@triton.jit
def bfloat16_arithmetic(y_ptr, x_ptr, n, BLOCK: tl.constexpr):
    cols = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + cols).to(tl.bfloat16)
    tl.store(y_ptr + cols, ((x + x) * 0.5).to(tl.float32))


ONE = tl.constexpr(1.0)


@triton.jit
def constant_on_the_left(y_ptr, x_ptr, n, BLOCK: tl.constexpr):
    cols = tl.arange(0, BLOCK)
    tl.store(y_ptr + cols, (ONE * tl.load(x_ptr + cols)).to(tl.float32))


@triton.jit
def mathematics_as_method(y_ptr, x_ptr, n, BLOCK: tl.constexpr):
    cols = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + cols)
    tl.store(y_ptr + cols, x + (x.exp() - tl.exp(x)))


@triton.jit
def nothing_special(y_ptr, x_ptr, n, BLOCK: tl.constexpr):
    cols = tl.arange(0, BLOCK)
    tl.store(y_ptr + cols, tl.load(x_ptr + cols, mask=cols < n), mask=cols < n)


def main() -> str:
    """Whether the kernel copies eight numbers."""
    warnings.simplefilter("ignore")
    kernel = globals()[sys.argv[1]]
    x = torch.arange(8, dtype=torch.float32)
    if kernel is bfloat16_rounding:
        x = torch.full((8,), 0.0029296875)  # with 0.99609375 nearer to 1 than to the bfloat16 below it
    y = torch.zeros(8)
    try:
        (kernel if hasattr(kernel, "run") else triton.jit(kernel))[(1,)](y, x, 8, BLOCK=8)
    except Exception as error:
        return type(error).__name__
    expected = torch.zeros(8) if kernel is bfloat16_rounding else x
    return "right" if torch.equal(y, expected) else "wrong"


if __name__ == "__main__":
    print(main(), flush=True)
    os._exit(0)
