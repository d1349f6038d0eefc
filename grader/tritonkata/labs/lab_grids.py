"""The softmax and the fusion lab as tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from tritonkata.feedback.numbers import number
from tritonkata.labs.grids import NOTHING, Cell, Column, Grid, Mood, short, traversals, value, without_empty
from tritonkata.labs.model import LabResult, LabRow, Ratio, Value

_Make = Callable[[LabRow], Cell]


def variants_grid(result: LabResult) -> Grid:
    """One row a variant: result, time and traffic on a GPU; result, traffic and bounds without."""
    columns = _measured(result) if result.engine.name == "gpu" else _counted(result)
    return Grid(
        caption="Traversals of x: predicted, and measured at three levels"
        if result.engine.name == "gpu"
        else "Traversals of x: predicted, and counted by the interpreter",
        columns=tuple(column for column, _ in columns),
        rows=tuple(tuple(make(row) for _, make in columns) for row in result.rows),
    )


def ratios_grid(result: LabResult) -> Grid:
    """How time follows traffic."""
    titles = {row.variant: row.title for row in result.rows}
    columns = (
        Column("more over less traffic", is_number=False),
        Column("traffic\npredicted"),
        Column("traffic\nrequested"),
        Column("time"),
    )
    rows = tuple(_ratio(ratio, titles) for ratio in result.ratios)
    return without_empty(Grid("What the extra traffic costs, as a ratio", columns, rows))


def kernels_grid(result: LabResult) -> Grid:
    """What the compiler says of every kernel."""
    columns = (
        Column("kernel", is_number=False),
        Column("compiled for", is_number=False),
        Column("warps"),
        Column("registers\na thread"),
        Column("bytes spilled\na thread"),
        Column("bytes of\nshared memory"),
    )
    rows = tuple(
        (
            Cell(one.kernel),
            Cell(one.target),
            Cell(str(one.num_warps)),
            Cell(_whole(one.registers)),
            Cell(_whole(one.spilled_bytes), "bad" if one.spilled_bytes else "plain"),
            Cell(_whole(one.shared_bytes)),
        )
        for row in result.rows
        for one in row.resources
    )
    return Grid(f"The kernels, compiled for rows of {number(result.options.cols)} columns", columns, rows)


def wrong_row_grid(row: LabRow) -> Grid | None:
    """The first wrong row of a variant, a few of its columns."""
    wrong = row.checked.wrong_row if row.checked else None
    if wrong is None:
        return None
    cells = zip(wrong.columns, wrong.scores, wrong.right, wrong.got, strict=True)
    rows = tuple(
        (Cell(number(column)), Cell(value(score)), Cell(value(right)), Cell(value(got), _finite_mood(got)))
        for column, score, right, got in cells
    )
    columns = (Column("column"), Column("score"), Column("right"), Column("got"))
    return Grid(f"Row {wrong.row} of {row.title}", columns, rows)


def verdict(row: LabRow) -> Cell:
    """PASSED, FAILED, or that there was no result."""
    if row.checked is None:
        return Cell("NO RESULT" if row.fault else NOTHING, "bad" if row.fault else "plain")
    return Cell("PASSED", "good") if row.checked.passed else Cell("FAILED", "bad")


def _measured(result: LabResult) -> list[tuple[Column, _Make]]:
    unit = result.options.unit_bytes
    return [
        *_outcome(),
        (Column("time\nus"), lambda row: Cell(short(row.speed.kernel_us if row.speed else None))),
        (Column("\nGB/s"), lambda row: Cell(NOTHING if row.effective is None else f"{row.effective:,.0f}")),
        (Column("of the\ncopy"), lambda row: Cell(_percent(row.fraction_of_ceiling))),
        (Column("relative\nerror"), _error),
        (Column("\npredicted"), lambda row: Cell(traversals(row.predicted, unit))),
        (Column("\nrequested"), lambda row: _requested(row, unit)),
        (Column("\nL2"), lambda row: Cell(traversals(row.traffic.l2 if row.traffic else None, unit, 2))),
        (Column("\nDRAM"), lambda row: Cell(traversals(row.traffic.dram if row.traffic else None, unit, 2))),
    ]


def _counted(result: LabResult) -> list[tuple[Column, _Make]]:
    unit = result.options.unit_bytes
    ran_bytes = result.ran[0] * result.ran[1] * result.options.itemsize
    smaller = [
        (Column("predicted\nas run"), lambda row: Cell(traversals(row.predicted_ran, ran_bytes))),
        (Column("counted\nas run"), lambda row: _requested(row, ran_bytes)),
        (Column("predicted\nin full"), lambda row: Cell(traversals(row.predicted, unit))),
    ]
    whole = [
        (Column("\npredicted"), lambda row: Cell(traversals(row.predicted, unit))),
        (Column("\ncounted"), lambda row: _requested(row, unit)),
    ]
    return [
        *_outcome(),
        (Column("relative\nerror"), _error),
        *(whole if ran_bytes == unit else smaller),
        (Column("bytes\nin full"), lambda row: Cell(f"{row.predicted.total:,}" if row.predicted else NOTHING)),
        (Column("at least\nus"), lambda row: Cell(short(row.lower_bound_us))),
    ]


def _outcome() -> list[tuple[Column, _Make]]:
    return [
        (Column("\nvariant", is_number=False), lambda row: Cell(row.title)),
        (Column("\nresult", is_number=False), verdict),
    ]


def _error(row: LabRow) -> Cell:
    error = row.checked.largest_relative_error if row.checked else None
    return Cell(NOTHING if error is None else number(error, 2), _finite_mood(error))


def _requested(row: LabRow, unit: int) -> Cell:
    level = row.traffic.requested if row.traffic else None
    return Cell(traversals(level, unit), "bad" if row.as_predicted is False else "plain")


def _ratio(ratio: Ratio, titles: dict[str, str]) -> tuple[Cell, ...]:
    numbers: Iterable[float | None] = (ratio.predicted, ratio.requested, ratio.time)
    names = Cell(f"{titles[ratio.slow]} / {titles[ratio.fast]}")
    return (names, *(Cell(NOTHING if one is None else f"{one:.2f}") for one in numbers))


def _percent(fraction: float | None) -> str:
    return NOTHING if fraction is None else f"{100 * fraction:.0f} %"


def _whole(count: int | None) -> str:
    return NOTHING if count is None else number(count)


def _finite_mood(one: Value | None) -> Mood:
    return "bad" if isinstance(one, str) else "plain"
