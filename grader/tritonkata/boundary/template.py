"""Templates: sandboxed processes that have imported torch and Triton, and from which workers are forked.

A worker that is started by itself spends seconds on imports. A fork of a template spends none, and stands in
namespaces, mounts, a user and a control group of its own all the same (`tritonkata.worker.template`).
"""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import struct
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import IO

from tritonkata.boundary.agreed import GO, HERE, MAX_MESSAGE_BYTES, UP
from tritonkata.boundary.cgroup import Group, make_group
from tritonkata.boundary.channel import Channel
from tritonkata.boundary.leftovers import END_SECONDS
from tritonkata.boundary.process import WorkerProcess, file_to_read, sandbox_wrapping, start_wrapped
from tritonkata.boundary.sandbox import new_user
from tritonkata.boundary.seccomp import SeccompUnavailable, filter_program

START_SECONDS = 120.0
_MODULE = "tritonkata.worker.template"
_CREDENTIALS = struct.Struct("3i")  # `struct ucred`: process, user, group
_KILLED = 128 + signal.SIGKILL


class TemplateFailed(Exception):
    """There is no worker. The message says why."""


class TemplateLine:
    """The line on which a template is asked. Several processes may have it: multiprocessing hands it to a new one.

    The workers are those of whoever asked, and end with the template.
    """

    def __init__(self, control: socket.socket) -> None:
        self._control = control

    @property
    def is_running(self) -> bool:
        """Whether the template still listens."""
        try:
            return self._control.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT) != b""
        except BlockingIOError:
            return True
        except OSError:
            return False

    def end(self) -> None:
        """Close this process's end."""
        self._control.close()

    def fork(self) -> WorkerProcess:
        """A worker that nobody has used. The first call waits for the imports.

        Raises:
            TemplateFailed: what this machine refuses, or how the template ended.
            OSError: this process has no descriptors left.
        """
        with contextlib.ExitStack() as failing, contextlib.ExitStack() as theirs:
            we_read, child_writes = _pipe(theirs, ours=0)
            failing.callback(os.close, we_read)
            we_write, child_reads = _pipe(theirs, ours=1)
            failing.callback(os.close, we_write)
            we_drain, output = _pipe(theirs, ours=0)
            stdout = failing.enter_context(os.fdopen(we_drain, "rb", buffering=0))
            line, their_line = _line()
            failing.callback(line.close)
            theirs.callback(their_line.close)
            self._ask((child_reads, child_writes, output, their_line.fileno()))
            # That the other side has closed these is only seen once they are closed here.
            theirs.close()
            group = make_group()
            if group is not None:
                failing.callback(group.end)
            process = Forked(line, group, stdout)
            failing.pop_all()
            return WorkerProcess(process, Channel(we_read, we_write), group=group)

    def _ask(self, descriptors: tuple[int, ...]) -> None:
        try:
            socket.send_fds(self._control, [str(new_user()).encode()], descriptors)
        except OSError as error:
            what = "cannot be asked now" if self.is_running else "ended"
            raise TemplateFailed(f"the template {what} ({error})") from error


class Template:
    """One template, for workers of one module. Its workers end with it."""

    def __init__(self, module: str, *, bubblewrap: str, hidden: Iterable[Path] = ()) -> None:
        """Start it, without waiting for its imports, from a thread that outlives it.

        Raises:
            OSError: it could not be started.
        """
        system_calls = b""
        with contextlib.suppress(SeccompUnavailable):
            system_calls = filter_program()
        with contextlib.ExitStack() as failing:
            control, theirs = _line()
            self.line = TemplateLine(control)
            failing.callback(self.line.end)
            inherited = (theirs.detach(), file_to_read("filter", system_calls))
            wrapping = sandbox_wrapping(bubblewrap, hidden, inherited, forks=True)
            self._process = start_wrapped(_MODULE, (module, *map(str, inherited)), wrapping)
            failing.pop_all()

    @property
    def is_running(self) -> bool:
        """Whether it has not ended yet."""
        return self._process.is_running

    def fork(self) -> WorkerProcess:
        """As of its line; a template that has ended is quoted."""
        try:
            return self.line.fork()
        except TemplateFailed as error:
            said = self._process.output().strip().splitlines()
            if self.is_running or not said:
                raise
            raise TemplateFailed(f"the template ended ({said[-1]})") from error

    def end(self) -> None:
        """End it and every worker that was forked from it."""
        self.line.end()
        self._process.end()


