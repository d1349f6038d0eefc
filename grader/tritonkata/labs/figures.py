"""Figures that several variants make together: bounds, ratios, the copy's bandwidth."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import msgspec

from tritonkata.engine.base import Engine
from tritonkata.labs.model import GIGA, MICROSECONDS, Bandwidth, LabRow, Options, Ratio, bandwidth_of

H200_BANDWIDTH = Bandwidth(4200.0, "what a copy moves on an H200; --bandwidth takes another")


def bounded(row: LabRow, bandwidth: Bandwidth) -> LabRow:
    """The row with the time that its predicted bytes take at this bandwidth, at least."""
    if row.predicted is None:
        return row
    bound = row.predicted.total / (bandwidth.value * GIGA) * MICROSECONDS
    return msgspec.structs.replace(row, lower_bound_us=bound)


def bandwidth_for(options: Options, rows: Iterable[LabRow]) -> Bandwidth:
    """What was asked for; else the fastest copy beside these rows; else an H200's."""
    if options.bandwidth is not None:
        return Bandwidth(options.bandwidth, "--bandwidth")
    speeds = [row.speed for row in rows if row.speed is not None]
    if not speeds:
        return H200_BANDWIDTH
    return Bandwidth(max(bandwidth_of(one.copy_bytes, one.copy_us) for one in speeds), "the copy measured here")


def ratios(rows: Sequence[LabRow], pairs: Sequence[tuple[str, str]]) -> Iterator[Ratio]:
    """Each pair's traffic and time, as far as both were measured at the shape asked for."""
    found = {row.variant: row for row in rows}
    for slow, fast in ((found[one], found[other]) for one, other in pairs):
        if slow.predicted is None or fast.predicted is None:
            continue
        yield Ratio(
            slow=slow.variant,
            fast=fast.variant,
            predicted=slow.predicted.total / fast.predicted.total,
            requested=_over(_counted(slow), _counted(fast)),
            time=_over(_time(slow), _time(fast)),
        )


def notes_of(engine: Engine, rows: Iterable[LabRow]) -> tuple[str, ...]:
    """What disturbed the run, each sentence once."""
    timing = [note for row in rows if row.speed is not None for note in row.speed.notes]
    return tuple(dict.fromkeys([*engine.notes(), *timing]))


def _counted(row: LabRow) -> float | None:
    """Requested bytes at the shape asked for; a smaller one that ran in its place says nothing of it."""
    same = row.traffic is not None and row.predicted == row.predicted_ran
    return row.traffic.requested.total if row.traffic is not None and same else None


def _time(row: LabRow) -> float | None:
    return None if row.speed is None else row.speed.kernel_us


def _over(slow: float | None, fast: float | None) -> float | None:
    return slow / fast if slow is not None and fast else None
