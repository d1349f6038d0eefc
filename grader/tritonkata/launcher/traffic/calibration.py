"""Whether counters can be trusted here: a copy kernel must measure 2 traversals, at each level."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from tritonkata.launcher import copying, driver
from tritonkata.launcher.traffic.workload import Work
from tritonkata.model.observation import Level, Traffic

_L2_SIZES = 4
"""The copy is this many times the L2, so that DRAM sees it as well."""

_CLOSE = 0.02
_CLOSE_IN_DRAM = 0.1
"""Writes can stay behind in the L2, up to its size on either side of the copy, and other programs use DRAM too."""


@contextmanager
def copy_work(l2_bytes: int) -> Iterator[tuple[Work, int]]:
    """A copy to count, and the bytes that it reads, as many as it writes."""
    nbytes = copied_bytes(l2_bytes)
    buffers = [driver.allocate(nbytes) for _ in range(2)]
    try:
        driver.fill(buffers[0], 0x3C, 1, nbytes)
        with copying.loaded() as kernels:
            yield Work(launches=(("copy", lambda: kernels.copy(buffers[1], buffers[0], nbytes)),)), nbytes
    finally:
        for buffer in buffers:
            driver.free(buffer)


def copied_bytes(l2_bytes: int) -> int:
    """What the copy reads, for a card with this much L2."""
    return max(_L2_SIZES * l2_bytes, 64 << 20)


def verdict(measured: Traffic, nbytes: int) -> tuple[str, dict[str, str]]:
    """Why the source cannot be trusted ("" if it can), and the reason for each further level that cannot."""
    if measured.requested != Level(nbytes, nbytes):
        return f"a copy of {nbytes} bytes measured {_told(measured.requested, nbytes)} instead of 2 traversals", {}
    levels = (("L2", measured.l2, _CLOSE), ("DRAM", measured.dram, _CLOSE_IN_DRAM))
    reasons = {
        name: f"not trusted: a copy of {nbytes} bytes measured {_told(level, nbytes)} instead of 2 traversals"
        for name, level, close in levels
        if level is not None and abs(level.total / nbytes - 2) > 2 * close
    }
    return "", reasons


def _told(level: Level, nbytes: int) -> str:
    return f"{level.total / nbytes:.3f} ({level.loaded} bytes read, {level.stored} written)"
