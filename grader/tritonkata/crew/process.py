"""A member of a crew as the crew sees it: a process that is started when it is first needed, and the job it has."""

from __future__ import annotations

import multiprocessing
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Any

from tritonkata.crew.job import Job
from tritonkata.crew.member import Place, serve
from tritonkata.engine.stock import Lines

_END_SECONDS = 20.0
_NOTE_BYTES = 500


class MemberProcess:
    """One process, started when it is first needed, and ended when it has answered its share of calls."""

    def __init__(self, place: Place) -> None:
        self.place = place
        self.job: Job[Any] | None = None
        self.calls = 0
        self.process: BaseProcess | None = None
        self.connection: Connection | None = None
        # Shared memory, since it is read when the process has ended.
        self._note = multiprocessing.RawArray("c", _NOTE_BYTES)

    def start(self, lines: Lines) -> None:
        """Start the process, unless there is one; `lines` lead to the crew's templates.

        Raises:
            OSError: the system refuses.
        """
        if self.process is not None:
            return
        # Not forked: grading starts threads, and processes of its own.
        context = multiprocessing.get_context("spawn")
        ours, theirs = context.Pipe()
        process = context.Process(target=serve, args=(theirs, self.place, self._note, lines))
        try:
            with _interruptions_held():
                process.start()
        except BaseException:
            ours.close()
            raise
        finally:
            theirs.close()
        self.connection, self.process = ours, process

    def send(self, job: Job[Any]) -> None:
        """Have the started process make a call."""
        assert self.connection is not None
        self.job = job
        self.calls += 1
        self._note.value = b""
        self.connection.send_bytes(job.packed)

    def dismiss(self) -> None:
        """Let it end by itself."""
        if self.connection is not None:
            with suppress(OSError):
                self.connection.send(None)
        self.forget()

    def ending(self) -> str:
        """How it ended and what it did then, once it has; it is forgotten with that."""
        doing = self._note.value.decode(errors="replace")
        process = self.process
        self.forget()
        return _ending(None if process is None else process.exitcode, doing)

    def forget(self) -> None:
        """Wait until it has ended, and kill it if it does not."""
        if self.connection is not None:
            self.connection.close()
        if self.process is not None:
            self.process.join(_END_SECONDS)
            if self.process.is_alive():
                self.process.kill()
                self.process.join()
        self.process = self.connection = self.job = None
        self.calls = 0

    def terminate(self) -> None:
        """Have it end at once, and clean up."""
        if self.process is not None:
            self.process.terminate()


def _ending(code: int | None, doing: str) -> str:
    """The end of a process in words, and what to do about it."""
    where = f" during {doing}" if doing else ""
    if code == -signal.SIGKILL:
        return f"was killed{where}, perhaps for want of memory; try fewer at once: --jobs 1"
    how = "ended by itself" if code is None else f"ended with exit code {code}"
    if code is not None and code < 0:
        how = f"crashed ({signal.strsignal(-code) or f'signal {-code}'})"
    fix = "look there first: code of a course must not end its process" if doing else "look at `kata doctor`"
    return f"{how}{where}; {fix}"


@contextmanager
def _interruptions_held() -> Iterator[None]:
    """Let a process start with Ctrl-C blocked, until it has said what it makes of it: a mask is inherited."""
    resource_tracker.ensure_running()  # starting it would lift the mask
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
