"""Real kernels, traced by the real tracer and sent to a real launcher, for the tests of the launcher.

Needs: an NVIDIA GPU with the CUDA driver (sm_80 or later; sm_90 for the wide rows and the figures they were tried
on), cuda-bindings 12.6 or later, torch and triton (torch may be a CPU build), and about 12 GiB of free GPU memory
and 24 GiB of host memory for the largest case. Run with `pytest -m gpu tests/gpu`. Nothing here is timed; deadlines
only end what hangs.
"""

from __future__ import annotations

import functools
from typing import Any

import ml_dtypes
import numpy as np

from tritonkata.boundary.channel import Blob
from tritonkata.boundary.messages import (
    DeviceFigures,
    Failed,
    LauncherReady,
    LauncherReply,
    Load,
    Loaded,
    Replay,
    Replayed,
    Trace,
    Traced,
    TracerReply,
)
from tritonkata.boundary.process import WorkerProcess, start_trusted, start_untrusted
from tritonkata.boundary.validate import validate
from tritonkata.model.faults import Fault
from tritonkata.model.plan import LaunchPlan
from tritonkata.model.tensors import Run, TensorData, TensorSpec

SECONDS = 240.0
POISONS = bytes((0xFF, 0x7B))
DTYPES: dict[str, Any] = {"float32": np.float32, "float16": np.float16, "bfloat16": ml_dtypes.bfloat16}

HEAD = """
import torch
import triton
import triton.language as tl
"""

SOFTMAX = (
    HEAD
    + """
@triton.jit
def softmax(x_ptr, y_ptr, x_stride, n_cols, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    cols = tl.arange(0, BLOCK)
    inside = cols < n_cols
    x = tl.load(x_ptr + row * x_stride + cols, mask=inside, other=-float("inf")).to(tl.float32)
    e = tl.exp(x - tl.max(x, axis=0))
    tl.store(y_ptr + row * n_cols + cols, e / tl.sum(e, axis=0), mask=inside)
"""
)

PLAIN = (
    SOFTMAX
    + """
def entry(x):
    y = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    block = triton.next_power_of_2(x.shape[1])
    softmax[(x.shape[0],)](x, y, x.stride(0), x.shape[1], BLOCK=block, num_warps=max(1, min(32, block // 512)))
    return y
"""
)

LOOPED = (
    HEAD
    + """
@triton.jit
def softmax(x_ptr, y_ptr, n_cols, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    lanes = tl.arange(0, BLOCK)
    m = tl.full((BLOCK,), -float("inf"), tl.float32)
    s = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, n_cols, BLOCK):
        inside = start + lanes < n_cols
        x = tl.load(x_ptr + row * n_cols + start + lanes, mask=inside, other=-float("inf")).to(tl.float32)
        new = tl.maximum(m, x)
        s = tl.where(inside, s * tl.exp(m - new) + tl.exp(x - new), s)
        m = new
    top = tl.max(m, axis=0)
    total = tl.sum(s * tl.exp(m - top), axis=0)
    for start in range(0, n_cols, BLOCK):
        inside = start + lanes < n_cols
        x = tl.load(x_ptr + row * n_cols + start + lanes, mask=inside, other=-float("inf")).to(tl.float32)
        tl.store(y_ptr + row * n_cols + start + lanes, tl.exp(x - top) / total, mask=inside)


def entry(x):
    y = torch.empty_like(x)
    softmax[(x.shape[0],)](x, y, x.shape[1], BLOCK=4096, num_warps=8)
    return y
"""
)


def start_launcher() -> WorkerProcess:
    process = start_trusted("tritonkata.launcher")
    ready = process.channel.receive(LauncherReply, seconds=SECONDS).message
    assert isinstance(ready, LauncherReady), ready
    return process


