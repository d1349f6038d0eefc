"""The counters of one launcher: set up once, checked with a copy, and asked for every count."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from tritonkata.boundary.messages import LaunchCounters
from tritonkata.launcher import driver
from tritonkata.launcher.traffic import calibration, metrics
from tritonkata.launcher.traffic.cupti import CuptiError, RangeProfiler
from tritonkata.launcher.traffic.hold import Hold
from tritonkata.launcher.traffic.library import CuptiMissing
from tritonkata.launcher.traffic.patience import Patience
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
    hold: Hold
    patience: Patience

    def count(self, work: Work, levels: Sequence[str] = ALL_LEVELS) -> tuple[LaunchCounters, ...]:
        """Raw values of each launch, once no other process counts.

        While another one has the counters after all, all is begun again.

        Raises:
            CuptiError: the counters could not be read. The context may be in no state to go on.
        """
        with self.hold:
            return self.counted_alone(work, levels)

    def counted_alone(self, work: Work, levels: Sequence[str] = ALL_LEVELS) -> tuple[LaunchCounters, ...]:
        """The same, for a caller within `hold`."""
        names = work.names
        if not names:
            return ()
        chosen = metrics.wanted(levels, self.metrics)
        found = self.patience.until_free(lambda: self.profiler.count(chosen, work.run_counted, len(names)))
        return tuple(LaunchCounters(name, found[str(number)]) for number, name in enumerate(names))


@dataclass
class Counters:
    """The counters of the launcher's device, set up ahead of need and calibrated at the first count.

    `seconds` is what both took. After a failure that may pass, the next count tries again; `occupied` says that it was
    for another process that has the counters.
    """

    device: Any
    device_index: int
    seconds: float = 0.0
    occupied: bool = False
    _cupti: Cupti | None = None
    _reason: str | None = None
    _this_time: str = ""
    _hold: Hold = field(default_factory=Hold)
    _patience: Patience = field(default_factory=Patience)

    def __post_init__(self) -> None:
        wanted = os.environ.get(SOURCE_VARIABLE, "cupti")
        if wanted != "cupti":
            self._reason = f"CUPTI is switched off by {SOURCE_VARIABLE}={wanted}"

    def prepare(self) -> None:
        """Set CUPTI up, which takes no counters yet, unless another process has them; a second call does nothing.

        That is not waited for: whoever asks for something else than a count must not wait for this.
        """
        if self._hold.profiler is None and self._reason is None:
            with self._timed():
                self._hold.profiler = self._set_up()

    @property
    def keeps(self) -> bool:
        """Whether the counters are kept from one count to the next; whoever says so must `release` them."""
        return self._hold.keeps

    @keeps.setter
    def keeps(self, keeps: bool) -> None:
        self._hold.keeps = keeps

    def release(self) -> None:
        """Let other processes count, if this one has the counters.

        Raises:
            CuptiError: the profiler could not be ended. The context may be in no state to go on.
        """
        self._hold.release()

    def release_if_long(self) -> None:
        """The same, once this process has had them for some time.

        Raises:
            CuptiError: as of `release`.
        """
        if self._hold.is_long:
            self._hold.release()

    def give_up(self, reason: str) -> None:
        """Count no more with CUPTI: it failed after it had worked."""
        self._cupti, self._reason = None, reason

    @property
    def cupti(self) -> Cupti | None:
        """CUPTI where it can be trusted.

        Raises:
            CudaError: the context is gone, so that this process can do nothing else either.
        """
        if self._cupti is None and self._reason is None:
            # Only now: whoever never counts leaves the counters to others.
            with self._timed(), self._hold:
                if self._hold.profiler is None:
                    self._hold.profiler = self._patience.until_free(self._set_up)
                l2_bytes = driver.attribute(self.device, "L2_CACHE_SIZE")
                self._cupti = _calibrated(self._hold.profiler, self._hold, self._patience, l2_bytes)
        return self._cupti

    @property
    def reason(self) -> str:
        """Why there was no `cupti` when it was last asked for; empty if there was."""
        return "" if self._cupti is not None else self._reason or self._this_time

    def _set_up(self) -> RangeProfiler:
        return RangeProfiler(driver.current_context(), self.device_index)

    @contextmanager
    def _timed(self) -> Iterator[None]:
        """Add up the time of a part, and keep the reason if it fails."""
        began = time.monotonic()
        self.occupied, self._this_time = False, ""
        try:
            yield
        except (CuptiMissing, CuptiError, driver.CudaError, Untrusted) as error:
            if isinstance(error, driver.CudaError) and error.ends_context:
                raise
            if isinstance(error, CuptiError) and error.may_pass:
                self.occupied, self._this_time = not error.is_broken, str(error)
            else:
                self._reason = str(error)
        finally:
            self.seconds += time.monotonic() - began


class Untrusted(Exception):
    """Counters that measured a plain copy wrongly."""


def _calibrated(profiler: RangeProfiler, hold: Hold, patience: Patience, l2_bytes: int) -> Cupti:
    supported = profiler.supported([name for level in metrics.LEVELS.values() for name in level])
    if not all(name in supported for name in metrics.NEEDED):
        raise Untrusted(f"the chip {profiler.chip} has no counters of requested bytes")
    candidate = Cupti(profiler, supported, {}, hold, patience)
    with calibration.copy_work(l2_bytes) as (work, nbytes):
        work.run()
        values = [launch.values for launch in candidate.counted_alone(work)]
        problem, absent = calibration.verdict(metrics.traffic("cupti", values), nbytes)
    if problem:
        raise Untrusted(f"CUPTI is not trusted: {problem}; run `kata doctor --counters`")
    return replace(candidate, absent=absent)
