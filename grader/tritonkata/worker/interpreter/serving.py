"""The parent of the interpreter worker: requests in, one forked child each, replies out."""

from __future__ import annotations

import contextlib
import gc
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import CodeType
from typing import Any

from tritonkata.boundary import prctl
from tritonkata.boundary.channel import Blob, Channel, ChannelClosed, ChannelError, DeadlinePassed
from tritonkata.boundary.messages import Evaluate, Evaluated, Failed, Interpret, Interpreted, Load, Loaded, Ready
from tritonkata.model.faults import Fault, Phase
from tritonkata.worker import bootstrap
from tritonkata.worker.alarm import GRACE_SECONDS, Alarm
from tritonkata.worker.loading import safe_filename

MAX_REPLY_BYTES = 4 << 30
_SHARED_MEMORY = "/dev/shm"
Work = Callable[[Path], tuple[Any, Sequence[Any]]]


@dataclass(frozen=True)
class Task:
    """What a child does with the file of this name, and for how long; `phase` is where it is stopped from outside."""

    work: Work
    filename: str
    seconds: float
    phase: Phase


def serve(read_fd: int, write_fd: int, ready: Ready) -> int:
    """Greet with `ready`, then answer requests until the controller closes its end."""
    prctl.hide()  # from its children, which are of the same user
    channel = Channel(read_fd, write_fd)
    load: Load | None = None
    with contextlib.suppress(ChannelClosed):
        channel.send(ready)
        while True:
            load = _answer_one(channel, load)
    return 0


def _answer_one(channel: Channel, load: Load | None) -> Load | None:
    """Answer one request; the submission from now on. No inputs of this case are there when the next child is forked.

    Raises:
        ChannelClosed: the controller is done with this process.
    """
    frame = channel.receive(Load | Interpret | Evaluate)
    request = frame.message
    reply: tuple[Any, Sequence[Any]]
    if isinstance(request, Load):
        load = request
        _answer_device_questions(load)
        reply = _in_child(channel, _loading(load), Loaded | Failed)
    elif load is None:
        reply = Failed(Fault("grader_error", "protocol", "a case was sent before the submission")), ()
    elif isinstance(request, Evaluate):
        reply = _in_child(channel, _evaluating(load, request), Evaluated | Failed)
    else:
        reply = _in_child(channel, _interpreting(load, request, frame.blobs), Interpreted | Failed)
    channel.send(*reply)
    return load


def prepare() -> Ready:
    """Import what submissions need, and patch it."""
    import numpy as np
    import torch
    import triton

    from tritonkata.worker.interpreter import case, language

    del case  # imported here so that no child has to
    torch.set_num_threads(1)
    language.install()
    gc.collect()
    gc.freeze()  # the collector would otherwise write to, and so copy, every page of each child
    return Ready(str(triton.__version__), str(torch.__version__), np.__version__)


def _answer_device_questions(load: Load) -> None:
    from tritonkata.worker.interpreter.device import answer_device_questions

    answer_device_questions(load.device)


def _loading(load: Load) -> Task:
    from tritonkata.worker.interpreter.case import try_loading

    return Task(lambda folder: try_loading(load, folder), safe_filename(load.filename), load.seconds, "load")


def _interpreting(load: Load, request: Interpret, blobs: Sequence[Blob]) -> Task:
    from tritonkata.worker.interpreter.case import run_case

    def work(folder: Path) -> tuple[Any, Sequence[Any]]:
        return run_case(load, folder, request, blobs)

    return Task(work, safe_filename(load.filename), request.seconds, "host")


def _evaluating(load: Load, request: Evaluate) -> Task:
    from tritonkata.worker.interpreter.evaluating import evaluate

    return Task(lambda folder: evaluate(load, folder, request), safe_filename(load.filename), request.seconds, "answer")