def spec_of(array: np.ndarray[Any, Any]) -> TensorSpec:
    dtype: Any = array.dtype.name
    strides = tuple(stride // array.itemsize for stride in array.strides)
    return TensorSpec(dtype, array.shape, strides, 0, array.size)


class Tracers:
    """One tracer process for each source, and the next one already importing torch and Triton."""

    def __init__(self) -> None:
        self._by_source: dict[str, WorkerProcess] = {}
        self._spare = self._start()

    def plan(self, source: str, device: DeviceFigures, specs: tuple[TensorSpec, ...]) -> LaunchPlan:
        channel = (self._by_source.get(source) or self._load(source, device)).channel
        channel.send(Trace("entry", tuple("xab"[: len(specs)]), specs))
        reply = channel.receive(TracerReply, seconds=SECONDS).message
        assert isinstance(reply, Traced), reply
        return reply.plan

    def end(self) -> None:
        for process in (*self._by_source.values(), self._spare):
            process.end()

    def _load(self, source: str, device: DeviceFigures) -> WorkerProcess:
        process, self._spare = self._spare, self._start()
        self._by_source[source] = process
        process.channel.receive(TracerReply, seconds=SECONDS)
        target = "sm_{}{}".format(*device.capability) if device.capability >= (9, 0) else "sm_80"
        process.channel.send(Load("answer.py", source.encode(), ("entry",), target, device, 60.0))
        loaded = process.channel.receive(TracerReply, seconds=SECONDS).message
        assert isinstance(loaded, Loaded), loaded
        return process

    @staticmethod
    def _start() -> WorkerProcess:
        return start_untrusted("tritonkata.worker.tracer", bubblewrap=None)


@functools.cache
def tracers() -> Tracers:
    return Tracers()


def traced(source: str, device: DeviceFigures, *specs: TensorSpec) -> LaunchPlan:
    """The plan of `entry` of this source, valid for the device."""
    plan = tracers().plan(source, device, specs)
    validate(plan, specs, device)
    return plan


def ask(
    process: WorkerProcess, plan: LaunchPlan, *arrays: np.ndarray[Any, Any], poisons: bytes = POISONS
) -> tuple[Any, tuple[Blob, ...]]:
    """Replay on dense arrays; the reply and its blobs."""
    tensors = tuple(TensorData(spec_of(array), (Run(0, array.size),) if array.size else ()) for array in arrays)
    blobs = [array.reshape(-1).view(np.uint8) for array in arrays]
    process.channel.send(Replay(plan, tensors, poisons), blobs, seconds=SECONDS)
    frame = process.channel.receive(LauncherReply, seconds=SECONDS)
    return frame.message, frame.blobs


def outputs(
    process: WorkerProcess, plan: LaunchPlan, *arrays: np.ndarray[Any, Any]
) -> tuple[Replayed, list[np.ndarray[Any, Any]]]:
    """Replay and expect outputs, dense ones."""
    reply, blobs = ask(process, plan, *arrays)
    assert isinstance(reply, Replayed), reply
    values = [
        np.frombuffer(blob, DTYPES.get(data.spec.dtype, data.spec.dtype)).reshape(data.spec.shape)
        for data, blob in zip(reply.outputs, blobs, strict=True)
    ]
    return reply, values


def fault(process: WorkerProcess, plan: LaunchPlan, *arrays: np.ndarray[Any, Any]) -> Fault:
    reply, _ = ask(process, plan, *arrays)
    assert isinstance(reply, Failed), reply
    return reply.fault


def values(rows: int, columns: int, dtype: str = "float32") -> np.ndarray[Any, Any]:
    rng = np.random.default_rng(rows + columns)
    return (rng.standard_normal((rows, columns), np.float32) * 4).astype(DTYPES[dtype])


def assert_softmax(y: np.ndarray[Any, Any], x: np.ndarray[Any, Any], dtype: str) -> None:
    """Every element within the tolerance of its type of the float64 truth, some rows at a time."""
    step = max(1, (1 << 24) // max(x.shape[1], 1))
    for start in range(0, x.shape[0], step):
        part = x[start : start + step].astype(np.float64)
        shifted = part - part.max(axis=1, keepdims=True)
        truth = np.exp(shifted)
        truth /= truth.sum(axis=1, keepdims=True)
        error = np.abs(y[start : start + step].astype(np.float64) - truth)
        allowed = tolerance(truth, shifted, dtype)
        assert np.all(error <= allowed), f"rows from {start}: {np.nanmax(error / allowed)} times the tolerance"


def tolerance(truth: Any, shifted: Any, dtype: str) -> Any:
    if dtype == "float32":
        return truth * 2.0**-24 * (16 + 4 * np.abs(shifted) + 2 * np.log2(truth.shape[1])) + 2.0**-126
    mantissa, smallest = {"float16": (10, 2.0**-24), "bfloat16": (7, 2.0**-126)}[dtype]
    return np.exp2(np.floor(np.log2(np.maximum(truth, 2.0**-200))) - mantissa) + smallest
