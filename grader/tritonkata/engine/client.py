"""The controller's side of an untrusted worker: start it, load the submission, ask, and survive its end.

Whatever the worker does instead of answering becomes a fault of the
submission, except before the submission was sent: then it is the grader's own.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import msgspec

from tritonkata.boundary.channel import ChannelClosed, ChannelError, DeadlinePassed, Frame
from tritonkata.boundary.messages import Failed, Load, Loaded, Ready
from tritonkata.boundary.process import OUTPUT_BYTES_KEPT, WorkerProcess
from tritonkata.model.faults import Fault, Phase

START_SECONDS = 120.0
SEND_SECONDS = 30.0
GRACE_SECONDS = 5.0
MAX_TIMEOUTS = 2


class GraderError(Exception):
    """The grader itself failed. The message names what, where and the next step."""


class LoadFailed(Exception):
    """The submission could not be loaded; nothing can be graded."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(fault.message)
        self.fault = fault


@dataclass
class UntrustedWorker:
    """One kind of worker for one submission, started again after the submission ended it.

    `replies` is the union of messages it may answer with. `take` gives a process that nobody
    has used. `make_load` is called when the worker stands: what it holds of the device may come from
    another process that is still starting. After
    `max_timeouts` requests that ran out of time no more are sent, so that a
    kernel that never ends costs minutes and not hours. `printed` is the beginning of what its ended processes printed.
    """

    module: str
    replies: Any
    make_load: Callable[[], Load]
    take: Callable[[], WorkerProcess]
    may_skip: bool = False
    max_timeouts: int = MAX_TIMEOUTS
    max_reply_bytes: int = 0
    ready: Ready | None = None
    notes: list[str] = field(default_factory=list)
    printed: str = ""
    _process: WorkerProcess | None = None
    _is_loaded: bool = False
    _timeouts: int = 0

    def start(self) -> None:
        """Start the process without waiting for it."""
        if self._process is None:
            try:
                self._process = self.take()
            except OSError as error:
                raise GraderError(f"{self.module} could not be started: {error}; run `kata doctor`") from error
            self._is_loaded = False

    def ensure_loaded(self) -> None:
        """Wait until the worker has the submission.

        Raises:
            GraderError: the worker ended before it saw the submission.
            LoadFailed: the submission cannot be imported, in time.
        """
        self.start()
        if self._is_loaded:
            return
        self._await_ready()
        load = self.make_load()
        reply = self._ask(load, (), seconds=load.seconds + GRACE_SECONDS, phase="load")
        if isinstance(reply, Fault):
            raise LoadFailed(reply)
        if isinstance(reply.message, Failed):
            self.end()
            raise LoadFailed(_as_submissions(reply.message.fault))
        if not isinstance(reply.message, Loaded):
            self.end()
            raise LoadFailed(_protocol_fault("load", "an unexpected message"))
        self._is_loaded = True

    def request(self, message: msgspec.Struct, blobs: Any, *, seconds: float, phase: Phase) -> Frame[Any] | Fault:
        """Send one request and wait for its answer, at most `seconds` (plus a grace for the pipe)."""
        if self._timeouts >= self.max_timeouts:
            text = f"not run, because {self._timeouts} requests before it did not end in time"
            return Fault(verdict="skipped", phase="protocol", message=text)
        self.ensure_loaded()
        reply = self._ask(message, blobs, seconds=seconds + GRACE_SECONDS, phase=phase)
        if isinstance(reply, Fault):
            self._timeouts += reply.verdict == "timeout"
            return reply
        self._remember(getattr(reply.message, "notes", ()))
        if isinstance(reply.message, Failed):
            return self._failed(reply.message.fault)
        return reply

    def end(self) -> None:
        """End the process and everything it started."""
        if self._process is not None:
            self._process.end()
            # Only now is all of it there.
            self.printed = (self.printed + self._process.output())[:OUTPUT_BYTES_KEPT]
            self._process = None
            self._is_loaded = False

    def _await_ready(self) -> None:
        assert self._process is not None
        try:
            frame = self._process.channel.receive(self.replies, seconds=START_SECONDS, max_blob_bytes=0)
        except ChannelError as error:
            output = self._process.output().strip()
            self.end()
            raise GraderError(f"{self.module} did not start: {error}\n{output[-2000:]}".rstrip()) from error
        if not isinstance(frame.message, Ready):
            self.end()
            raise GraderError(f"{self.module} did not start: its first message was no greeting; run `kata doctor`")
        self.ready = frame.message
        self._remember(frame.message.notes)

    def _ask(self, message: msgspec.Struct, blobs: Any, *, seconds: float, phase: Phase) -> Frame[Any] | Fault:
        assert self._process is not None
        channel = self._process.channel
        began = time.monotonic()
        try:
            channel.send(message, blobs, seconds=SEND_SECONDS)
            return channel.receive(self.replies, seconds=seconds, max_blob_bytes=self.max_reply_bytes)
        except DeadlinePassed:
            self.end()
            return Fault(
                verdict="timeout", phase=phase, message=f"no answer after {time.monotonic() - began:.0f} seconds"
            )
        except ChannelClosed:
            code = self._exit_code()
            self.end()
            return _ended_fault(phase, code)
        except ChannelError as error:
            self.end()
            return _protocol_fault(phase, str(error))

    def _failed(self, fault: Fault) -> Fault:
        if fault.verdict == "timeout":
            # Whoever ran out of time is in no state to go on.
            self._timeouts += 1
            self.end()
        if fault.verdict == "skipped" and not self.may_skip:
            return _protocol_fault(fault.phase, "a call that was not made")
        return _as_submissions(fault)

    def _exit_code(self) -> int | None:
        # The pipe closes a moment before the process is reaped.
        for _ in range(50):
            if self._process is None or self._process.exit_code is not None:
                break
            time.sleep(0.01)
        return None if self._process is None else self._process.exit_code

    def _remember(self, notes: tuple[str, ...]) -> None:
        self.notes.extend(note for note in notes if note not in self.notes)


def _as_submissions(fault: Fault) -> Fault:
    """A fault as a worker may report it: what runs beside a submission cannot accuse the grader."""
    if fault.verdict != "grader_error":
        return fault
    return Fault(
        verdict="runtime_error",
        phase="protocol",
        message=f"the grader's side of the process broke while this file ran: {fault.message}"[:2000],
        advice="leave torch and triton as they are; if the file does, please report this",
    )


def _ended_fault(phase: Phase, code: int | None) -> Fault:
    where = "when it was imported" if phase == "load" else "during the call"
    told = "" if code is None else f" (exit code {code})"
    return Fault(
        verdict="runtime_error",
        phase="load" if phase == "load" else "protocol",
        message=f"the process ended {where}{told}, before there was a result",
        advice="look for os._exit, a crash in native code, or memory running out",
    )


def _protocol_fault(phase: Phase, reason: str) -> Fault:
    return Fault(
        verdict="runtime_error",
        phase="load" if phase == "load" else "protocol",
        message=f"the process answered with something that is no result: {reason}",
        advice="the file must leave the descriptors of its process alone",
    )