def _in_child(controller: Channel, task: Task, types: Any) -> tuple[Any, Sequence[Any]]:
    """Do the task in a forked child within its time, and pass on its reply or say why there is none."""
    before = _temporary_files()
    folder = Path(tempfile.mkdtemp(prefix="submission-"))
    read_end, write_end = os.pipe()
    pid = os.fork()
    if pid == 0:
        controller.close()  # a submission must find no way to speak for the worker
        _child(task, folder, read_end, write_end)
    os.close(write_end)
    replies = Channel(read_end, os.open(os.devnull, os.O_WRONLY), max_blob_bytes=MAX_REPLY_BYTES)
    try:
        frame = replies.receive(types, seconds=task.seconds + GRACE_SECONDS)
        return frame.message, frame.blobs
    except DeadlinePassed:
        message = f"the call did not end within {task.seconds:g} seconds"
        return Failed(Fault("timeout", task.phase, message)), ()
    except ChannelClosed:
        return Failed(_ended(pid)), ()
    except ChannelError as error:
        return Failed(Fault("runtime_error", "protocol", f"the process sent no proper reply: {error}")), ()
    finally:
        replies.close()
        _end(pid)
        _remove(folder)
        _remove_new_files(before)


def _child(task: Task, folder: Path, read_end: int, write_end: int) -> None:
    """Never returns. Whatever happens, the process ends here and not in the parent's code."""
    code = 1
    try:
        os.setsid()
        os.close(read_end)
        channel = Channel(os.open(os.devnull, os.O_RDONLY), write_end)
        alarm = Alarm(str(folder / task.filename), _marks(), channel.send)
        with alarm.after(task.seconds):
            reply, blobs = task.work(folder)
        with contextlib.suppress(OSError, ValueError):
            sys.stdout.flush()
        channel.send(reply, blobs)
        code = 0
    except BaseException as error:  # a fault of this package, since a submission's are replies
        with contextlib.suppress(BaseException):
            message = f"the interpreter worker failed: {type(error).__name__}: {error}"[:2000]
            channel.send(Failed(Fault("grader_error", "protocol", message)))
    finally:
        os._exit(code)


def _marks() -> Mapping[CodeType, Phase]:
    from tritonkata.worker.interpreter.case import MARKS
    from tritonkata.worker.interpreter.evaluating import outcome

    return {**MARKS, outcome.__code__: "answer"}


def _ended(pid: int) -> Fault:
    """How a child ended that sent no reply."""
    advice = "Remove os._exit, and look for what ends the process."
    with contextlib.suppress(ChildProcessError):
        os.kill(pid, signal.SIGKILL)  # no effect on one that has ended
        status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        if status == -signal.SIGKILL:
            return Fault("runtime_error", "protocol", "the process was killed before it answered", advice=advice)
        how = f"with exit code {status}" if status >= 0 else f"by signal {-status}"
        return Fault("runtime_error", "protocol", f"the process ended early, {how}", advice=advice)
    return Fault("runtime_error", "protocol", "the process ended early", advice=advice)


def _end(pid: int) -> None:
    """Kill the child, its group and, in a namespace of our own, all that it may have left behind."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)
    if bootstrap.in_sandbox():
        # Spares the first process of the namespace and this one.
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(-1, signal.SIGKILL)
    with contextlib.suppress(ProcessLookupError, ChildProcessError):
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


def _temporary_files() -> frozenset[Path]:
    """What lies where anybody may write. Only looked at where that is this worker's own."""
    folders = (tempfile.gettempdir(), _SHARED_MEMORY) if bootstrap.in_sandbox() else ()
    return frozenset(Path(folder, name) for folder in folders for name in os.listdir(folder))


def _remove_new_files(before: frozenset[Path]) -> None:
    for path in _temporary_files() - before:
        if path.is_dir() and not path.is_symlink():
            _remove(path)
        else:
            with contextlib.suppress(OSError):
                path.unlink()


def _remove(folder: Path) -> None:
    # Deeper than Python's stack it stays, and goes with the sandbox.
    with contextlib.suppress(RecursionError):
        shutil.rmtree(folder, ignore_errors=True)
