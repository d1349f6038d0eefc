"""The launcher's loop: a request in, a reply out, until the controller hangs up."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tritonkata.boundary.channel import Channel, ChannelClosed
from tritonkata.boundary.messages import (
    Count,
    Counted,
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
from tritonkata.launcher.faults import ReplayFault
from tritonkata.launcher.replay import replay
from tritonkata.launcher.timed import time_plan
from tritonkata.launcher.traffic.source import Counters
from tritonkata.model.faults import Fault

EXIT_DONE = 0
EXIT_NO_DEVICE = 1
EXIT_CONTEXT_LOST = 3


def serve(channel: Channel, device_index: int) -> int:
    """Announce the device, answer requests; the process's exit code.

    `EXIT_NO_DEVICE` follows a `Failed` in place of the announcement. `EXIT_CONTEXT_LOST` says that a
    kernel's fault was reported and that only a fresh process can go on.
    """
    try:
        device = _announce(channel, device_index)
        if device is None:
            return EXIT_NO_DEVICE
        counters = Counters(device, device_index)
        # The first request takes seconds to come: the tracer imports torch meanwhile.
        counters.prepare()
        while _serve_one(channel, device, counters):
            pass
    except ChannelClosed:
        return EXIT_DONE
    return EXIT_CONTEXT_LOST


def _announce(channel: Channel, device_index: int) -> Any | None:
    """Say which device this is, or why there is none; the device."""
    try:
        device = driver.open_device(device_index)
        ready = LauncherReady(device=driver.figures(device), driver=driver.driver_version())
    # Without a driver the bindings raise types of their own, which differ between releases.
    except Exception as error:
        message = f"GPU {device_index} cannot be opened: {error}"[:2000]
        channel.send(Failed(Fault("grader_error", "load", message, advice="Run `kata doctor`.")))
        return None
    channel.send(ready)
    return device


def _serve_one(channel: Channel, device: Any, counters: Counters) -> bool:
    """Answer one request; whether another can be served."""
    frame = channel.receive(LauncherRequest)
    try:
        reply, blobs = _answer(frame.message, frame.blobs, device, counters)
    except ReplayFault as ended:
        channel.send(Failed(ended.fault))
        return not ended.context_lost
    channel.send(reply, blobs)
    return not (isinstance(reply, Counted) and reply.ends)


def _answer(
    request: Replay | Count | Time, blobs: Sequence[Any], device: Any, counters: Counters
) -> tuple[Replayed | Counted | Timed, Sequence[Any]]:
    if isinstance(request, Replay):
        return replay(request, blobs)
    if isinstance(request, Count):
        return count(request, blobs, counters), ()
    return time_plan(request, blobs, device)
