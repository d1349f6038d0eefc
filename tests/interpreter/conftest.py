"""The real worker process, driven over its pipes; and the helper beside the tests made importable."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from tritonkata.boundary.channel import Channel
from tritonkata.boundary.messages import (
    DeviceFigures,
    Failed,
    Interpret,
    Interpreted,
    InterpreterReply,
    Load,
    Loaded,
    Ready,
)
from tritonkata.model.faults import Fault
from tritonkata.model.tensors import Run, TensorData, TensorSpec

sys.path.insert(0, str(Path(__file__).parent))

PRELUDE = """\
import torch
import triton
import triton.language as tl

"""
SECONDS = 60.0
DTYPES = {"bfloat16": ml_dtypes.bfloat16}


def dense(array: np.ndarray, dtype: str | None = None) -> tuple[TensorData, bytes]:
    """A contiguous array as the data of a tensor, with its blob."""
    name = dtype or ("bfloat16" if array.dtype == ml_dtypes.bfloat16 else str(array.dtype))
    strides = tuple(s // array.itemsize for s in array.strides) if array.size else (max(array.shape[-1], 1), 1)
    spec = TensorSpec(name, array.shape, strides, 0, array.size)
    return TensorData(spec, (Run(0, array.size),)), np.ascontiguousarray(array).tobytes()


@dataclass
class Worker:
    """The process, and the submission that the next case runs."""

    channel: Channel
    ready: Ready
    process: subprocess.Popen[bytes]

    def load(self, source: str, *entry_points: str, prelude: str = PRELUDE, seconds: float = SECONDS) -> Any:
        text = (prelude + textwrap.dedent(source)).encode()
        self.channel.send(Load("submission.py", text, entry_points or ("run",), "sm_90", DeviceFigures(), seconds))
        return self.channel.receive(InterpreterReply, seconds=seconds + 30).message

    def call(
        self,
        arguments: dict[str, np.ndarray | tuple[TensorData, bytes]],
        entry: str = "run",
        seconds: float = SECONDS,
    ) -> tuple[Interpreted | Failed, list[np.ndarray]]:
        pairs = [dense(a) if isinstance(a, np.ndarray) else a for a in arguments.values()]
        request = Interpret(entry, tuple(arguments), tuple(data for data, _ in pairs), seconds)
        self.channel.send(request, [blob for _, blob in pairs])
        frame = self.channel.receive(InterpreterReply, seconds=seconds + 30)
        return frame.message, outputs_of(frame.message, frame.blobs)

    def run(self, source: str, arguments: dict[str, Any]) -> tuple[Interpreted, list[np.ndarray]]:
        """Load and call; the submission must get through."""
        loaded = self.load(source)
        assert isinstance(loaded, Loaded), loaded
        reply, outputs = self.call(arguments)
        assert isinstance(reply, Interpreted), reply
        return reply, outputs

    def fault(self, source: str, arguments: dict[str, Any]) -> Fault:
        """Load and call; the call must fail."""
        loaded = self.load(source)
        assert isinstance(loaded, Loaded), loaded
        reply, _ = self.call(arguments)
        assert isinstance(reply, Failed), reply
        return reply.fault


def outputs_of(message: Any, blobs: Sequence[bytearray]) -> list[np.ndarray]:
    if not isinstance(message, Interpreted):
        return []
    arrays = []
    for data, blob in zip(message.outputs, blobs, strict=True):
        spec = data.spec
        flat = np.frombuffer(bytes(blob), DTYPES.get(spec.dtype, spec.dtype))
        strides = [s * flat.itemsize for s in spec.strides]
        arrays.append(
            np.lib.stride_tricks.as_strided(flat, spec.shape, strides)
            if spec.elements
            else np.empty(spec.shape, flat.dtype)
        )
    return arrays


@contextlib.contextmanager
def started() -> Iterator[Worker]:
    to_read, to_write = os.pipe()
    from_read, from_write = os.pipe()
    process = subprocess.Popen(
        [sys.executable, "-m", "tritonkata.worker.interpreter", str(to_read), str(from_write)],
        pass_fds=(to_read, from_write),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
    )
    os.close(to_read)
    os.close(from_write)
    channel = Channel(from_read, to_write)
    try:
        ready = channel.receive(InterpreterReply, seconds=120).message
        assert isinstance(ready, Ready)
        yield Worker(channel, ready, process)
    finally:
        channel.close()
        process.wait(30)


@pytest.fixture(scope="session")
def worker() -> Iterator[Worker]:
    """One worker for all tests: cases leave nothing behind, which is itself under test."""
    with started() as running:
        yield running
