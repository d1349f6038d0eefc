"""What two sources of counters say of the same copy."""

from __future__ import annotations

import msgspec

from tritonkata.launcher.traffic import metrics
from tritonkata.model.observation import TrafficSource

_COMPARED: dict[str, tuple[str, int, float]] = {
    "requested, loaded": (metrics.LOADED, 1, 0.0),
    "requested, stored": (metrics.STORED, 1, 0.0),
    "spilled": (metrics.SPILLED, 1, 0.0),
    "L2, read": (metrics.L2_READ, metrics.SECTOR_BYTES, 0.01),
    "L2, written": (metrics.L2_WRITTEN, metrics.SECTOR_BYTES, 0.01),
    "DRAM, read": (metrics.DRAM_READ, 1, 0.05),
    "DRAM, written": (metrics.DRAM_WRITTEN, 1, 0.25),
}
"""Line, counter, bytes a count, and the difference that two runs may show, as a fraction. What is written may stay
behind in the L2, which is a quarter of the copy."""


class Source(msgspec.Struct, frozen=True):
    """One source: raw values by metric name, and why it, or a level of it, cannot be trusted."""

    name: TrafficSource
    values: dict[str, float] = {}
    absent: dict[str, str] = {}
    problem: str = ""
    setup_seconds: float = 0.0
    seconds: float = 0.0


class Line(msgspec.Struct, frozen=True):
    """One counter, in bytes, by both sources. `agrees` is None where one of them lacks it."""

    name: str
    cupti: int | None
    ncu: int | None
    agrees: bool | None


class Comparison(msgspec.Struct, frozen=True):
    """A copy that reads `copied_bytes` and writes as many, as each source counted it."""

    device: str
    copied_bytes: int
    sources: tuple[Source, ...]

    @property
    def lines(self) -> tuple[Line, ...]:
        """The counters that were read, side by side."""
        cupti, ncu = (source.values for source in self.sources)
        return tuple(_line(name, cupti, ncu) for name in _COMPARED)

    @property
    def agrees(self) -> bool:
        """Whether hardware counters can be used: a trusted source is there, and no two disagree."""
        trusted = any(not source.problem for source in self.sources)
        return trusted and not any(line.agrees is False for line in self.lines)


def _line(name: str, cupti: dict[str, float], ncu: dict[str, float]) -> Line:
    metric, unit_bytes, close = _COMPARED[name]
    one, other = (round(values[metric] * unit_bytes) if metric in values else None for values in (cupti, ncu))
    agrees = None if one is None or other is None else abs(one - other) <= close * max(one, other)
    return Line(name, one, other, agrees)
