"""One counting process at a time: a lock on a file that all users of a GPU share."""

from __future__ import annotations

import fcntl
import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PATIENCE_SECONDS = 20.0
_PAUSE_SECONDS = 0.02


@contextmanager
def exclusive(bus_id: str) -> Iterator[None]:
    """Hold the lock of a GPU, given by its PCI bus id. Ends with the process at the latest.

    Where the lock cannot be had, because its file belongs to another user or its holder hangs, the block runs
    all the same: whoever profiles is refused by the driver then, and tries again.
    """
    path = Path(tempfile.gettempdir()) / f"tritonkata-{bus_id.replace(':', '-')}.lock"
    try:
        # No following of links, and no truncation: the folder is everybody's.
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666)
    except OSError:
        yield
        return
    try:
        _lock(descriptor)
        yield
    finally:
        os.close(descriptor)


def _lock(descriptor: int) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < deadline:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            time.sleep(_PAUSE_SECONDS)
        else:
            return
