"""Starting and ending worker processes.

A worker has two pipes for the protocol and nothing else of the controller's.
What it prints is drained and forgotten, but for the first kilobytes, which
explain a fault of the grader itself and are never parsed for a verdict.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from tritonkata.boundary.channel import Channel
from tritonkata.boundary.sandbox import bubblewrap_arguments, worker_environment

OUTPUT_BYTES_KEPT = 16 << 10
END_SECONDS = 10.0


class WorkerProcess:
    """One child process and the channel to it."""

    def __init__(self, process: subprocess.Popen[bytes], channel: Channel, folder: Path | None = None) -> None:
        self._process = process
        self._folder = folder
        self.channel = channel
        self._kept = bytearray()
        self._drain = threading.Thread(target=self._drain_output, name="drain", daemon=True)
        self._drain.start()

    @property
    def pid(self) -> int:
        """Process id of the child (bubblewrap's, where there is a sandbox)."""
        return self._process.pid

    @property
    def is_running(self) -> bool:
        """Whether the child has not ended yet."""
        return self._process.poll() is None

    @property
    def exit_code(self) -> int | None:
        """The child's exit code, negative for a signal, None while it runs."""
        return self._process.poll()

    def output(self) -> str:
        """The first kilobytes of what the child printed, for the fault reports of the grader itself."""
        return bytes(self._kept).decode(errors="replace")

    def end(self) -> None:
        """Kill the child and everything it started, and wait until they are gone."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        with contextlib.suppress(ProcessLookupError):
            self._process.kill()
        self._process.wait(END_SECONDS)
        # The pipe's end comes when the last process that inherited it is gone.
        self._drain.join(END_SECONDS)
        if self._process.stdout is not None and not self._drain.is_alive():
            self._process.stdout.close()
        self.channel.close()
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)

    def _drain_output(self) -> None:
        stream: IO[bytes] | None = self._process.stdout
        if stream is None:
            return
        with contextlib.suppress(OSError, ValueError):
            while chunk := os.read(stream.fileno(), 1 << 16):
                room = OUTPUT_BYTES_KEPT - len(self._kept)
                self._kept += chunk[: max(room, 0)]


def start_untrusted(module: str, *, bubblewrap: str | None, hidden: Iterable[Path] = ()) -> WorkerProcess:
    """Start `python -m module READ_FD WRITE_FD` in the sandbox, or without one when `bubblewrap` is None.

    Must be called from a thread that outlives the worker: the kernel ends a
    sandbox when the thread that started it ends.
    """
    if bubblewrap is None:
        # Killed without notice, a worker leaves its files behind; in a folder of its own they can be removed.
        folder = Path(tempfile.mkdtemp(prefix="kata-worker-"))
        environment = {**worker_environment(sandboxed=False), "HOME": str(folder), "TMPDIR": str(folder)}
        return _start(module, (), _Wrapping((), environment, folder=folder))
    descriptor = _argument_file(bubblewrap_arguments(hidden))
    # An empty environment: bubblewrap's own is readable inside, whatever it clears for the child.
    return _start(module, (), _Wrapping((bubblewrap, "--args", str(descriptor), "--"), {}, (descriptor,)))


def start_trusted(module: str, arguments: Iterable[str] = ()) -> WorkerProcess:
    """Start `python -m module READ_FD WRITE_FD ...` with the grader's own environment."""
    package_parent = str(Path(__file__).resolve().parents[2])
    path = [package_parent, *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
    return _start(module, arguments, _Wrapping((), {**os.environ, "PYTHONPATH": os.pathsep.join(path)}))


@dataclass(frozen=True)
class _Wrapping:
    """What stands before the command, its environment, further descriptors to pass, and a folder to remove."""

    prefix: tuple[str, ...]
    environment: Mapping[str, str]
    descriptors: tuple[int, ...] = ()
    folder: Path | None = None


def _start(module: str, arguments: Iterable[str], wrapping: _Wrapping) -> WorkerProcess:
    child_reads, we_write = os.pipe()
    we_read, child_writes = os.pipe()
    command = [sys.executable, "-s", "-m", module, str(child_reads), str(child_writes), *arguments]
    try:
        process = subprocess.Popen(
            [*wrapping.prefix, *command],
            env=dict(wrapping.environment),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            pass_fds=(child_reads, child_writes, *wrapping.descriptors),
            start_new_session=True,
            cwd=wrapping.folder or "/",
        )
    except OSError:
        os.close(we_read)
        os.close(we_write)
        raise
    finally:
        for descriptor in (child_reads, child_writes, *wrapping.descriptors):
            os.close(descriptor)
    return WorkerProcess(process, Channel(we_read, we_write), wrapping.folder)


def _argument_file(arguments: list[str]) -> int:
    descriptor = os.memfd_create("arguments")
    os.write(descriptor, b"\0".join(os.fsencode(argument) for argument in arguments) + b"\0")
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor
