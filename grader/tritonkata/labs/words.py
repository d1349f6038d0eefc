"""What a result says in plain sentences, the same on a terminal and on a page."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tritonkata.feedback.clean import one_line
from tritonkata.feedback.numbers import number, plural
from tritonkata.labs.ceiling import spills
from tritonkata.labs.model import DECIDED, CeilingResult, Environment, LabResult, LabRow, Options, bandwidth_of, rows_of
from tritonkata.model.report import Engine

_TITLES = {"softmax": "Softmax lab", "fusion": "Fusion lab", "ceiling": "Copy ceiling"}
_SOURCES = {"interpreter": "the interpreter's count", "cupti": "CUPTI counters", "ncu": "Nsight Compute"}

_MOST_NOTES = 5

Result = LabResult | CeilingResult


def title(result: Result) -> str:
    """The lab and its shape."""
    options = result.options
    if isinstance(result, CeilingResult):
        shape = f"{plural(options.rows, 'row')} of up to {plural(options.cols, 'column')}"
    else:
        shape = f"{number(options.rows)} x {number(options.cols)}"
    return f"{_TITLES[result.lab]}: {shape}, {options.dtype}"


def where(result: Result) -> str:
    """Engine, card, versions, seed, date."""
    return one_line(", ".join(_where(result.engine, result.environment, result.options)))


def introduction(result: Result) -> tuple[str, ...]:
    """What was run, on what, and what the numbers are."""
    if isinstance(result, CeilingResult):
        return tuple(_sweep_introduction(result))
    return tuple(_lab_introduction(result))


def findings(result: Result) -> tuple[str, ...]:
    """What the numbers say."""
    if isinstance(result, CeilingResult):
        return tuple(_sweep_findings(result))
    return (_exactness(result.rows), *_spill_lines(result.rows), *_result_lines(result.rows))


def remarks(result: Result) -> tuple[str, ...]:
    """What could not be measured, and what disturbed the run."""
    missing = dict(result.missing) if isinstance(result, LabResult) else {}
    for row in rows_of(result):
        for what, reason in row.absent.items():
            missing.setdefault(what, reason)
    lines = [f"Not measured: {what}: {reason}" for what, reason in missing.items()]
    lines += [f"Note: {note}" for note in result.notes[:_MOST_NOTES]]
    left = len(result.notes) - _MOST_NOTES
    return tuple(one_line(line) for line in (*lines, *([f"Note: {left} more; --json has them"] if left > 0 else [])))


def _where(engine: Engine, environment: Environment, options: Options) -> Iterator[str]:
    yield f"{'GPU' if engine.name == 'gpu' else 'interpreter'} on {engine.device}"
    if environment.driver:
        yield f"driver {environment.driver}"
    if environment.cuda:
        yield f"CUDA {environment.cuda}"
    yield f"compiled for {engine.target}"
    for name, version in (("triton", environment.triton), ("torch", environment.torch)):
        if version:
            yield f"{name} {version}"
    yield f"tritonkata {environment.tritonkata}"
    yield f"seed {options.seed}"
    yield environment.date


def _lab_introduction(result: LabResult) -> Iterator[str]:
    options = result.options
    yield f"One traversal of x is {options.unit_bytes:,} bytes."
    if result.engine.name == "interpreter":
        if result.ran != (options.rows, options.cols):
            yield _smaller(result)
        yield _bound_line(result)
    else:
        yield _copy_line(result.rows)
    sources = {row.traffic.source for row in result.rows if row.traffic}
    if result.engine.name == "gpu" and sources:
        named = " and ".join(_SOURCES[source] for source in sorted(sources))
        yield f"Bytes are from {named}. GB/s are requested bytes over time; a cache that absorbs a pass raises them."


def _smaller(result: LabResult) -> str:
    rows, cols = result.ran
    why = "every row asks for the same bytes" if result.lab == "softmax" else "larger ones take too long there"
    return (
        f"The interpreter ran {number(rows)} x {number(cols)} (as run) and counted exactly: {why}. "
        f"In full is {number(result.options.rows)} x {number(result.options.cols)}."
    )


def _copy_line(rows: Iterable[LabRow]) -> str:
    speeds = [row.speed for row in rows if row.speed]
    if not speeds:
        return "No copy was timed."
    best = max(speeds, key=lambda one: one.copy_bytes / one.copy_us)
    rate = bandwidth_of(best.copy_bytes, best.copy_us)
    return f"A copy of x, two traversals, takes {best.copy_us:,.1f} us here: {rate:,.0f} GB/s."


def _exactness(rows: Iterable[LabRow]) -> str:
    judged = [row for row in rows if row.as_predicted is not None]
    if not judged:
        return "No requested bytes could be counted."
    off = [row for row in judged if not row.as_predicted]
    if not off:
        return f"Requested bytes are the predicted ones to the byte, in {_all(len(judged))}."
    told = "; ".join(
        f"{row.title} {row.traffic.requested.total:,} and not {row.predicted_ran.total:,}"
        for row in off
        if row.traffic and row.predicted_ran
    )
    return f"Requested bytes are not the predicted ones: {told}."


def _all(count: int) -> str:
    return "the one variant" if count == 1 else f"all {count} variants"


def _spill_lines(rows: Iterable[LabRow]) -> Iterator[str]:
    for row in rows:
        if not spills(row):
            continue
        bytes_spilled = max(one.spilled_bytes or 0 for one in row.resources)
        moved = row.traffic.spilled if row.traffic else None
        told = f", and moved {moved:,} bytes for it" if moved else ""
        yield (
            f"{row.title}: the row does not fit in the registers; "
            f"{plural(bytes_spilled, 'byte')} a thread spilled to memory{told}."
        )


def _result_lines(rows: Iterable[LabRow]) -> Iterator[str]:
    for row in rows:
        if row.fault is not None:
            yield one_line(f"{row.title}: {row.fault.verdict}: {row.fault.message}")
        elif row.checked is not None and row.checked.wrong_row is not None:
            wrong = row.checked
            yield (
                f"{row.title} FAILED: {number(wrong.wrong)} of {plural(wrong.elements, 'element')} wrong, "
                f"in {plural(wrong.rows_wrong, 'row')}."
            )
            if row.variant == "naive_unsafe" and "nan" in row.checked.wrong_row.got:
                yield (
                    "exp(100) is infinite in float32, and so is the sum of its row. The score of 100 became "
                    "inf / inf = nan, all others a number over inf = 0."
                )


def _sweep_introduction(result: CeilingResult) -> Iterator[str]:
    if result.engine.name == "interpreter":
        yield (
            f"The interpreter ran {plural(result.ran_rows, 'row')} of each length and counted exactly: "
            "every row asks for the same bytes."
        )
        yield _bound_line(result)
        return
    yield _copy_line(result.points[-1].rows).replace("A copy of x", "A copy of the largest x")
    yield (
        "Three kernels at every length: safe (3 loads, 1 store), online with 2 loads, online with 1. "
        "By traffic alone they take 2, 1.5 and 1 times as long."
    )


def _sweep_findings(result: CeilingResult) -> Iterator[str]:
    if any(row.speed for row in rows_of(result)):
        yield _decision(result)
    if result.outgrows_l2 is not None:
        whose = "an H200's L2" if result.engine.name == "interpreter" else "the L2"
        yield (
            f"From {plural(result.outgrows_l2, 'column')} on, {plural(result.options.rows, 'row')} "
            f"are more than {whose} holds."
        )
    spilling = [point.cols for point in result.points if spills(point.rows[-1])]
    if spilling:
        yield f"From {plural(spilling[0], 'column')} on, a row does not fit in the registers of the 1-pass kernel."
    yield _exactness(rows_of(result)).replace(" variants", " runs")


def _decision(result: CeilingResult) -> str:
    share = f"{100 * DECIDED:.0f} % of what its traffic predicts"
    if result.decided_from is None:
        return f"Within this sweep the extra passes of the 3-pass kernel never cost {share}."
    start = plural(result.decided_from, "column")
    row_bytes = plural(result.decided_from * result.options.itemsize, "byte")
    return f"From {start} ({row_bytes} a row) on, the number of passes decides: an extra pass costs at least {share}."


def _bound_line(result: Result) -> str:
    rate = f"{number(result.bandwidth.value, 5)} GB/s ({result.bandwidth.source})"
    return f'"At least" is no measurement: it is the time in us that the predicted bytes take at {rate}.'
