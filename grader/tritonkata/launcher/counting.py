"""Counting the bytes of one plan with hardware counters: CUPTI's, or else Nsight Compute's."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec

from tritonkata.boundary.messages import Count, Counted, LaunchCounters
from tritonkata.launcher import arena as arenas
from tritonkata.launcher import driver, faults, tuning
from tritonkata.launcher.recorded import write
from tritonkata.launcher.session import Session, opened, refresh, run, start
from tritonkata.launcher.traffic import calibration, metrics, ncu
from tritonkata.launcher.traffic.cupti import CuptiError
from tritonkata.launcher.traffic.exclusive import exclusive
from tritonkata.launcher.traffic.source import SOURCE_VARIABLE, Counters, Cupti
from tritonkata.launcher.traffic.workload import Work
from tritonkata.model.observation import Level, TrafficSource
from tritonkata.model.plan import Copy, Fill, Launch, Step

_POISON = 0xFF
_NCU_WITHIN_SECONDS = 40.0
"""After so much waiting for CUPTI, Nsight Compute would run into the deadline, which is taken for the kernel's."""
_LEVEL_NAMES = {"l2": "L2", "dram": "DRAM"}


def count(request: Count, blobs: Sequence[Any], counters: Counters) -> Counted:
    """Run a validated plan once to warm up, and then once for each pass of the counters.

    Raises:
        ReplayFault: a kernel failed, or there is no memory for the buffers.
    """
    broken, began = False, time.monotonic()
    try:
        with opened(request.plan, request.arguments, blobs) as session:
            chosen, steps = _warmed_up(session)
            if counters.cupti is not None:
                try:
                    return _by_cupti(request, session, steps, chosen, counters.cupti)
                except CuptiError as error:
                    if not error.is_broken:
                        return Counted(None, reason=str(error)[:2000])
                    # A profiler that failed midway can leave the context broken, so this process is the last to use it.
                    counters.give_up(str(error))
                    broken = True
            elif counters.occupied:
                # Nsight Compute would wait for the same counters.
                return Counted(None, reason=counters.reason[:2000])
    except arenas.OutOfDeviceMemory as error:
        raise faults.memory_fault(error, request.plan) from error
    except driver.CudaError as error:
        raise faults.driver_fault(error) from error
    if time.monotonic() - began > _NCU_WITHIN_SECONDS:
        return Counted(
            None, reason=f"{counters.reason}; and there was no time left for Nsight Compute"[:2000], ends=broken
        )
    return msgspec.structs.replace(_by_ncu(request, blobs, steps, chosen, counters), ends=broken)


def work_of(session: Session, steps: Sequence[Step]) -> Work:
    """The steps as what a profiler runs."""
    return Work(tuple(_part(session, step) for step in steps))


def host_bytes(steps: Sequence[Step]) -> Level:
    """What the fills and copies among the steps move; their kernels are the driver's own."""
    loaded = sum(step.source.spec.elements * step.source.spec.itemsize for step in steps if isinstance(step, Copy))
    filled = sum(step.view.spec.elements * step.view.spec.itemsize for step in steps if isinstance(step, Fill))
    return Level(loaded, loaded + filled)


def _by_cupti(
    request: Count, session: Session, steps: Sequence[Step], chosen: tuple[int, ...], cupti: Cupti
) -> Counted:
    with cupti.hold:
        began = time.monotonic()
        launches = cupti.counted_alone(work_of(session, steps), request.levels)
        taken = time.monotonic() - began
    return _counted("cupti", launches, request, steps, chosen, cupti.absent, seconds=taken)


def _by_ncu(
    request: Count, blobs: Sequence[Any], steps: Sequence[Step], chosen: tuple[int, ...], counters: Counters
) -> Counted:
    """The same through Nsight Compute, where CUPTI is missing or cannot be trusted."""
    if os.environ.get(SOURCE_VARIABLE) == "interpreter":
        return Counted(None, reason=counters.reason[:2000])
    began = time.monotonic()
    wanted = [name for level in request.levels for name in metrics.LEVELS[level]]
    try:
        with tempfile.TemporaryDirectory(prefix="kata-plan-") as folder:
            path = Path(folder) / "plan"
            write(path, request, blobs, chosen)
            words = ["tritonkata.launcher.once", "plan", str(counters.device_index), str(path)]
            with exclusive(driver.bus_id()):
                copied, *launches = ncu.count(words, wanted)
    except (ncu.NcuError, ValueError) as error:
        return Counted(None, reason=f"{counters.reason}; and {error}"[:2000])
    nbytes = calibration.copied_bytes(driver.attribute(counters.device, "L2_CACHE_SIZE"))
    problem, absent = calibration.verdict(metrics.traffic("ncu", [copied.values]), nbytes)
    if problem:
        return Counted(None, reason=f"{counters.reason}; and Nsight Compute is not trusted: {problem}"[:2000])
    taken = time.monotonic() - began
    return _counted("ncu", launches, request, steps, chosen, {"CUPTI": counters.reason, **absent}, seconds=taken)


def _counted(
    source: TrafficSource,
    launches: Sequence[LaunchCounters],
    request: Count,
    steps: Sequence[Step],
    chosen: tuple[int, ...],
    absent: dict[str, str],
    *,
    seconds: float,
) -> Counted:
    reasons = {_LEVEL_NAMES[level]: "not asked for" for level in _LEVEL_NAMES if level not in request.levels}
    values = [launch.values for launch in launches]
    traffic = metrics.traffic(source, values, copied=host_bytes(steps), absent={**reasons, **absent})
    return Counted(traffic, tuple(launches), chosen, seconds=seconds)


def _warmed_up(session: Session) -> tuple[tuple[int, ...], list[Step]]:
    """The chosen configurations, and the steps after one run of them."""
    chosen = tuning.choose(session, _POISON)
    steps = tuning.resolve(session.plan, chosen)
    refresh(session, _POISON)
    run(session, steps)
    driver.synchronize()
    return chosen, steps


def _part(session: Session, step: Step) -> tuple[str | None, Callable[[], None]]:
    name = session.kernels[step.kernel].kernel.name if isinstance(step, Launch) else None
    return name, lambda: start(session, step)
