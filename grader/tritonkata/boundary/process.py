"""Starting and ending worker processes.

A worker has two pipes for the protocol and nothing else of the controller's.
What it prints is drained and forgotten, but for the first kilobytes, which
explain a fault of the grader itself, or are shown by `kata check` where the
worker had no hidden values. They are never parsed for a verdict.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import subprocess
import sys
import threading
import weakref
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from tritonkata.boundary.agreed import NO_SANDBOX_WORD, SANDBOX_VARIABLE
from tritonkata.boundary.cgroup import Group, make_group
from tritonkata.boundary.channel import Channel
from tritonkata.boundary.child import Child, Spawned
from tritonkata.boundary.leftovers import END_SECONDS, make_folder, remove_folder, remove_stale_folders
from tritonkata.boundary.memory_file import filled
from tritonkata.boundary.sandbox import bubblewrap_arguments, worker_environment
from tritonkata.boundary.seccomp import SeccompUnavailable, filter_program

OUTPUT_BYTES_KEPT = 16 << 10


class WorkerProcess:
    """One child process and the channel to it.

    `folder` is that of a worker without a sandbox, for its temporary files; it
    is removed in the end. `group` is its control group, where it has one.
    """

    def __init__(
        self,
        process: Child,
        channel: Channel,
        folder: Path | None = None,
        group: Group | None = None,
    ) -> None:
        self._process = process
        self._group = group
        self._folder = folder
        self._owner = os.getpid()
        self.channel = channel
        self._kept = bytearray()
        self._drain = threading.Thread(target=self._drain_output, name="drain", daemon=True)
        self._drain.start()
        _open_workers.add(self)

    @property
    def pid(self) -> int:
        """Process id of the child (bubblewrap's or a keeper's, where there is a sandbox)."""
        return self._process.pid

    @property
    def is_running(self) -> bool:
        """Whether the child has not ended yet."""
        return self._process.poll() is None

    @property
    def exit_code(self) -> int | None:
        """The child's exit code, None while it runs; for a signal negative, or from 128 on in a sandbox."""
        return self._process.poll()

    def output(self) -> str:
        """The first kilobytes of what the child printed."""
        return bytes(self._kept).decode(errors="replace")

    @property
    def is_own(self) -> bool:
        """Whether this process started the child, and is not a fork of the one that did."""
        return self._owner == os.getpid()

    def end(self) -> None:
        """Kill the child and everything it started, and wait until they are gone."""
        self._process.end()
        if self._group is not None:
            self._group.end()
        # The pipe's end comes when the last process that inherited it is gone.
        self._drain.join(END_SECONDS)
        if self._process.stdout is not None and not self._drain.is_alive():
            self._process.stdout.close()
        self.channel.close()
        if self._folder is not None:
            remove_folder(self._folder)
        _open_workers.discard(self)

    def _drain_output(self) -> None:
        stream: IO[bytes] | None = self._process.stdout
        if stream is None:
            return
        with contextlib.suppress(OSError, ValueError):
            while chunk := os.read(stream.fileno(), 1 << 16):
                room = OUTPUT_BYTES_KEPT - len(self._kept)
                self._kept += chunk[: max(room, 0)]


_open_workers: weakref.WeakSet[WorkerProcess] = weakref.WeakSet()


@atexit.register
def _end_open_workers() -> None:
    """An interruption may come between the start of a worker and the code that ends it."""
    for worker in [worker for worker in _open_workers if worker.is_own]:
        with contextlib.suppress(OSError, subprocess.TimeoutExpired):
            worker.end()


def start_untrusted(module: str, *, bubblewrap: str | None, hidden: Iterable[Path] = ()) -> WorkerProcess:
    """Start `python -m module READ_FD WRITE_FD` in the sandbox, or without one when `bubblewrap` is None.

    Must be called from a thread that outlives the worker: the kernel ends a
    sandbox when the thread that started it ends.
    """
    if bubblewrap is None:
        # Killed without notice, a worker leaves its files behind; in a folder of its own they can be removed.
        remove_stale_folders()
        folder = make_folder()
        environment = {**worker_environment(sandboxed=False), "HOME": str(folder), "TMPDIR": str(folder)}
        environment[SANDBOX_VARIABLE] = f"{NO_SANDBOX_WORD}:{os.getpid()}"
        return start_wrapped(module, (), Wrapping((), environment, folder=folder, group=make_group()))
    return start_wrapped(module, (), sandbox_wrapping(bubblewrap, hidden))


def start_trusted(module: str, arguments: Iterable[str] = ()) -> WorkerProcess:
    """Start `python -m module READ_FD WRITE_FD ...` with the grader's own environment."""
    return start_wrapped(module, arguments, Wrapping((), trusted_environment()))


def trusted_environment() -> dict[str, str]:
    """This process's own environment, with this package first on the path."""
    package_parent = str(Path(__file__).resolve().parents[2])
    path = [package_parent, *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(path)}


@dataclass(frozen=True)
class Wrapping:
    """What stands before the command, its environment, further descriptors, a folder to remove, a control group."""

    prefix: tuple[str, ...]
    environment: Mapping[str, str]
    descriptors: tuple[int, ...] = ()
    folder: Path | None = None
    group: Group | None = None


def sandbox_wrapping(
    bubblewrap: str, hidden: Iterable[Path], descriptors: tuple[int, ...] = (), *, forks: bool = False
) -> Wrapping:
    """Bubblewrap around a worker, or around a process that `forks` workers and filters their system calls itself."""
    options = bubblewrap_arguments(hidden, forks=forks)
    if not forks:
        with contextlib.suppress(SeccompUnavailable):
            descriptors += (file_to_read("filter", filter_program()),)
            options += ["--seccomp", str(descriptors[-1])]
    descriptors += (file_to_read("arguments", b"".join(os.fsencode(option) + b"\0" for option in options)),)
    prefix = (bubblewrap, "--args", str(descriptors[-1]), "--")
    # An empty environment: bubblewrap's own is readable inside, whatever it clears for the child.
    return Wrapping(prefix, {}, descriptors, group=None if forks else make_group())


def start_wrapped(module: str, arguments: Iterable[str], wrapping: Wrapping) -> WorkerProcess:
    """Start `python -m module READ_FD WRITE_FD ...`; the descriptors of `wrapping` are closed here."""
    child_reads, we_write = os.pipe()
    we_read, child_writes = os.pipe()
    command = [sys.executable, "-s", "-m", module, str(child_reads), str(child_writes), *arguments]

    command = [*(wrapping.group.command() if wrapping.group is not None else ()), *wrapping.prefix, *command]
    passed = (child_reads, child_writes, *wrapping.descriptors)
    try:
        process = Spawned(command, wrapping.environment, passed, wrapping.folder)
    except BaseException:
        os.close(we_read)
        os.close(we_write)
        if wrapping.folder is not None:
            remove_folder(wrapping.folder)
        if wrapping.group is not None:
            wrapping.group.end()
        raise
    finally:
        for descriptor in (child_reads, child_writes, *wrapping.descriptors):
            os.close(descriptor)
    return WorkerProcess(process, Channel(we_read, we_write), wrapping.folder, wrapping.group)


def file_to_read(name: str, content: bytes) -> int:
    """A descriptor to read `content` from."""
    descriptor = filled(name, content)
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor
