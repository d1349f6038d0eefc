"""The canary: a copy whose every byte is looked at, and which is timed.

It runs after a kernel's fault, before the GPU serves another submission.
"""

from __future__ import annotations

import statistics
from contextlib import suppress
from typing import Any

import numpy as np

from tritonkata.boundary.messages import Examined
from tritonkata.launcher import arena, copying, driver, faults, looking

ROUNDS = 7
COPIED_BYTES = 128 << 20
"""Bytes read, and as many written; several times the L2 of an H200 together."""


def examine(device: Any) -> Examined:
    """Copy random bytes and say whether they arrived, how fast (read plus written), and what memory is free.

    Raises:
        ReplayFault: the GPU cannot even do that.
    """
    nbytes = max(COPIED_BYTES, 2 * driver.attribute(device, "L2_CACHE_SIZE"))
    taken: list[int] = []
    try:
        try:
            taken += [arena.allocate(nbytes) for _ in range(2)]
            seconds, right = _copied(taken[0], taken[1], nbytes)
        finally:
            with suppress(driver.CudaError):
                for address in taken:
                    driver.free(address)
        return Examined(right, 2 * nbytes / seconds, driver.free_memory())
    except arena.OutOfDeviceMemory as error:
        raise faults.memory_fault(error) from error
    except driver.CudaError as error:
        raise faults.driver_fault(error) from error


def _copied(source: int, target: int, nbytes: int) -> tuple[float, bool]:
    """Median time of one copy in seconds, and whether the target holds the source's bytes."""
    data = np.random.default_rng().integers(0, 256, nbytes, np.uint8)
    driver.upload(source, data)
    driver.fill(target, 0, 1, nbytes)
    start, stop = driver.make_event(), driver.make_event()
    times = []
    with copying.loaded() as kernels:
        for _ in range(ROUNDS):
            driver.record(start)
            kernels.copy(target, source, nbytes)
            driver.record(stop)
            times.append(driver.milliseconds_between(start, stop) / 1e3)
    for event in (start, stop):
        driver.destroy_event(event)
    return statistics.median(times), looking.same_bytes(target, data)
