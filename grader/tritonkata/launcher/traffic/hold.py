"""Holding a GPU's counters, which only one process can have, from one count to the next."""

from __future__ import annotations

import time
from contextlib import ExitStack
from types import TracebackType

from tritonkata.launcher import driver
from tritonkata.launcher.traffic.cupti import RangeProfiler
from tritonkata.launcher.traffic.exclusive import exclusive

LONGEST_SECONDS = 2.0
"""After that others have their chance, even if one count follows the other, and the modules that had to stay go."""


class Hold:
    """The lock of the counters and what the profiler has of the hardware, as a context that may be entered again.

    Taking the counters costs five times what a count does (0.17 and 0.03 seconds on an H200). Whoever says that it
    `keeps` them lets them go by `release`, when nobody counts any more and before anything is timed.
    """

    def __init__(self) -> None:
        self.keeps = False
        self.profiler: RangeProfiler | None = None
        self._lock = ExitStack()
        self._since: float | None = None

    def __enter__(self) -> None:
        if self._since is None:
            self._lock.enter_context(exclusive(driver.bus_id()))
            self._since = time.monotonic()

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: TracebackType | None) -> None:
        if kind is not None or self.is_long or not self.keeps:
            self.release()

    @property
    def is_long(self) -> bool:
        """Whether others should have their chance."""
        return self._since is not None and time.monotonic() - self._since > LONGEST_SECONDS

    def release(self) -> None:
        """Let others count.

        Raises:
            CuptiError: the profiler could not be ended.
        """
        self._since = None
        with self._lock:
            if self.profiler is not None:
                self.profiler.release()
