"""A process as the owner of a worker sees it, and the one that is started by itself."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Protocol

from tritonkata.boundary.leftovers import ADOPTION, END_SECONDS, end_with_descendants

_GENTLE_SECONDS = 2.0


class Child(Protocol):
    """What a worker's owner needs of the process."""

    @property
    def pid(self) -> int:
        """Its process id."""

    @property
    def stdout(self) -> IO[bytes] | None:
        """What it prints."""

    def poll(self) -> int | None:
        """The exit code once it has ended."""

    def end(self) -> None:
        """End it and everything that it started."""


class Spawned:
    """A process in a session of its own; without a sandbox its folder is where it works."""

    def __init__(
        self, command: Sequence[str], environment: Mapping[str, str], descriptors: Sequence[int], folder: Path | None
    ) -> None:
        def start() -> subprocess.Popen[bytes]:
            return subprocess.Popen(
                command,
                env=dict(environment),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                pass_fds=descriptors,
                start_new_session=True,
                cwd=folder or "/",
            )

        self._may_stray = folder is not None
        self._process = ADOPTION.start(start, sandboxed=not self._may_stray)

    @property
    def pid(self) -> int:
        """Its process id (bubblewrap's, where there is a sandbox)."""
        return self._process.pid

    @property
    def stdout(self) -> IO[bytes] | None:
        """What it prints."""
        return self._process.stdout

    def poll(self) -> int | None:
        """The exit code once it has ended, negative for a signal."""
        return self._process.poll()

    def end(self) -> None:
        """Kill it and everything it started, and wait until they are gone."""
        if self._may_stray:
            end_with_descendants(self._process)
        else:
            self._end_session()
        ADOPTION.forget(self._process.pid)

    def _end_session(self) -> None:
        """End the first process of the sandbox, and all others with it; then bubblewrap, which has reaped it, ends.

        Killed before, bubblewrap would leave an ended child to whatever is process 1, which may never wait for it.
        """
        inner = _children(self._process.pid)
        for number in inner:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(number, signal.SIGKILL)
        if inner:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(_GENTLE_SECONDS)
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        with contextlib.suppress(ProcessLookupError):
            self._process.kill()
        self._process.wait(END_SECONDS)


def _children(number: int) -> list[int]:
    """Process ids of a process's children."""
    with contextlib.suppress(OSError):
        return [int(word) for word in Path(f"/proc/{number}/task/{number}/children").read_text().split()]
    return []
