"""The tracer's conversation: ready, one submission, then traces until the pipe closes."""

from __future__ import annotations

import io
import sys
from pathlib import Path
from types import ModuleType
from typing import NoReturn

import numpy
import torch
import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

from tritonkata.boundary.channel import Channel
from tritonkata.boundary.messages import Failed, Load, Loaded, Ready, Trace
from tritonkata.model.faults import Fault
from tritonkata.worker.alarm import Alarm
from tritonkata.worker.compiling import line_being_compiled
from tritonkata.worker.loading import SubmissionFault, load_submission, safe_filename
from tritonkata.worker.tracer.environment import Settings
from tritonkata.worker.tracer.recorder import TARGETS
from tritonkata.worker.tracer.standin import HostMode
from tritonkata.worker.tracer.trace import MARKS, Tracer


@triton.jit  # type: ignore[untyped-decorator]  # Triton has no type stubs
def _warm(pointer, count, BLOCK: tl.constexpr):  # type: ignore[no-untyped-def]  # noqa: N803
    """Store zeros: the smallest kernel that passes through every stage of the compiler."""
    columns = tl.arange(0, BLOCK)
    tl.store(pointer + columns, tl.zeros((BLOCK,), tl.float32), mask=columns < count)


def serve(channel: Channel, folder: Path, settings: Settings) -> NoReturn:
    """Answer requests for ever; the submission's file and the compiler's cache lie in `folder`.

    Raises:
        ChannelClosed: the controller is done with this process.
    """
    if isinstance(sys.stdout, io.TextIOWrapper):
        # This process is ended from outside, and what the submission printed is to be seen all the same.
        sys.stdout.reconfigure(line_buffering=True)
    channel.send(Ready(str(triton.__version__), str(torch.__version__), str(numpy.__version__)))
    load: Load = channel.receive(Load).message
    path = folder / safe_filename(load.filename)
    alarm = Alarm(str(path), MARKS, channel.send, line_being_compiled)
    with HostMode():  # type: ignore[no-untyped-call]  # torch's own __init__ has no types
        with alarm.after(load.seconds):
            tracer, module = _load(load, folder, settings)
        channel.send(Loaded() if isinstance(module, ModuleType) else Failed(module))
        while True:
            request: Trace = channel.receive(Trace).message
            if tracer is None or not isinstance(module, ModuleType):
                channel.send(Failed(Fault("grader_error", "protocol", "a trace was asked of a file that did not load")))
            else:
                with alarm.after(request.seconds):
                    reply = tracer.trace(module, path, request)
                channel.send(reply)


def _load(load: Load, folder: Path, settings: Settings) -> tuple[Tracer | None, ModuleType | Fault]:
    """Set the device and the target, then import the submission; a fault takes the module's place."""
    if load.target not in TARGETS:
        message = f"the target {load.target} is unknown; known are {', '.join(TARGETS)}"
        return None, Fault("grader_error", "protocol", message)
    tracer = Tracer(load, settings)
    try:
        return tracer, load_submission(load, folder)
    except SubmissionFault as error:
        return tracer, error.fault


def warm_up() -> Settings:
    """Compile once before a submission comes: the first compilation of a process takes seconds."""
    settings = Settings()
    signature = {"pointer": "*fp32", "count": "i32", "BLOCK": "constexpr"}
    triton.compile(ASTSource(_warm, signature, {(2,): 64}), target=GPUTarget("cuda", 90, 32))
    return settings