Forking = Template | TemplateLine
"""What workers are forked from."""


def _pipe(theirs: contextlib.ExitStack, *, ours: int) -> tuple[int, int]:
    """A pipe: end `ours` (0 reads, 1 writes), and the other one, which is closed with `theirs`."""
    ends = os.pipe()
    theirs.callback(os.close, ends[1 - ours])
    return ends[ours], ends[1 - ours]


def _line() -> tuple[socket.socket, socket.socket]:
    """Two ends for messages; the first is told who sent each."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    ours.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
    return ours, theirs


class Forked:
    """A worker's keeper, as much of a `Popen` as its owner needs. Its end is seen on the line to it.

    Processes are named by descriptors, since the kernel may give a number to another process once one has ended.
    """

    def __init__(self, line: socket.socket, group: Group | None, stdout: IO[bytes]) -> None:
        """Let the keeper go on into its control group, and wait until the first process below it is up.

        Raises:
            TemplateFailed: what the kernel refused.
        """
        self.stdout = stdout
        self.returncode: int | None = None
        self._line = line
        self._has_ended = False
        line.settimeout(START_SECONDS)
        self.pid = self._greeted(HERE)
        with contextlib.ExitStack() as failing:
            try:
                self._keeper = os.pidfd_open(self.pid)
                failing.callback(os.close, self._keeper)
                failing.callback(self._kill, self._keeper)
                if group is not None:
                    group.add(self.pid)
                line.send(GO)
                self._first = os.pidfd_open(self._greeted(UP))
            except OSError as error:
                raise TemplateFailed(f"a fork could not be followed ({error})") from error
            failing.pop_all()

    def poll(self) -> int | None:
        """The exit code once it has ended; 128 and more for a signal."""
        if self.returncode is None:
            with contextlib.suppress(TimeoutError, BlockingIOError):
                self._receive(0.0)
        return self.returncode

    def wait(self, timeout: float) -> int:
        """Wait for the end, at most `timeout` seconds.

        Raises:
            subprocess.TimeoutExpired: it has not ended.
        """
        if self.returncode is None:
            try:
                self._receive(timeout)
            except TimeoutError:
                raise subprocess.TimeoutExpired("a forked worker", timeout) from None
        assert self.returncode is not None
        return self.returncode

    def end(self) -> None:
        """Kill the first process of the namespaces, and the kernel all others with it; wait for that."""
        if self._has_ended:
            return
        self._has_ended = True
        self._kill(self._first)
        try:
            self.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            self._kill(self._keeper)
            self.returncode = _KILLED
        self._line.close()
        for descriptor in (self._first, self._keeper):
            os.close(descriptor)

    def _kill(self, descriptor: int) -> None:
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(descriptor, signal.SIGKILL)

    def _greeted(self, word: bytes) -> int:
        """Who says this word, as a process number here."""
        try:
            message, credentials, _, _ = self._line.recvmsg(MAX_MESSAGE_BYTES, socket.CMSG_SPACE(_CREDENTIALS.size))
        except TimeoutError as error:
            raise TemplateFailed(f"no answer within {START_SECONDS:g} seconds") from error
        except OSError as error:
            raise TemplateFailed(f"it ended before it could fork a worker ({error})") from error
        if message != word or not credentials:
            raise TemplateFailed(message.decode(errors="replace") or "it ended before it could fork a worker")
        return int(_CREDENTIALS.unpack(credentials[0][2])[0])

    def _receive(self, seconds: float) -> None:
        self._line.settimeout(seconds)
        message = self._line.recv(MAX_MESSAGE_BYTES)
        self.returncode = message[0] if message else _KILLED
