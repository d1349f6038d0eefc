"""The pieces of a picture: text, boxes and lines as SVG, in colours for light and dark.

Coordinates are pixels from the upper left corner. Text is text, so that it can be read aloud, searched and copied.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Literal

FONT = "system-ui, 'Segoe UI', 'DejaVu Sans', sans-serif"
CHARACTER_WIDTH = 0.62
"""Of the font size, for text that must fit; system fonts are narrower."""

_STYLE = """
.kata-chart { --paper: #ffffff; --ink: #1f2328; --soft: #59636e; --line: #d1d9e0; --bad: #b3261e; --good: #1a6b3c;
  --one: #0b62a4; --two: #b45309; --three: #0f766e; color-scheme: light dark; }
@media (prefers-color-scheme: dark) {
  .kata-chart { --paper: #0d1117; --ink: #e6edf3; --soft: #9aa5b1; --line: #30363d; --bad: #ff8a80; --good: #6fd08c;
    --one: #6cb6ff; --two: #f0b35b; --three: #4fd1c5; }
}
.kata-chart text { font-family: FONT; fill: var(--ink); }
.kata-chart .soft { fill: var(--soft); }
.kata-chart .halo, .kata-chart .value { stroke: var(--paper); stroke-width: 4px; paint-order: stroke; }
.kata-chart .halo { fill: var(--soft); }
.kata-chart .bad { fill: var(--bad); }
.kata-chart .good { fill: var(--good); }
.kata-chart .paper { fill: var(--paper); }
.kata-chart .fill-one { fill: var(--one); }
.kata-chart .fill-two { fill: var(--two); }
.kata-chart .fill-three { fill: var(--three); }
.kata-chart .line-one { stroke: var(--one); fill: none; }
.kata-chart .line-two { stroke: var(--two); fill: none; }
.kata-chart .line-three { stroke: var(--three); fill: none; }
.kata-chart .line-ink { stroke: var(--ink); }
.kata-chart .line-soft { stroke: var(--soft); }
.kata-chart .line-grid { stroke: var(--line); }
""".replace("FONT", FONT)

Anchor = Literal["start", "middle", "end"]
SERIES = ("one", "two", "three")
"""The colours of series, by the part of the class names after `fill-` and `line-`."""


def document(title: str, description: str, width: int, height: int, body: Iterable[str]) -> str:
    """A whole picture on its own paper."""
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" class="kata-chart" viewBox="0 0 {width} {height}" '
            f'width="{width}" height="{height}" role="img" aria-labelledby="kata-title kata-desc">',
            f'<title id="kata-title">{escape(title)}</title>',
            f'<desc id="kata-desc">{escape(description)}</desc>',
            f"<style>{_STYLE}</style>",
            f'<rect class="paper" width="{width}" height="{height}" rx="6"/>',
            *body,
            "</svg>",
        ]
    )


def text(x: float, y: float, words: str, *, size: float = 12, kind: str = "", anchor: Anchor = "start") -> str:
    """One line of text with its baseline at y."""
    kinds = f' class="{kind}"' if kind else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size:g}" text-anchor="{anchor}"{kinds}>{escape(words)}</text>'


def bold(x: float, y: float, words: str, *, size: float = 12) -> str:
    """One line of bold text."""
    return f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size:g}" font-weight="600">{escape(words)}</text>'


def box(x: float, y: float, width: float, height: float, kind: str, *, hover: str = "") -> str:
    """A filled rectangle; `hover` is shown when the pointer rests on it."""
    told = f"<title>{escape(hover)}</title>" if hover else ""
    size = f'width="{max(width, 0):.1f}" height="{height:.1f}"'
    return f'<rect class="{kind}" x="{x:.1f}" y="{y:.1f}" {size} rx="1.5">{told}</rect>'


def line(x1: float, y1: float, x2: float, y2: float, kind: str, *, width: float = 1, dashes: str = "") -> str:
    """A straight line."""
    dashed = f' stroke-dasharray="{dashes}"' if dashes else ""
    ends = f'x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"'
    return f'<line class="{kind}" {ends} stroke-width="{width:g}"{dashed}/>'


def polyline(points: Sequence[tuple[float, float]], kind: str, *, width: float = 2) -> str:
    """A line through points."""
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    return f'<polyline class="{kind}" points="{path}" stroke-width="{width:g}" stroke-linejoin="round"/>'


def marker(x: float, y: float, series: str, *, hover: str = "") -> str:
    """A mark of one series at a point: circle, square or diamond, so that colour is not all that tells them apart."""
    told = f"<title>{escape(hover)}</title>" if hover else ""
    kind = f'class="fill-{series}"'
    if series == "one":
        return f'<circle {kind} cx="{x:.1f}" cy="{y:.1f}" r="4">{told}</circle>'
    if series == "two":
        return f'<rect {kind} x="{x - 3.5:.1f}" y="{y - 3.5:.1f}" width="7" height="7">{told}</rect>'
    corners = f"{x:.1f},{y - 5:.1f} {x + 5:.1f},{y:.1f} {x:.1f},{y + 5:.1f} {x - 5:.1f},{y:.1f}"
    return f'<polygon {kind} points="{corners}">{told}</polygon>'


def wrapped(words: str, width: float, size: float) -> list[str]:
    """Lines that fit in a width."""
    characters = int(width / (CHARACTER_WIDTH * size))
    lines = [""]
    for word in words.split():
        longer = f"{lines[-1]} {word}".strip()
        if len(longer) > characters and lines[-1]:
            lines.append(word)
        else:
            lines[-1] = longer
    return lines


def nice_step(largest: float, parts: int = 5) -> float:
    """A step of 1, 2, 2.5 or 5 times a power of ten that divides an axis into about so many parts."""
    if largest <= 0:
        return 1.0
    raw = largest / parts
    power = 10.0 ** _floor_log10(raw)
    return next(power * factor for factor in (1, 2, 2.5, 5, 10) if power * factor >= raw * 0.999)


def _floor_log10(number: float) -> int:
    return int(f"{number:e}".partition("e")[2])
