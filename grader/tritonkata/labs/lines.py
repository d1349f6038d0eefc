"""The sweep over row lengths as a picture: one panel a quantity, row lengths to the right."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tritonkata.feedback.numbers import number
from tritonkata.labs import svg, words
from tritonkata.labs.ceiling import spills
from tritonkata.labs.model import CeilingResult, LabRow, SweepPoint, bandwidth_of
from tritonkata.labs.sweep_grid import passes_of

WIDTH = 920
_MARGIN = 24
_LEFT = 66
_RIGHT = 106
_PANEL_HEIGHT = 190
_PANEL_STEP = 262
_TOP = 104
_LABEL_STEP = 15


@dataclass(frozen=True)
class _Line:
    """One series: a number for each row length, None where there is none; `expected` is drawn dashed."""

    name: str
    series: str
    numbers: tuple[float | None, ...]
    expected: float | None = None


@dataclass(frozen=True)
class _Panel:
    """One quantity over all row lengths, in a frame whose upper edge is at `top`."""

    title: str
    lines: tuple[_Line, ...]
    cols: tuple[int, ...]
    largest: float
    top: float
    names_above: bool

    def x(self, cols: float) -> float:
        """Row lengths lie by their logarithm."""
        first, last = math.log2(self.cols[0]), math.log2(self.cols[-1])
        share = (math.log2(cols) - first) / (last - first) if last > first else 0.5
        return _LEFT + share * (WIDTH - _LEFT - _RIGHT)

    def y(self, value: float) -> float:
        """Numbers begin at 0."""
        return self.top + _PANEL_HEIGHT * (1 - value / self.largest)


def draw(result: CeilingResult) -> str:
    """The picture."""
    panels = [
        _framed(title, lines, result, _TOP + place * _PANEL_STEP)
        for place, (title, lines) in enumerate(_quantities(result))
    ]
    body = [svg.bold(_MARGIN, 34, words.title(result), size=17)]
    told = svg.wrapped(" ".join(words.findings(result)[:2]), WIDTH - 2 * _MARGIN, 12)
    body += [svg.text(_MARGIN, 54 + 15 * place, part, size=12, kind="soft") for place, part in enumerate(told[:2])]
    for panel in panels:
        body += _drawn(panel, result)
    bottom = _TOP + len(panels) * _PANEL_STEP - 8
    foot = svg.wrapped(words.where(result), WIDTH - 2 * _MARGIN, 11)
    body += [svg.text(_MARGIN, bottom + 16 * place, part, size=11, kind="soft") for place, part in enumerate(foot)]
    height = int(bottom + 16 * len(foot))
    return svg.document(words.title(result), " ".join(words.findings(result)), WIDTH, height, body)


def _quantities(result: CeilingResult) -> list[tuple[str, tuple[_Line, ...]]]:
    """What there is to draw: times and DRAM of a GPU; without one the bounds, and what spills."""
    points = result.points
    if any(row.speed for point in points for row in point.rows):
        panels = [
            ("Time, in units of the 1-pass kernel's (dashed: by traffic alone)", _time_lines(points)),
            ("Requested GB/s (dashed: the copy of the longest rows)", _bandwidth_lines(points)),
        ]
        dram = _level_lines(points, _dram)
        if any(one is not None for line in dram for one in line.numbers):
            panels.append(("Traversals that reach DRAM (dashed: requested)", dram))
        return panels
    panels = [(f"Time at {result.bandwidth.value:g} GB/s: a lower bound, us", _bound_lines(points))]
    if any(spills(point.rows[-1]) for point in points):
        panels.append(("Bytes that a thread of the 1-pass kernel spills", (_spill_line(points),)))
    return panels


def _time_lines(points: Sequence[SweepPoint]) -> tuple[_Line, ...]:
    made = []
    for place, series in enumerate(svg.SERIES[:-1]):
        rows = [(point.rows[place], point.rows[-1]) for point in points]
        numbers = tuple(
            slow.speed.kernel_us / fast.speed.kernel_us if slow.speed and fast.speed else None for slow, fast in rows
        )
        slow, fast = rows[-1]
        expected = slow.predicted.total / fast.predicted.total if slow.predicted and fast.predicted else None
        made.append(_Line(passes_of(slow), series, numbers, expected))
    return tuple(made)


def _bandwidth_lines(points: Sequence[SweepPoint]) -> tuple[_Line, ...]:
    speeds = [row.speed for row in points[-1].rows if row.speed]
    copy = max((bandwidth_of(one.copy_bytes, one.copy_us) for one in speeds), default=None)
    lines = _level_lines(points, lambda row, _: row.effective)
    return tuple(_Line(one.name, one.series, one.numbers, copy if one.series == "three" else None) for one in lines)


def _level_lines(points: Sequence[SweepPoint], take: Callable[[LabRow, int], float | None]) -> tuple[_Line, ...]:
    made = []
    for place, series in enumerate(svg.SERIES):
        numbers = tuple(take(point.rows[place], point.unit_bytes) for point in points)
        last = points[-1].rows[place]
        expected = last.predicted.total / points[-1].unit_bytes if last.predicted else None
        made.append(_Line(passes_of(last), series, numbers, expected))
    return tuple(made)


def _bound_lines(points: Sequence[SweepPoint]) -> tuple[_Line, ...]:
    lines = _level_lines(points, lambda row, _: row.lower_bound_us)
    return tuple(_Line(one.name, one.series, one.numbers) for one in lines)


def _spill_line(points: Sequence[SweepPoint]) -> _Line:
    kernels = [point.rows[-1].resources for point in points]
    numbers = tuple(float(max((one.spilled_bytes or 0 for one in row), default=0)) for row in kernels)
    return _Line(passes_of(points[-1].rows[-1]), svg.SERIES[-1], numbers)


def _dram(row: LabRow, unit_bytes: int) -> float | None:
    level = row.traffic.dram if row.traffic else None
    return None if level is None else level.total / unit_bytes


def _framed(title: str, lines: tuple[_Line, ...], result: CeilingResult, top: float) -> _Panel:
    numbers = [one for line in lines for one in (*line.numbers, line.expected) if one is not None]
    largest = max(numbers, default=0.0) * 1.08 or 1.0
    # Lines that begin at nothing leave room above them, the others below.
    first = max((line.numbers[0] or 0.0 for line in lines), default=0.0)
    return _Panel(title, lines, tuple(point.cols for point in result.points), largest, top, first < largest / 10)


def _drawn(panel: _Panel, result: CeilingResult) -> list[str]:
    pieces = [svg.bold(_LEFT, panel.top - 12, panel.title, size=12.5), *_scales(panel)]
    for one in panel.lines:
        if one.expected is not None:
            y = panel.y(one.expected)
            pieces.append(svg.line(_LEFT, y, WIDTH - _RIGHT, y, f"line-{one.series}", width=1.5, dashes="5 4"))
        pieces += _line(panel, one)
    return [*pieces, *_marks(panel, result), *_names(panel)]


def _scales(panel: _Panel) -> list[str]:
    pieces = []
    step = svg.nice_step(panel.largest, 4)
    number_ = 0.0
    while number_ <= panel.largest:
        y = panel.y(number_)
        pieces.append(svg.line(_LEFT, y, WIDTH - _RIGHT, y, "line-grid"))
        pieces.append(svg.text(_LEFT - 8, y + 4, number(number_), size=11, kind="soft", anchor="end"))
        number_ += step
    bottom = panel.top + _PANEL_HEIGHT
    for cols in panel.cols:
        pieces.append(svg.text(panel.x(cols), bottom + 16, number(cols), size=11, kind="soft", anchor="middle"))
    middle = (_LEFT + WIDTH - _RIGHT) / 2
    return [*pieces, svg.text(middle, bottom + 32, "columns in a row", size=11, kind="soft", anchor="middle")]


def _marks(panel: _Panel, result: CeilingResult) -> list[str]:
    """The lengths at which something changes, as upright lines with their names."""
    spilling = [point.cols for point in result.points if spills(point.rows[-1])]
    marks = [
        (result.outgrows_l2, "more than the L2"),
        (result.decided_from, "passes decide"),
        (spilling[0] if spilling else None, "1 pass spills"),
    ]
    inside = [(cols, name) for cols, name in marks if cols is not None and panel.cols[0] <= cols <= panel.cols[-1]]
    pieces = []
    for place, (cols, name) in enumerate(sorted(inside)):
        x = panel.x(cols)
        # Names stand at different heights, since their lines may be close.
        y = panel.top + (12 + 15 * place if panel.names_above else _PANEL_HEIGHT - 8 - 15 * place)
        pieces.append(svg.line(x, panel.top, x, panel.top + _PANEL_HEIGHT, "line-soft", width=1.2, dashes="2 3"))
        pieces.append(svg.text(x - 5, y, name, size=11, kind="halo", anchor="end"))
    return pieces


def _line(panel: _Panel, one: _Line) -> list[str]:
    there = [(cols, value) for cols, value in zip(panel.cols, one.numbers, strict=True) if value is not None]
    points = [(panel.x(cols), panel.y(value)) for cols, value in there]
    pieces = [svg.polyline(points, f"line-{one.series}")] if len(points) > 1 else []
    for (x, y), (cols, value) in zip(points, there, strict=True):
        pieces.append(svg.marker(x, y, one.series, hover=f"{one.name}, {cols} columns: {number(value, 4)}"))
    return pieces


def _names(panel: _Panel) -> list[str]:
    """The series' names beside their last points, moved apart where these are close."""
    ends = [(panel.y(one.numbers[-1] or 0.0), one) for one in panel.lines if one.numbers]
    pieces = []
    previous = -math.inf
    for y, one in sorted(ends, key=lambda pair: pair[0]):
        place = max(y, previous + _LABEL_STEP)
        previous = place
        pieces.append(svg.marker(WIDTH - _RIGHT + 14, place, one.series))
        pieces.append(svg.text(WIDTH - _RIGHT + 24, place + 4, one.name, size=12))
    return pieces
