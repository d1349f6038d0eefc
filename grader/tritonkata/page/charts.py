"""The pictures of the page: scores as a histogram, traffic against speed, traffic alone.

Shapes have class names only; the page's style sheet gives the colours.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape

from tritonkata.feedback.numbers import number, plural
from tritonkata.labs import svg
from tritonkata.model.course import Kata
from tritonkata.page.model import Part

WIDTH, HEIGHT = 640, 320
_LEFT, _RIGHT, _TOP, _BOTTOM = 52, 20, 34, 48
_MOST_BINS = 20
_NAMES_SHOWN = 3
_GRID = 4
"""Pixels within which points are one mark; a mark is twice as wide."""
_ASIDE = (0, 2, -2, 4, -4, 6, -6)


@dataclass(frozen=True)
class Frame:
    """A field for a picture, from 0 to the largest number on each axis."""

    most_x: float
    most_y: float
    left_edge: float = 0.0

    def x(self, value: float) -> float:
        """The place of a number to the right."""
        span = self.most_x - self.left_edge
        return _LEFT + (value - self.left_edge) / span * (WIDTH - _LEFT - _RIGHT)

    def y(self, value: float) -> float:
        """The place of a number upwards."""
        return HEIGHT - _BOTTOM - value / self.most_y * (HEIGHT - _TOP - _BOTTOM)


@dataclass(frozen=True)
class Bin:
    """A bar of a histogram: scores from `first` up to below `last`; the last bar takes in its end."""

    first: float
    last: float
    count: int


def bins_of(scores: Sequence[float], most: float) -> tuple[Bin, ...]:
    """Scores from 0 to `most` in up to 20 bars of a round width; what lies outside goes to the bar at that end."""
    step = max(svg.nice_step(most, _MOST_BINS), 1e-9) if most > 0 else 1.0
    # A score of exactly `most` is the class's goal, and gets a bar of its own.
    count = int(most / step + 1e-9) + 1
    counted = Counter(min(max(int(score / step + 1e-9), 0), count - 1) for score in scores)
    return tuple(Bin(place * step, (place + 1) * step, counted[place]) for place in range(count))


def outside(scores: Sequence[float], most: float) -> int:
    """How many scores lie below 0 or above `most`, and are drawn in the bar at that end."""
    return sum(not 0 <= score <= most + 1e-9 for score in scores)


def histogram(bins: Sequence[Bin], described: str) -> str:
    """The distribution of scores."""
    step = bins[0].last - bins[0].first
    frame = Frame(bins[-1].last, max(1, *(one.count for one in bins)) * 1.08)
    pieces = [*_rising(frame, "submissions"), svg.text(WIDTH - _RIGHT, HEIGHT - 10, "score", kind="soft", anchor="end")]
    every = max(1, len(bins) // 11)
    for place, one in enumerate(bins):
        x, width, top = frame.x(one.first), frame.x(one.last) - frame.x(one.first), frame.y(one.count)
        hover = f"{_span(one, step)}: {plural(one.count, 'submission')}"
        pieces.append(svg.box(x + 1, top, width - 2, frame.y(0) - top, "fill-one", hover=hover))
        if one.count:
            pieces.append(svg.text(x + width / 2, top - 4, str(one.count), size=11, anchor="middle"))
        if place % every == 0:
            pieces.append(
                svg.text(x + width / 2, frame.y(0) + 17, number(one.first), size=11, kind="soft", anchor="middle")
            )
    return _picture("scores", "Distribution of scores", described, pieces)


def span_words(bins: Sequence[Bin], place: int) -> str:
    """Which scores a bar holds."""
    return _span(bins[place], bins[0].last - bins[0].first)


def scatter(parts: Iterable[Part], kata: Kata, described: str) -> str:
    """Traffic to the right, speed upwards; what lies beyond the field is drawn at its edge."""
    there = [
        (part, part.traversals, part.fraction_of_copy)
        for part in parts
        if part.traversals is not None and part.fraction_of_copy is not None
    ]
    fastest = max(100 * share for _, _, share in there)
    frame = Frame(_right_edge(kata, [x for _, x, _ in there]), min(max(110.0, fastest * 1.05), 150.0))
    pieces = [*_rising(frame, "% of a copy's speed"), *_traversal_axis(frame), *_limits(frame, kata)]
    pieces.append(svg.line(_LEFT, frame.y(100), WIDTH - _RIGHT, frame.y(100), "line-three", width=1.5, dashes="6 4"))
    pieces.append(svg.text(WIDTH - _RIGHT, frame.y(100) - 5, "copy", size=11, kind="halo", anchor="end"))
    marks: dict[tuple[int, int, str], list[str]] = {}
    for part, traversals, share in there:
        x, y = frame.x(min(traversals, frame.most_x)), frame.y(min(100 * share, frame.most_y))
        key = (round(x / _GRID), round(y / _GRID), _series(part))
        marks.setdefault(key, []).append(f"{part.name}: {number(traversals, 4)} traversals, {number(100 * share, 3)} %")
    for x, y, series, told in _side_by_side(marks):
        pieces.append(svg.marker(x * _GRID, y * _GRID, series, hover=_told(told)))
    return _picture("traffic", "Traffic against speed", described, pieces)


def _side_by_side(
    marks: Mapping[tuple[int, int, str], Sequence[str]],
) -> Iterator[tuple[int, int, str, Sequence[str]]]:
    """Marks moved sideways where they would cover each other, and back over the others where there is no room."""
    taken: set[tuple[int, int]] = set()
    for (x, y, series), told in sorted(marks.items(), key=lambda item: (item[0][1], item[0][0], item[0][2])):
        free = (
            aside
            for aside in _ASIDE
            if not any((x + aside + dx, y + dy) in taken for dx in (-1, 0, 1) for dy in (-1, 0, 1))
        )
        place = x + next(free, 0)
        taken.add((place, y))
        yield place, y, series, told


def traffic_bars(parts: Iterable[Part], kata: Kata, described: str) -> str:
    """How many submissions need how many traversals, where no speed is known."""
    measured = [part.traversals for part in parts if part.traversals is not None]
    edge = _right_edge(kata, measured)
    step = svg.nice_step(edge, 48)
    counted = Counter(int(min(one, edge) / step + 0.5) for one in measured)
    frame = Frame(edge + step, max(counted.values()) * 1.08)
    pieces = [*_rising(frame, "submissions"), *_traversal_axis(frame)]
    pieces += _limits(frame, kata)
    for place, count in sorted(counted.items()):
        middle, top = frame.x(place * step), frame.y(count)
        hover = f"{number(place * step, 4)} traversals: {plural(count, 'submission')}"
        pieces.append(svg.box(middle - 4, top, 8, frame.y(0) - top, "fill-one", hover=hover))
        pieces.append(svg.text(middle, top - 4, str(count), size=11, anchor="middle", kind="value"))
    return _picture("traffic", "Traffic", described, pieces)


def beyond(parts: Iterable[Part], kata: Kata) -> int:
    """Submissions whose traffic lies beyond the field of the picture."""
    measured = [part.traversals for part in parts if part.traversals is not None]
    edge = _right_edge(kata, measured)
    return sum(one > edge for one in measured)


def _right_edge(kata: Kata, measured: Sequence[float]) -> float:
    """So far that budget and most of the class are seen, and no outlier squeezes the rest."""
    budget = kata.file.traffic.budget
    return max(1.3 * budget, min(max(measured, default=0.0) * 1.05, 3 * budget))


def _limits(frame: Frame, kata: Kata) -> Iterator[str]:
    """Par and budget as upright lines; the left one's name stands left of it."""
    limits = kata.file.traffic
    for name, value, series, anchor, gap in (
        ("par", limits.par, "line-good", "end", -5),
        ("budget", limits.budget, "line-two", "start", 5),
    ):
        x = frame.x(value)
        yield svg.line(x, _TOP - 6, x, HEIGHT - _BOTTOM, series, width=1.5, dashes="2 3")
        side: svg.Anchor = "end" if anchor == "end" else "start"
        yield svg.text(x + gap, _TOP - 10, f"{name} {number(value, 4)}", size=11, kind="halo", anchor=side)


