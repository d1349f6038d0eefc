"""Sends the first half of a proper answer and ends."""

import gc
import os
import struct


def channel():
    """The worker's own end of the protocol, wherever it is kept."""
    return next(thing for thing in gc.get_objects() if type(thing).__name__ == "Channel")


def doubled(x):
    os.write(channel()._write_fd, struct.pack(">4sII", b"TKF1", 1000, 1) + b"\0" * 500)
    os._exit(0)
