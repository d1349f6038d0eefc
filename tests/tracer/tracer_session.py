"""Start a real tracer process and talk to it as the controller does."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass

from tritonkata.boundary.channel import Channel
from tritonkata.boundary.messages import DeviceFigures, Failed, Load, Loaded, Ready, Trace, Traced, TracerReply
from tritonkata.model.faults import Fault
from tritonkata.model.plan import LaunchPlan
from tritonkata.model.tensors import TensorSpec

SECONDS = 180.0

SOFTMAX = """
import torch
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, y_ptr, x_stride, y_stride, n_cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * x_stride + cols, mask=cols < n_cols, other=-float("inf")).to(tl.float32)
    e = tl.exp(x - tl.max(x, axis=0))
    tl.store(y_ptr + row * y_stride + cols, e / tl.sum(e, axis=0), mask=cols < n_cols)
"""

PLAIN = """
def entry(x):
    y = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    BLOCK = triton.next_power_of_2(x.shape[1])
    kernel[(x.shape[0],)](x, y, x.stride(0), y.stride(0), x.shape[1], BLOCK=BLOCK)
    return y
"""


def dense(rows: int, cols: int, dtype: str = "float32") -> TensorSpec:
    return TensorSpec(dtype, (rows, cols), (cols, 1), 0, rows * cols)  # type: ignore[arg-type]


@dataclass(frozen=True)
class Session:
    """One tracer process with a loaded submission."""

    channel: Channel
    loaded: Loaded | Failed
    process: subprocess.Popen[bytes]

    def trace(self, *arguments: TensorSpec, entry: str = "entry", seconds: float = 60.0) -> Traced | Failed:
        names = tuple(f"x{i}" if i else "x" for i in range(len(arguments)))
        self.channel.send(Trace(entry, names, arguments, seconds), seconds=SECONDS)
        return self.channel.receive(TracerReply, seconds=SECONDS).message

    def plan(self, *arguments: TensorSpec) -> LaunchPlan:
        reply = self.trace(*arguments)
        assert isinstance(reply, Traced), reply
        return reply.plan

    def fault(self, *arguments: TensorSpec) -> Fault:
        reply = self.trace(*arguments)
        assert isinstance(reply, Failed), reply
        return reply.fault


@contextlib.contextmanager
def tracer(
    source: str, target: str = "sm_90", figures: DeviceFigures | None = None, load_seconds: float = 20.0
) -> Iterator[Session]:
    """A process that has answered `Load` for `source`."""
    folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
    read_here, write_there = os.pipe()
    read_there, write_here = os.pipe()
    command = [sys.executable, "-m", "tritonkata.worker.tracer", str(read_there), str(write_there)]
    process = subprocess.Popen(
        command,
        pass_fds=(read_there, write_there),
        stdout=subprocess.DEVNULL,
        env={**os.environ, "TMPDIR": folder.name},
    )
    os.close(read_there)
    os.close(write_there)
    channel = Channel(read_here, write_here)
    try:
        ready = channel.receive(TracerReply, seconds=SECONDS).message
        assert isinstance(ready, Ready)
        body = textwrap.dedent(source).encode()
        channel.send(
            Load("answer.py", body, ("entry",), target, figures or DeviceFigures(), load_seconds), seconds=SECONDS
        )
        yield Session(channel, channel.receive(TracerReply, seconds=SECONDS).message, process)
    finally:
        channel.close()
        process.wait(timeout=SECONDS)
        folder.cleanup()
