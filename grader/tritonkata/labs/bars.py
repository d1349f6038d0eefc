"""The softmax and the fusion lab as a picture: time on the left, traversals on the right."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tritonkata.feedback.numbers import number as shown
from tritonkata.labs import svg, words
from tritonkata.labs.grids import short
from tritonkata.labs.lab_grids import verdict
from tritonkata.labs.model import LabResult, LabRow
from tritonkata.model.observation import Level, Traffic

WIDTH = 920
_LABELS = 150
_GAP = 70
_MARGIN = 24
_PANEL = (WIDTH - 2 * _MARGIN - _LABELS - 2 * _GAP) / 2
_BAR = 11
_LABEL = 40
_ROW_PADDING = 16
_NAME_HEIGHT = 30
_TOP = 118


@dataclass(frozen=True)
class _Panel:
    """Where numbers from 0 to `largest` lie."""

    left: float
    largest: float

    def x(self, number: float) -> float:
        """The place of a number."""
        return self.left + _PANEL * number / self.largest if self.largest else self.left


@dataclass(frozen=True)
class _Level:
    """One kind of traversals: its name, its colour and each row's number, in the order of rows."""

    name: str
    series: str
    numbers: tuple[float | None, ...]


def draw(result: LabResult) -> str:
    """The picture."""
    levels = _levels(result)
    times = [_time(row) for row in result.rows]
    height_of_row = max(_BAR * len(levels), _NAME_HEIGHT) + _ROW_PADDING
    bottom = _TOP + height_of_row * len(result.rows)
    left = _Panel(_MARGIN + _LABELS, max((time for time in times if time), default=0.0))
    most = max((one for level in levels for one in level.numbers if one), default=0.0)
    right = _Panel(left.left + _PANEL + _GAP, max(most, *(_predicted(row, result) or 0.0 for row in result.rows)))
    body = [*_heading(result), *_legend(levels, right), *_captions(result, left, right)]
    body += _axis(left, bottom) + _axis(right, bottom)
    body += _copy_mark(result, left, bottom)
    for place, row in enumerate(result.rows):
        top = _TOP + place * height_of_row
        body += _name(row, top, height_of_row)
        body += _time_bar(times[place], left, top, height_of_row)
        middle = top + (height_of_row - _ROW_PADDING - _BAR * len(levels)) / 2
        body += _traversal_bars(row, place, levels, right, middle, result)
    foot = _foot(result, bottom + 40)
    height = int(bottom + 40 + 16 * len(foot))
    return svg.document(words.title(result), _description(result), WIDTH, height, [*body, *foot])


def _heading(result: LabResult) -> list[str]:
    lines = [svg.bold(_MARGIN, 34, words.title(result), size=17)]
    return [*lines, svg.text(_MARGIN, 54, words.introduction(result)[0], size=12, kind="soft")]


def _captions(result: LabResult, left: _Panel, right: _Panel) -> list[str]:
    timed = any(row.speed for row in result.rows)
    what = "Time, us" if timed else f"Time at {result.bandwidth.value:g} GB/s: a lower bound, us"
    rows, cols = result.ran
    where = "" if result.engine.name == "gpu" else f", counted on {rows} x {cols}"
    return [
        svg.bold(left.left, _TOP - 32, what, size=12.5),
        svg.bold(right.left, _TOP - 32, f"Traversals of x{where}", size=12.5),
    ]


def _legend(levels: list[_Level], panel: _Panel) -> list[str]:
    pieces = []
    x = panel.left
    for level in levels:
        pieces += [
            svg.box(x, _TOP - 21, 10, 10, f"fill-{level.series}"),
            svg.text(x + 14, _TOP - 12, level.name, size=11, kind="soft"),
        ]
        x += 26 + 11 * svg.CHARACTER_WIDTH * len(level.name)
    pieces += [svg.line(x + 3, _TOP - 22, x + 3, _TOP - 10, "line-ink", width=2)]
    return [*pieces, svg.text(x + 10, _TOP - 12, "predicted", size=11, kind="soft")]


def _axis(panel: _Panel, bottom: float) -> list[str]:
    step = svg.nice_step(panel.largest, 4)
    pieces = []
    number = 0.0
    while number <= panel.largest * 1.001:
        x = panel.x(number)
        pieces.append(svg.line(x, _TOP - 2, x, bottom, "line-grid"))
        pieces.append(svg.text(x, bottom + 15, f"{number:g}", size=11, kind="soft", anchor="middle"))
        number += step
    return pieces


