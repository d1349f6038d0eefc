"""The sweep over row lengths as a table."""

from __future__ import annotations

from tritonkata.feedback.numbers import number
from tritonkata.labs.ceiling import spills
from tritonkata.labs.grids import NOTHING, Cell, Column, Grid, short, traversals
from tritonkata.labs.model import CeilingResult, LabRow, SweepPoint, bandwidth_of


def sweep_grid(result: CeilingResult) -> Grid:
    """One row a row length: times, their ratios and DRAM traffic on a GPU; traversals and bounds without."""
    timed = any(row.speed for point in result.points for row in point.rows)
    passes = [passes_of(row) for row in result.points[0].rows]
    columns = [Column("\ncolumns"), Column("row\nbytes"), Column("x\nMB")]
    if timed:
        columns += [Column("copy\nGB/s"), *(Column(f"{name}\nus") for name in passes)]
        columns += [Column(f"time of\n{name.split()[0]} to {passes[-1].split()[0]}") for name in passes[:-1]]
        columns.append(Column(f"DRAM of\n{passes[0]}"))
    else:
        columns += [Column(f"counted\n{name}") for name in passes]
        columns += [Column(f"at least\n{name}") for name in passes]
    columns.append(Column(f"spilled\n{passes[-1]}"))
    rows = tuple(_timed(point, result) if timed else _counted(point, result) for point in result.points)
    return Grid("One line a row length", tuple(columns), rows)


def passes_of(row: LabRow) -> str:
    """`3 passes` of `safe, 3 passes`."""
    return row.title.rpartition(", ")[2]


def _timed(point: SweepPoint, result: CeilingResult) -> tuple[Cell, ...]:
    rows = point.rows
    times = [row.speed.kernel_us if row.speed else None for row in rows]
    copies = [bandwidth_of(row.speed.copy_bytes, row.speed.copy_us) for row in rows if row.speed]
    dram = rows[0].traffic.dram if rows[0].traffic else None
    texts = [
        f"{max(copies):,.0f}" if copies else NOTHING,
        *(short(time) for time in times),
        *(_over(time, times[-1]) for time in times[:-1]),
        traversals(dram, point.unit_bytes, 2),
    ]
    return (*_shape(point, result), *(Cell(text) for text in texts), _spilled(rows[-1]))


def _counted(point: SweepPoint, result: CeilingResult) -> tuple[Cell, ...]:
    ran_bytes = result.ran_rows * point.cols * result.options.itemsize
    counted = [Cell(traversals(row.traffic.requested if row.traffic else None, ran_bytes)) for row in point.rows]
    bounds = [Cell(short(row.lower_bound_us)) for row in point.rows]
    return (*_shape(point, result), *counted, *bounds, _spilled(point.rows[-1]))


def _shape(point: SweepPoint, result: CeilingResult) -> tuple[Cell, ...]:
    row_bytes = point.cols * result.options.itemsize
    return Cell(number(point.cols)), Cell(number(row_bytes)), Cell(short(point.unit_bytes / 1e6))


def _spilled(row: LabRow) -> Cell:
    spilled = max((one.spilled_bytes or 0 for one in row.resources), default=None)
    return Cell(NOTHING if spilled is None else number(spilled), "bad" if spills(row) else "plain")


def _over(time: float | None, least: float | None) -> str:
    return NOTHING if time is None or not least else f"{time / least:.2f}"
