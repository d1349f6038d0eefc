"""Where a launcher lives: with one grader alone, or shared by several that take turns.

After a kernel's fault the next turn begins with a canary on a fresh launcher, so that one submission's
fault cannot become the next one's grade.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any, Protocol

from tritonkata.boundary.channel import Channel, ChannelError
from tritonkata.boundary.messages import DeviceFigures, Examine, Examined, Failed, LauncherReady, LauncherReply
from tritonkata.boundary.process import WorkerProcess, start_trusted
from tritonkata.engine.client import GraderError

START_SECONDS = 60.0
CANARY_SECONDS = 60.0
CANARY_TRIES = 4
CANARY_PAUSE_SECONDS = 1.0

LEAST_PART_OF_PEAK = 0.5
"""Of the memory's nominal bandwidth. Copies reach 0.87 on an H200; half means that something is wrong."""

LEAST_PART_FREE = 0.9
"""Of the memory that was free before the fault."""


@dataclass(frozen=True)
class Turn:
    """The launcher, for as long as nobody else has it."""

    channel: Channel
    ready: LauncherReady


class Host(Protocol):
    """Gives turns on one GPU's launcher."""

    def start(self) -> None:
        """Start the launcher ahead of need, without waiting for it."""

    def ready(self) -> LauncherReady:
        """The device's figures; waits for the launcher.

        Raises:
            GraderError: there is no usable GPU, or the launcher did not start.
        """

    def turn(self) -> AbstractContextManager[Turn]:
        """The launcher, started and, after a fault, examined.

        Raises:
            GraderError: there is no usable GPU, or it failed the examination.
        """

    def packed(self, blobs: Sequence[Any]) -> AbstractContextManager[Sequence[Any]]:
        """The blobs of a request, ready to be sent within a turn; to be asked for before it."""

    def replace(self) -> str:
        """End the launcher after a fault; the next turn has a new one. What it printed last."""

    def end(self) -> None:
        """End the launcher, if it is this host's own."""


class OwnHost:
    """A launcher that is a child of this process, and serves it alone."""

    def __init__(self, device_index: int = 0) -> None:
        self._device_index = device_index
        self._process: WorkerProcess | None = None
        self._ready: LauncherReady | None = None
        self._before_fault: LauncherReady | None = None

    def start(self) -> None:
        """Start the process without waiting for it."""
        if self._process is None:
            self._process = start_trusted("tritonkata.launcher", [str(self._device_index)])
            self._ready = None

    def ready(self) -> LauncherReady:
        """The device's figures; waits for the process."""
        return self._announced().ready

    @contextmanager
    def turn(self) -> Iterator[Turn]:
        """The process, once it has announced itself."""
        turn = self._announced()
        before, self._before_fault = self._before_fault, None
        if before is not None:
            examine_until_well(turn, before)
        yield turn

    def packed(self, blobs: Sequence[Any]) -> AbstractContextManager[Sequence[Any]]:
        """The blobs as they are: nobody waits for this process's turn."""
        return nullcontext(blobs)

    def replace(self) -> str:
        """End the process, and start the next one."""
        output = "" if self._process is None else self._process.output().strip()
        before = self._ready or self._before_fault
        self.end()
        self._before_fault = before
        self.start()
        return output[-500:]

    def end(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.end()
            self._process = None
            self._ready = None

    def _announced(self) -> Turn:
        self.start()
        assert self._process is not None
        if self._ready is None:
            try:
                self._ready = greeting(self._process.channel)
            except ChannelError as error:
                output = self._process.output().strip()
                self.end()
                raise GraderError(f"the launcher did not start: {error}\n{output[-2000:]}".rstrip()) from error
            except GraderError:
                self.end()
                raise
        return Turn(self._process.channel, self._ready)


def greeting(channel: Channel) -> LauncherReady:
    """The first message of a launcher.

    Raises:
        ChannelError: none came.
        GraderError: it says that there is no GPU.
    """
    message = channel.receive(LauncherReply, seconds=START_SECONDS).message
    if not isinstance(message, LauncherReady):
        reason = message.fault.message if isinstance(message, Failed) else "no greeting came"
        raise GraderError(f"no GPU can be used: {reason}; run `kata doctor`, or use --engine interpreter")
    return message


def examine_until_well(turn: Turn, before: LauncherReady) -> None:
    """Let the canary run until it finds nothing; memory of an ended process takes a moment to come back.

    Raises:
        GraderError: it still finds something after several tries.
    """
    problem = ""
    for _ in range(CANARY_TRIES):
        problem = _examined(turn, before)
        if not problem:
            return
        time.sleep(CANARY_PAUSE_SECONDS)
    raise GraderError(f"{turn.ready.device.name} is not well after a kernel's fault: {problem}; run `kata doctor`")


def _examined(turn: Turn, before: LauncherReady) -> str:
    try:
        turn.channel.send(Examine(), seconds=CANARY_SECONDS)
        message = turn.channel.receive(LauncherReply, seconds=CANARY_SECONDS).message
    except ChannelError as error:
        return f"the launcher does not answer ({error})"
    if isinstance(message, Failed):
        return message.fault.message
    return problem_of(message, turn.ready.device, before.free_bytes) if isinstance(message, Examined) else "no answer"


def problem_of(found: Examined, device: DeviceFigures, free_before: int) -> str:
    """What is wrong with a GPU that gave this answer; empty if nothing is. `free_before` in bytes."""
    if not found.right:
        return "a copy does not hold what was copied"
    # Two transfers a clock; some drivers do not tell the clock.
    peak = 2 * 1000 * device.memory_clock_khz * device.memory_bus_bits / 8
    if found.bytes_per_second < LEAST_PART_OF_PEAK * peak:
        return f"a copy moves {found.bytes_per_second / 1e9:.0f} GB/s, of a peak of {peak / 1e9:.0f}"
    if found.free_bytes < LEAST_PART_FREE * free_before:
        return f"{found.free_bytes >> 20} MiB of memory are free, {free_before >> 20} were before"
    return ""
