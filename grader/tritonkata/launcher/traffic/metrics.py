"""The counters by name, what each means, and the traffic that their values say.

Names are those of the profilers for compute capability 7.0 and later. A card that lacks
one is told by probing, never assumed. Sectors of the L2 are 32 bytes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from tritonkata.model.observation import Level, Traffic, TrafficSource

LOADED = "smsp__sass_data_bytes_mem_global_op_ld.sum"
STORED = "smsp__sass_data_bytes_mem_global_op_st.sum"
ASYNC_COPIED = "smsp__sass_data_bytes_mem_global_op_ldgsts.sum"
ATOMIC = "smsp__sass_data_bytes_mem_global_op_atom.sum"
REDUCED = "smsp__sass_data_bytes_mem_global_op_red.sum"
SPILLED = "smsp__sass_data_bytes_mem_local.sum"
TMA_LOADED = "l1tex__m_xbar2l1tex_read_bytes_mem_global_op_tma_ld.sum"
TMA_STORED = "l1tex__m_l1tex2xbar_write_bytes_mem_global_op_tma_st.sum"
L2_READ = "lts__t_sectors_srcunit_tex_op_read.sum"
L2_WRITTEN = "lts__t_sectors_srcunit_tex_op_write.sum"
DRAM_READ = "dram__bytes_read.sum"
DRAM_WRITTEN = "dram__bytes_write.sum"
DURATION = "gpu__time_duration.sum"
"""Nanoseconds."""

SECTOR_BYTES = 32
NOTHING = Level()

LEVELS: dict[str, tuple[str, ...]] = {
    "requested": (LOADED, STORED, ASYNC_COPIED, ATOMIC, REDUCED, SPILLED, TMA_LOADED, TMA_STORED),
    "l2": (L2_READ, L2_WRITTEN),
    "dram": (DRAM_READ, DRAM_WRITTEN),
    "time": (DURATION,),
}
NEEDED = (LOADED, STORED)
"""Without these there is no requested level. The others of it count what a card may not have at all."""


def wanted(levels: Iterable[str], supported: Sequence[str]) -> tuple[str, ...]:
    """The metrics of some levels that a card has. A level that is not whole is left out."""
    found: list[str] = []
    for level in levels:
        there = [name for name in LEVELS[level] if name in supported]
        needed = NEEDED if level == "requested" else LEVELS[level]
        if all(name in there for name in needed):
            found += there
    return tuple(found)


def traffic(
    source: TrafficSource,
    launches: Iterable[Mapping[str, float]],
    *,
    copied: Level = NOTHING,
    absent: Mapping[str, str] | None = None,
) -> Traffic:
    """Traffic of several launches together, from the values of each by metric name.

    `copied` are the bytes that host operations moved, which no counter of the multiprocessors sees.
    `absent` gives reasons for levels that are known to be missing; a level without values gets one.
    """
    total: dict[str, int] = {}
    for values in launches:
        for name, value in values.items():
            total[name] = total.get(name, 0) + round(value)
    reasons = dict(absent or {})
    l2 = _level(total, L2_READ, L2_WRITTEN, SECTOR_BYTES)
    dram = _level(total, DRAM_READ, DRAM_WRITTEN, 1)
    for name, found in (("L2", l2), ("DRAM", dram)):
        if found is None:
            reasons.setdefault(name, "this GPU does not have the counters")
    parts = (LOADED, ASYNC_COPIED, ATOMIC, TMA_LOADED)
    atomics = total.get(ATOMIC, 0) + total.get(REDUCED, 0)
    return Traffic(
        source=source,
        loaded=sum(total.get(name, 0) for name in parts) + total.get(REDUCED, 0) + copied.loaded,
        stored=total.get(STORED, 0) + atomics + total.get(TMA_STORED, 0) + copied.stored,
        async_copied=total.get(ASYNC_COPIED),
        tma_loaded=total.get(TMA_LOADED),
        tma_stored=total.get(TMA_STORED),
        spilled=total.get(SPILLED),
        l2=None if "L2" in reasons else l2,
        dram=None if "DRAM" in reasons else dram,
        absent=reasons,
    )


def _level(total: Mapping[str, int], read: str, written: str, unit_bytes: int) -> Level | None:
    if read not in total or written not in total:
        return None
    return Level(total[read] * unit_bytes, total[written] * unit_bytes)
