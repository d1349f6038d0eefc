"""The counters of one launcher: set up once, checked with a copy, and asked for every count."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tritonkata.boundary.messages import LaunchCounters
from tritonkata.launcher import driver
from tritonkata.launcher.traffic import calibration, metrics
from tritonkata.launcher.traffic.cupti import CuptiError, RangeProfiler
from tritonkata.launcher.traffic.exclusive import exclusive
from tritonkata.launcher.traffic.library import CuptiMissing
from tritonkata.launcher.traffic.workload import Work

SOURCE_VARIABLE = "KATA_COUNTERS"
"""Environment variable: `cupti` (the default), `ncu`, or `interpreter` for no hardware counters at all."""

ALL_LEVELS = ("requested", "l2", "dram")


@dataclass(frozen=True)
class Cupti:
    """CUPTI's counters, trusted for the requested level; `absent` says which other level is not, and why."""

    profiler: RangeProfiler
    metrics: tuple[str, ...]
    absent: dict[str, str]

    def count(self, work: Work, levels: Sequence[str] = ALL_LEVELS) -> tuple[LaunchCounters, ...]:
        """Raw values of each launch, once no other process counts.

        Raises:
            CuptiError: the counters could not be read. The context may be in no state to go on.
        """
        with exclusive(driver.bus_id()):
            return self.counted_alone(work, levels)

    def counted_alone(self, work: Work, levels: Sequence[str] = ALL_LEVELS) -> tuple[LaunchCounters, ...]:
        """The same, for a caller that holds the lock."""
        names = work.names
        if not names:
            return ()
        chosen = metrics.wanted(levels, self.metrics)
        found = self.profiler.count(chosen, work.run_counted, len(names))
        return tuple(LaunchCounters(name, found[str(number)]) for number, name in enumerate(names))


@dataclass
class Counters:
    """The counters of the launcher's device. `seconds` is what set-up took."""

    device: Any
    device_index: int
    seconds: float = 0.0
    _cupti: Cupti | None = None
    _reason: str | None = None

    def prepare(self) -> None:
        """Set up and calibrate; a second call does nothing."""
        if self._cupti is not None or self._reason is not None:
            return
        if os.environ.get(SOURCE_VARIABLE, "cupti") != "cupti":
            self._reason = f"CUPTI is switched off by {SOURCE_VARIABLE}={os.environ[SOURCE_VARIABLE]}"
            return
        began = time.monotonic()
        try:
            with exclusive(driver.bus_id()):
                self._cupti = _calibrated(self.device, self.device_index)
        except (CuptiMissing, CuptiError, driver.CudaError, Untrusted) as error:
            self._reason = str(error)
        self.seconds = time.monotonic() - began

    def give_up(self, reason: str) -> None:
        """Count no more with CUPTI: it failed after it had worked."""
        self._cupti, self._reason = None, reason

    @property
    def cupti(self) -> Cupti | None:
        """CUPTI where it can be trusted."""
        self.prepare()
        return self._cupti

    @property
    def reason(self) -> str:
        """Why CUPTI is not there; empty where it is."""
        self.prepare()
        return self._reason or ""


class Untrusted(Exception):
    """Counters that measured a plain copy wrongly."""


def _calibrated(device: Any, device_index: int) -> Cupti:
    profiler = RangeProfiler(driver.current_context(), device_index)
    supported = profiler.supported([name for level in metrics.LEVELS.values() for name in level])
    if not all(name in supported for name in metrics.NEEDED):
        raise Untrusted(f"the chip {profiler.chip} has no counters of requested bytes")
    candidate = Cupti(profiler, supported, {})
    with calibration.copy_work(driver.attribute(device, "L2_CACHE_SIZE")) as (work, nbytes):
        work.run()
        values = [launch.values for launch in candidate.counted_alone(work)]
        problem, absent = calibration.verdict(metrics.traffic("cupti", values), nbytes)
    if problem:
        raise Untrusted(f"CUPTI is not trusted: {problem}; run `kata doctor --counters`")
    return Cupti(profiler, supported, absent)
