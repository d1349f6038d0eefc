"""One launcher for several grading processes: they take turns under a lock, and whoever finds none starts one.

Everything lies in a private folder of one run, so any process may end at any moment: the kernel frees
its lock, and the launcher takes the next connection.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import select
import signal
import socket
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path
from typing import Any

import msgspec

from tritonkata.boundary.channel import ChannelClosed, ChannelError
from tritonkata.boundary.leftovers import ADOPTION
from tritonkata.boundary.memory_file import in_memory_files
from tritonkata.boundary.messages import LauncherReady
from tritonkata.boundary.process import trusted_environment
from tritonkata.boundary.socket_channel import SocketChannel
from tritonkata.engine.client import GraderError
from tritonkata.engine.hosting import Turn, examine_until_well, greeting

_END_SECONDS = 30.0
_STARTS = 2


class GpuSetAside(GraderError):
    """The GPU failed its examination after a fault. What it graded last is not to be relied on."""


class SharedHost:
    """Turns on one GPU's launcher, for all processes that are given the same `folder`.

    Args:
        folder: private to the run; holds the lock, the socket and what is known of the GPU.
        device_index: which GPU.
        owner: process id of the run; the launcher ends with it.

    `busy_seconds` is how long this process has had the GPU so far.
    """

    def __init__(self, folder: Path, device_index: int, owner: int) -> None:
        self.device_index = device_index
        self._owner = owner
        name = f"gpu{device_index}"
        self._lock, self._socket, self._number = (folder / f"{name}.{kind}" for kind in ("lock", "socket", "pid"))
        self._before_fault, self._aside = folder / f"{name}.suspect", folder / f"{name}.aside"
        self._ready: LauncherReady | None = None
        self.busy_seconds = 0.0
        self._started: set[int] = set()

    def start(self) -> None:
        """Nothing: the first turn starts the launcher, and only one can."""

    def ready(self) -> LauncherReady:
        """The device's figures; waits for a turn the first time."""
        if self._ready is None:
            with self.turn() as turn:
                return turn.ready
        return self._ready

    @contextmanager
    def turn(self) -> Iterator[Turn]:
        """Wait for the lock, and for the launcher."""
        with self._locked():
            if reason := self.aside():
                raise GpuSetAside(reason)
            began = time.monotonic()
            turn = self._connected()
            try:
                self._ready = turn.ready
                self._examine(turn)
                yield turn
            finally:
                turn.channel.close()
                self.busy_seconds += time.monotonic() - began

    def packed(self, blobs: Sequence[Any]) -> AbstractContextManager[list[Any]]:
        """The blobs, the large ones where the launcher can map them: the GPU does not wait while they cross."""
        return in_memory_files(blobs)

    def replace(self) -> str:
        """End the launcher. To be called within a turn."""
        self._kill()
        if self._ready is not None:
            self._before_fault.write_bytes(msgspec.msgpack.encode(self._ready))
        return ""

    def end(self) -> None:
        """Nothing: others may need the launcher, and it ends with its owner."""

    def aside(self) -> str:
        """Why the GPU is not to be used any more; empty if it may be."""
        return self._aside.read_text(encoding="utf-8") if self._aside.exists() else ""

    def set_aside(self, reason: str) -> None:
        """Let nobody use the GPU any more."""
        # In one step: others look at any moment.
        new = self._aside.with_name(f"{self._aside.name}.{os.getpid()}")
        new.write_text(reason, encoding="utf-8")
        new.replace(self._aside)

    def _examine(self, turn: Turn) -> None:
        if not self._before_fault.exists():
            return
        before = msgspec.msgpack.decode(self._before_fault.read_bytes(), type=LauncherReady)
        try:
            examine_until_well(turn, before)
        except GraderError as error:
            self.set_aside(str(error))
            raise GpuSetAside(str(error)) from error
        self._before_fault.unlink()

    @contextmanager
    def _locked(self) -> Iterator[None]:
        descriptor = os.open(self._lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        finally:
            os.close(descriptor)

    def _connected(self) -> Turn:
        reason = ""
        for _ in range(_STARTS):
            try:
                return self._greeted()
            except ChannelClosed as error:
                # It was about to end when the connection was made.
                reason = str(error)
                self._kill()
            except (ChannelError, GraderError, OSError) as error:
                self._kill()
                raise GraderError(f"the launcher of GPU {self.device_index} did not start: {error}") from error
        raise GraderError(f"the launcher of GPU {self.device_index} ends at once ({reason}); run `kata doctor`")

    def _greeted(self) -> Turn:
        with ExitStack() as on_error:
            connection = on_error.enter_context(socket.socket(socket.AF_UNIX))
            try:
                connection.connect(str(self._socket))
            except (FileNotFoundError, ConnectionRefusedError):
                self._start()
                connection.connect(str(self._socket))
            channel = SocketChannel(connection)
            on_error.callback(channel.close)
            turn = Turn(channel, greeting(channel))
            on_error.pop_all()
            return turn

    def _start(self) -> None:
        self._kill()
        self._socket.unlink(missing_ok=True)
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(str(self._socket))
            listener.listen(1)
            descriptor = listener.fileno()
            # Not through `subprocess`: whoever starts the launcher may end before it does.
            listener.set_inheritable(True)
            number = ADOPTION.start_own(lambda: self._spawned(descriptor))
        self._number.write_text(str(number), encoding="ascii")
        self._started.add(number)

    def _spawned(self, listener: int) -> int:
        command = [sys.executable, "-s", "-m", "tritonkata.launcher", "--listen", str(listener)]
        return os.posix_spawn(
            sys.executable,
            [*command, str(self._owner), str(self.device_index)],
            trusted_environment(),
            # Kernels may print without end.
            file_actions=[(os.POSIX_SPAWN_OPEN, stream, os.devnull, os.O_RDWR, 0) for stream in range(3)],
            setsid=True,
        )

    def _kill(self) -> None:
        """End the launcher, whoever started it, and wait until it has left the GPU."""
        ended = _end_process(self._number)
        if ended in self._started:
            self._started.discard(ended)
            with contextlib.suppress(ChildProcessError):
                os.waitpid(ended, 0)
            ADOPTION.forget(ended)


def end_launchers(folder: Path) -> None:
    """End every launcher that hosts of this folder started."""
    for number in folder.glob("gpu*.pid"):
        _end_process(number)


def _end_process(number: Path) -> int:
    """End the process whose number is in a file; the number, 0 if there is none."""
    pid = 0
    with contextlib.suppress(FileNotFoundError, ValueError, ProcessLookupError):
        pid = int(number.read_text(encoding="ascii"))
        descriptor = os.pidfd_open(pid)
        try:
            signal.pidfd_send_signal(descriptor, signal.SIGKILL)
            select.select([descriptor], [], [], _END_SECONDS)
        finally:
            os.close(descriptor)
    number.unlink(missing_ok=True)
    return pid
