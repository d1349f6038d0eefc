"""The launcher's loop: a request in, a reply out, until the controller hangs up."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tritonkata.boundary.channel import Channel, ChannelClosed
from tritonkata.boundary.messages import (
    Count,
    Counted,
    Examine,
    Examined,
    Failed,
    LauncherReady,
    LauncherRequest,
    Replay,
    Replayed,
    Time,
    Timed,
)
from tritonkata.launcher import driver
from tritonkata.launcher.counting import count
from tritonkata.launcher.examining import examine
from tritonkata.launcher.faults import ReplayFault
from tritonkata.launcher.replay import replay
from tritonkata.launcher.timed import time_plan
from tritonkata.launcher.traffic.source import Counters
from tritonkata.model.faults import Fault

EXIT_DONE = 0
EXIT_NO_DEVICE = 1
EXIT_CONTEXT_LOST = 3


class Opened:
    """The GPU of this process, or the reason why it cannot be opened."""

    def __init__(self, device_index: int) -> None:
        self.greeting: LauncherReady | Failed
        try:
            self.device = driver.open_device(device_index)
            self.greeting = self._greeting()
        # Without a driver the bindings raise types of their own, which differ between releases.
        except Exception as error:
            message = f"GPU {device_index} cannot be opened: {error}"[:2000]
            self.greeting = Failed(Fault("grader_error", "load", message, advice="Run `kata doctor`."))
            return
        self.counters = Counters(self.device, device_index)

    def greet(self, channel: Channel) -> bool:
        """Say which device this is, or why there is none; whether there is one."""
        if isinstance(self.greeting, LauncherReady):
            self.greeting = self._greeting()
        channel.send(self.greeting)
        return isinstance(self.greeting, LauncherReady)

    def prepare(self, *, keep: bool = False) -> None:
        """Set up the counters: the first request takes seconds to come, while the tracer imports torch.

        With `keep` they are kept from one count to the next, until `release_counters`.
        """
        if isinstance(self.greeting, LauncherReady):
            self.counters.prepare()
            self.counters.keeps = keep

    def release_counters(self) -> None:
        """Let other processes count.

        Raises:
            CuptiError: as of `Counters.release`.
        """
        if isinstance(self.greeting, LauncherReady):
            self.counters.release()

    def release_counters_if_long(self) -> None:
        """The same, once this process has had them for some time."""
        if isinstance(self.greeting, LauncherReady):
            self.counters.release_if_long()

    def _greeting(self) -> LauncherReady:
        return LauncherReady(driver.figures(self.device), driver.driver_version(), driver.free_memory())


def serve(channel: Channel, device_index: int) -> int:
    """Announce the device, answer requests until the controller hangs up; the process's exit code.

    `EXIT_NO_DEVICE` follows a `Failed` in place of the announcement. `EXIT_CONTEXT_LOST` says that a
    kernel's fault was reported and that only a fresh process can go on.
    """
    opened = Opened(device_index)
    try:
        if not opened.greet(channel):
            return EXIT_NO_DEVICE
        opened.prepare()
        return answer_all(channel, opened)
    except ChannelClosed:
        return EXIT_DONE


def answer_all(channel: Channel, opened: Opened) -> int:
    """Answer requests until none can be answered any more: `EXIT_CONTEXT_LOST`.

    Raises:
        ChannelClosed: the controller hung up.
    """
    while _serve_one(channel, opened):
        pass
    return EXIT_CONTEXT_LOST


def _serve_one(channel: Channel, opened: Opened) -> bool:
    """Answer one request; whether another can be served."""
    request: LauncherRequest | None = None
    try:
        frame = channel.receive(LauncherRequest)
        request = frame.message
        reply, blobs = _answer(frame.message, frame.blobs, opened)
    except ReplayFault as ended:
        channel.send(Failed(ended.fault, ends=ended.context_lost))
        return not ended.context_lost
    except ChannelClosed:
        raise
    except Exception as error:
        channel.send(Failed(_unforeseen(request, error), ends=True))
        return False
    channel.send(reply, blobs)
    return not (isinstance(reply, Counted) and reply.ends)


def _unforeseen(request: LauncherRequest | None, error: Exception) -> Fault:
    """What no module has words for is no fault of the kernel and must not look like one.

    But for memory: what a submission's outputs need beyond that of their case, it has asked for.
    """
    if isinstance(error, MemoryError) and isinstance(request, (Replay, Count, Time)):
        nbytes = sum(buffer.nbytes for buffer in request.plan.buffers)
        message = f"the call's tensors, {nbytes} bytes, do not fit into the memory of this machine"
        return Fault("runtime_error", "kernel", message)
    message = f"the launcher failed: {type(error).__name__}: {error}"[:2000]
    return Fault("grader_error", "kernel", message, advice="Run `kata doctor`.")


def _answer(
    request: LauncherRequest, blobs: Sequence[Any], opened: Opened
) -> tuple[Replayed | Counted | Timed | Examined, Sequence[Any]]:
    if isinstance(request, Replay):
        opened.release_counters_if_long()
        return replay(request, blobs)
    if isinstance(request, Count):
        return count(request, blobs, opened.counters), ()
    # What takes times has the card as it is without a profiler.
    opened.release_counters()
    if isinstance(request, Examine):
        return examine(opened.device), ()
    return time_plan(request, blobs, opened.device)
