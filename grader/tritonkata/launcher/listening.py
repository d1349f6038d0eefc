"""A launcher that several grading processes use in turn: one connection at a time, until its owner ends.

Whoever connects holds the GPU's lock, so there is never a second connection waiting for an answer.
"""

from __future__ import annotations

import os
import select
import socket
import threading

from tritonkata.boundary.channel import ChannelClosed
from tritonkata.boundary.socket_channel import SocketChannel
from tritonkata.launcher.serve import EXIT_CONTEXT_LOST, EXIT_DONE, EXIT_NO_DEVICE, Opened, answer_all
from tritonkata.launcher.traffic.cupti import CuptiError

IDLE_SECONDS = 0.1
"""In a class that is being graded the next one asks within milliseconds. Other processes may want the counters."""


def listen(listener: socket.socket, owner: int, device_index: int) -> int:
    """Serve connections until the process `owner` ends; the exit code, as of `serve`."""
    threading.Thread(target=_end_with, args=(owner,), daemon=True).start()
    opened = Opened(device_index)
    opened.prepare(keep=True)
    while True:
        if not select.select([listener], [], [], IDLE_SECONDS)[0]:
            try:
                opened.release_counters()
            except CuptiError:
                return EXIT_CONTEXT_LOST  # whoever comes next starts another one
        connection, _ = listener.accept()
        channel = SocketChannel(connection)
        try:
            if not opened.greet(channel):
                return EXIT_NO_DEVICE
            return answer_all(channel, opened)
        except ChannelClosed:
            continue  # the one who asked is gone, or has what it wanted
        finally:
            channel.close()


def _end_with(owner: int) -> None:
    """End this process with its owner, even while a kernel runs that never ends."""
    try:
        descriptor = os.pidfd_open(owner)
    except ProcessLookupError:
        os._exit(EXIT_DONE)
    select.select([descriptor], [], [])
    os._exit(EXIT_DONE)
