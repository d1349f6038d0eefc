"""The copy's bandwidth, and the row length from which on the number of passes decides the time."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from tritonkata.boundary.available import available_bytes
from tritonkata.boundary.messages import DeviceFigures
from tritonkata.engine.base import Engine
from tritonkata.engine.engines import EngineName
from tritonkata.labs import memory
from tritonkata.labs.environment import look_around
from tritonkata.labs.figures import bandwidth_for, bounded, notes_of
from tritonkata.labs.measuring import Bench, Progress, measured
from tritonkata.labs.model import DECIDED, CeilingResult, LabRow, Options, SweepPoint
from tritonkata.labs.running import opened, scores
from tritonkata.labs.truth import truth_of
from tritonkata.labs.variants import SWEPT

SHORTEST = 64
COUNTED_ROWS = 2
"""Rows that the interpreter runs at each length."""


def run_ceiling(options: Options, engine: EngineName, progress: Progress) -> CeilingResult:
    """Sweep the row lengths up to `options.cols`, each at `options.rows` rows.

    Raises:
        NoGpu: the GPU engine was asked for, and there is no GPU.
        TooLarge: the longest rows do not fit in memory.
        GraderError: a process could not be started, or failed.
    """
    progress("ceiling: starting the engine")
    with opened("softmax", engine) as running:
        return _run(options, running, progress)


def lengths(longest: int) -> tuple[int, ...]:
    """Powers of two from 64 on, and the longest."""
    powers = [1 << power for power in range(SHORTEST.bit_length() - 1, longest.bit_length()) if 1 << power < longest]
    return (*powers, longest)


def decided_from(points: Sequence[SweepPoint]) -> int | None:
    """The shortest length from which on three loads cost what their traffic predicts, to the share `DECIDED`.

    Lengths at which the row does not fit in the registers are left out: there the one-pass kernel moves more
    than its passes.
    """
    found = None
    for point in reversed(points):
        share = _share(point)
        if share is None:
            continue
        if share < DECIDED:
            break
        found = point.cols
    return found


def _run(options: Options, engine: Engine, progress: Progress) -> CeilingResult:
    on_gpu = engine.describe().name == "gpu"
    ran_rows = options.rows if on_gpu else min(options.rows, COUNTED_ROWS)
    memory.refuse_too_large(ran_rows, options.cols, options.itemsize, available_bytes())
    points = tuple(_point(options, engine, cols, ran_rows, progress) for cols in lengths(options.cols))
    rows = [row for point in points for row in point.rows]
    bandwidth = bandwidth_for(options, points[-1].rows)
    environment = look_around(engine.describe())
    l2_bytes = environment.l2_bytes if on_gpu else DeviceFigures().l2_bytes
    return CeilingResult(
        options=options,
        ran_rows=ran_rows,
        engine=engine.describe(),
        environment=environment,
        bandwidth=bandwidth,
        points=tuple(
            msgspec.structs.replace(point, rows=tuple(bounded(row, bandwidth) for row in point.rows))
            for point in points
        ),
        decided_from=decided_from(points),
        outgrows_l2=l2_bytes // (options.rows * options.itemsize) + 1 if l2_bytes else None,
        notes=notes_of(engine, rows),
    )


def _point(options: Options, engine: Engine, cols: int, ran_rows: int, progress: Progress) -> SweepPoint:
    here = msgspec.structs.replace(options, cols=cols)
    x = scores("softmax", (ran_rows, cols), here, poisoned=False, progress=progress)
    bench = Bench(engine, here, truth_of("softmax"), x)
    rows = tuple(measured(bench, variant, lambda text: progress(f"{cols} columns, {text}")) for variant in SWEPT)
    return SweepPoint(cols, here.unit_bytes, rows)


def _share(point: SweepPoint) -> float | None:
    """The extra time of the most passes over the fewest, in units of what their traffic predicts."""
    most, fewest = point.rows[0], point.rows[-1]
    if most.speed is None or fewest.speed is None or most.predicted is None or fewest.predicted is None:
        return None
    if spills(fewest):
        return None
    extra = most.speed.kernel_us / fewest.speed.kernel_us - 1
    return extra / (most.predicted.total / fewest.predicted.total - 1)


def spills(row: LabRow) -> bool:
    """Whether one of the variant's kernels keeps registers in memory."""
    return any(one.spilled_bytes for one in row.resources)
