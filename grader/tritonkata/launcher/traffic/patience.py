"""Waiting for counters that another process has, which does not know of the lock or is in another container."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from typing import TypeVar

from tritonkata.launcher.traffic.cupti import CuptiError

Result = TypeVar("Result")

PATIENCE_SECONDS = 15.0
IMPATIENT_SECONDS = 60.0
"""After waiting in vain, for so long everything is tried once and not waited for: somebody keeps the counters."""


class Patience:
    """What one process has left of it."""

    def __init__(self) -> None:
        self._impatient_until = 0.0

    def until_free(self, action: Callable[[], Result]) -> Result:
        """Do something with the counters, again and again while another process has them.

        Each process holds them for a fraction of a second. A start that is refused without a reason may be so for
        longer than 3 seconds, in several processes at once.

        Raises:
            CuptiError: they did not come free, or something else went wrong.
        """
        began = time.monotonic()
        patience = PATIENCE_SECONDS if began > self._impatient_until else 0.0
        while True:
            try:
                return action()
            except CuptiError as error:
                if not error.may_pass:
                    raise
                if time.monotonic() >= began + patience:
                    self._impatient_until = time.monotonic() + IMPATIENT_SECONDS
                    raise
            time.sleep(random.uniform(0.02, 0.2))
