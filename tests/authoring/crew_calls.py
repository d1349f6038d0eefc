"""Functions that tests have called in other processes, where a test module cannot be imported."""

from __future__ import annotations

import os
import signal
from pathlib import Path

from tritonkata.crew.member import station
from tritonkata.engine.sharing import SharedHost


def exit_the_first_time(mark: Path) -> int:
    if not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return os.getpid()


def gpu_of_this_process(spoil: int | None = None) -> int:
    """The GPU that this process takes turns on; `spoil` sets that one aside."""
    host = station().host
    assert isinstance(host, SharedHost)
    if host.device_index == spoil:
        host.set_aside("a copy does not hold what was copied")
    return host.device_index
