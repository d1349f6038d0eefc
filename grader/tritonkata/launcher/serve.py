"""The launcher's loop: a request in, a reply out, until the controller hangs up."""

from __future__ import annotations

from tritonkata.boundary.channel import Channel, ChannelClosed
from tritonkata.boundary.messages import Failed, LauncherReady, LauncherRequest
from tritonkata.launcher import driver
from tritonkata.launcher.faults import ReplayFault
from tritonkata.launcher.replay import replay
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
        if not _announce(channel, device_index):
            return EXIT_NO_DEVICE
        while _serve_one(channel):
            pass
    except ChannelClosed:
        return EXIT_DONE
    return EXIT_CONTEXT_LOST


def _announce(channel: Channel, device_index: int) -> bool:
    """Say which device this is, or why there is none; whether there is one."""
    try:
        device = driver.open_device(device_index)
        ready = LauncherReady(device=driver.figures(device), driver=driver.driver_version())
    # Without a driver the bindings raise types of their own, which differ between releases.
    except Exception as error:
        message = f"GPU {device_index} cannot be opened: {error}"[:2000]
        channel.send(Failed(Fault("grader_error", "load", message, advice="Run `kata doctor`.")))
        return False
    channel.send(ready)
    return True


def _serve_one(channel: Channel) -> bool:
    """Answer one request; whether another can be served."""
    frame = channel.receive(LauncherRequest)
    try:
        reply, blobs = replay(frame.message, frame.blobs)
    except ReplayFault as ended:
        channel.send(Failed(ended.fault))
        return not ended.context_lost
    channel.send(reply, blobs)
    return True
