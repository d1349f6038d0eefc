"""Answers with a message nested a million levels deep."""

import gc
import os
import struct


def channel():
    """The worker's own end of the protocol, wherever it is kept."""
    return next(thing for thing in gc.get_objects() if type(thing).__name__ == "Channel")


def doubled(x):
    body = b"\x91" * 1_000_000
    descriptor = channel()._write_fd
    os.set_blocking(descriptor, True)
    os.write(descriptor, struct.pack(">4sII", b"TKF1", len(body), 0) + body)
    os._exit(0)