def _traversal_axis(frame: Frame) -> Iterator[str]:
    step = svg.nice_step(frame.most_x, 8)
    place = 0
    while place * step <= frame.most_x:
        x = frame.x(place * step)
        yield svg.text(x, frame.y(0) + 17, number(place * step, 4), size=11, kind="soft", anchor="middle")
        place += 1
    yield svg.text(WIDTH - _RIGHT, HEIGHT - 10, "requested traversals", kind="soft", anchor="end")


def _rising(frame: Frame, name: str) -> Iterator[str]:
    """Lines across with their numbers, and the name of the upright axis above it."""
    # Counts and percent alike have whole numbers.
    step = svg.nice_step(frame.most_y)
    step = max(step, 1.0) if step < 1 or step.is_integer() else 2 * step
    place = 0
    while place * step <= frame.most_y:
        y = frame.y(place * step)
        yield svg.line(_LEFT, y, WIDTH - _RIGHT, y, "line-soft" if place == 0 else "line-grid")
        yield svg.text(_LEFT - 8, y + 4, number(place * step), size=11, kind="soft", anchor="end")
        place += 1
    yield svg.text(8, 14, name, kind="soft")


def _series(part: Part) -> str:
    return "one" if part.verdict == "passed" else "two"


def _told(told: Sequence[str]) -> str:
    more = len(told) - _NAMES_SHOWN
    return "\n".join([*told[:_NAMES_SHOWN], *([f"and {more} more"] if more > 0 else [])])


def _span(one: Bin, step: float) -> str:
    return (
        number(one.first)
        if step == 1 and float(one.first).is_integer()
        else f"{number(one.first)} to below {number(one.last)}"
    )


def _picture(own: str, title: str, described: str, pieces: Iterable[str]) -> str:
    return "\n".join(
        [
            f'<svg class="chart" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-labelledby="{own}-title {own}-desc">',
            f'<title id="{own}-title">{escape(title)}</title>',
            f'<desc id="{own}-desc">{escape(described)}</desc>',
            *pieces,
            "</svg>",
        ]
    )
