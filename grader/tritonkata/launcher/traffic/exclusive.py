"""One counting process at a time: a name in the kernel that only one process of a network namespace can have.

No file: whatever folder a user has for temporary files and whoever came first, all ask for the same name, and
it goes with its process. Between containers the driver's refusal is the lock.
"""

from __future__ import annotations

import errno
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress

PATIENCE_SECONDS = 20.0
_PAUSE_SECONDS = 0.02


@contextmanager
def exclusive(bus_id: str) -> Iterator[None]:
    """Hold the lock of a GPU, given by its PCI bus id. Ends with the process at the latest.

    Where the lock cannot be had, because its holder hangs or the system refuses, the block runs all the same: whoever
    profiles is refused by the driver then, and tries again.
    """
    with ExitStack() as held:
        with suppress(OSError):
            _take(held.enter_context(socket.socket(socket.AF_UNIX)), f"\0tritonkata-counters-{bus_id}")
        yield


def _take(lock: socket.socket, name: str) -> None:
    """Bind the socket to a name in the abstract namespace, which is no path.

    Raises:
        OSError: the system refuses.
    """
    deadline = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < deadline:
        try:
            lock.bind(name)
        except OSError as error:
            if error.errno != errno.EADDRINUSE:
                raise
            time.sleep(_PAUSE_SECONDS)
        else:
            return