def _copy_mark(result: LabResult, panel: _Panel, bottom: float) -> list[str]:
    """Where the copy of x ends."""
    speeds = [row.speed for row in result.rows if row.speed]
    if not speeds:
        return []
    x = panel.x(min(one.copy_us for one in speeds))
    return [
        svg.line(x, _TOP - 6, x, bottom, "line-ink", width=1.5, dashes="4 3"),
        svg.text(x, _TOP - 10, "a copy of x", size=11, kind="soft", anchor="middle"),
    ]


def _name(row: LabRow, top: float, height: float) -> list[str]:
    outcome = verdict(row)
    middle = top + (height - _ROW_PADDING) / 2
    return [
        svg.text(_MARGIN, middle + 1, row.title, size=13),
        svg.text(_MARGIN, middle + 15, outcome.text, size=10.5, kind=outcome.mood),
    ]


def _time_bar(time: float | None, panel: _Panel, top: float, height: float) -> list[str]:
    middle = top + (height - _ROW_PADDING) / 2
    if time is None:
        return [svg.text(panel.left + 6, middle + 4, "not measured", size=11, kind="soft")]
    return [
        svg.box(panel.left, middle - 8, panel.x(time) - panel.left, 16, "fill-one"),
        svg.text(panel.x(time) + 6, middle + 4, short(time), size=11, kind="value"),
    ]


def _traversal_bars(
    row: LabRow, place: int, levels: list[_Level], panel: _Panel, top: float, result: LabResult
) -> list[str]:
    pieces = []
    expected = _predicted(row, result)
    mark = None if expected is None else panel.x(expected)
    for index, level in enumerate(levels):
        number = level.numbers[place]
        if number is None:
            continue
        end = panel.x(number)
        # A label that would run into the mark stands behind it.
        room = mark if mark is not None and end <= mark < end + _LABEL else end
        y = top + index * _BAR
        pieces.append(svg.box(panel.left, y, end - panel.left, _BAR - 2, f"fill-{level.series}"))
        pieces.append(svg.text(room + 6, y + _BAR - 2.5, shown(number, 4), size=10))
    if mark is not None:
        pieces.append(svg.line(mark, top - 3, mark, top + _BAR * len(levels) + 1, "line-ink", width=2))
    return pieces


def _levels(result: LabResult) -> list[_Level]:
    """Requested, and L2 and DRAM where any row has them."""
    first = "counted" if result.engine.name == "interpreter" else "requested"
    found = [_level(result, first, "one", lambda traffic: traffic.requested)]
    deeper = (
        _level(result, "L2", "two", lambda traffic: traffic.l2),
        _level(result, "DRAM", "three", lambda traffic: traffic.dram),
    )
    return [*found, *(level for level in deeper if any(one is not None for one in level.numbers))]


def _level(result: LabResult, name: str, series: str, take: Callable[[Traffic], Level | None]) -> _Level:
    unit = result.ran[0] * result.ran[1] * result.options.itemsize
    totals = [take(row.traffic) if row.traffic else None for row in result.rows]
    return _Level(name, series, tuple(one.total / unit if one else None for one in totals))


def _predicted(row: LabRow, result: LabResult) -> float | None:
    unit = result.ran[0] * result.ran[1] * result.options.itemsize
    return row.predicted_ran.total / unit if row.predicted_ran else None


def _time(row: LabRow) -> float | None:
    return row.speed.kernel_us if row.speed else row.lower_bound_us


def _foot(result: LabResult, top: float) -> list[str]:
    lines = svg.wrapped(words.where(result), WIDTH - 2 * _MARGIN, 11)
    return [svg.text(_MARGIN, top + 16 * place, part, size=11, kind="soft") for place, part in enumerate(lines)]


def _description(result: LabResult) -> str:
    told = []
    for row, time in zip(result.rows, map(_time, result.rows), strict=True):
        bound = "" if row.speed else "at least "
        told.append(f"{row.title}: {verdict(row).text}, {bound}{short(time)} us")
    return "; ".join((*told, *words.findings(result)[:1]))
