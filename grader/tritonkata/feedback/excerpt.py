"""The learner's own statement, with a marker under the part that matters."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass

from rich.cells import cell_len

from tritonkata.feedback.clean import clean
from tritonkata.model.faults import Fault

WIDTH = 96
_MOST_LINES = 8
_LINES_BEFORE = 3
_MAX_LINE = 400
_BEFORE_THE_PLACE = 100


@dataclass(frozen=True)
class SourceLine:
    """One line of the file without the indent it shares with the others. `number` counts from 1."""

    number: int
    text: str


@dataclass(frozen=True)
class Excerpt:
    """Consecutive source lines. `length` characters of line `number` from `start` on are marked."""

    source: tuple[SourceLine, ...]
    number: int
    start: int
    length: int

    def lines(self, width: int = WIDTH) -> tuple[tuple[str, bool], ...]:
        """Lines of at most `width` cells, each with whether it is a marker; a long source line goes on below itself."""
        return tuple(self._lines(width))

    def _lines(self, width: int) -> Iterator[tuple[str, bool]]:
        digits = max(len(str(line.number)) for line in self.source)
        bar = " " * digits + " | "
        for line in self.source:
            label = f"{line.number:>{digits}} | "
            for begin, piece in _pieces(line.text, max(width - len(bar), 8)):
                yield (label + piece).rstrip(), False
                label = bar
                first, last = max(self.start, begin), min(self.start + self.length, begin + len(piece))
                if line.number == self.number and first < last:
                    before, under = piece[: first - begin], piece[first - begin : last - begin]
                    yield bar + " " * cell_len(before) + "^" * cell_len(under), True


def fault_line(fault: Fault | None) -> int | None:
    """The line of the learner's file that a fault points at, if any."""
    if fault is None:
        return None
    if fault.line is None and fault.access is not None:
        return fault.access.line
    return fault.line


def excerpt(fault: Fault | None, source: str | None) -> Excerpt | None:
    """The statement that `fault` points at, or None without a line, a source, or text on that line.

    Of a compound statement (`if`, `for`, `def`) it is the head, and of a very long one the lines around the place.
    """
    number = fault_line(fault)
    if fault is None or number is None or source is None:
        return None
    # Only these end a line for Python; str.splitlines() knows more and would shift the numbers.
    lines = source.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n").split("\n")
    if not 1 <= number <= len(lines) or not lines[number - 1].strip():
        return None
    first, last = _window(number, *_statement(source, number))
    while last > number and not lines[last - 1].strip():
        last -= 1
    rows = [line.expandtabs(4).rstrip() for line in lines[first - 1 : last]]
    indent = min(len(row) - len(row.lstrip()) for row in rows if row)
    start, length = _marked(rows[number - first][indent:], fault)
    cut = {first + place: _cut(row[indent:], start if first + place == number else 0) for place, row in enumerate(rows)}
    shown = tuple(SourceLine(at, text) for at, (text, _) in cut.items())
    return Excerpt(shown, number, start - cut[number][1], length)


def _statement(source: str, number: int) -> tuple[int, int]:
    """First and last line of the smallest statement, or head of one, that line `number` belongs to."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(source.removeprefix("\ufeff"))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return number, number
    spans = [_span(node) for node in ast.walk(tree) if isinstance(node, ast.stmt)]
    around = [(first, last) for first, last in spans if first <= number <= last]
    return min(around, key=lambda span: span[1] - span[0], default=(number, number))


def _span(node: ast.stmt) -> tuple[int, int]:
    body = getattr(node, "body", None) or getattr(node, "cases", None)
    if not body:
        return node.lineno, node.end_lineno or node.lineno
    inner = body[0].pattern if isinstance(body[0], ast.match_case) else body[0]
    above = min([inner.lineno, *(one.lineno for one in getattr(inner, "decorator_list", ()))]) - 1
    return node.lineno, max(node.lineno, above)


def _window(number: int, first: int, last: int) -> tuple[int, int]:
    if last - first < _MOST_LINES:
        return first, last
    first = max(first, min(number - _LINES_BEFORE, last - _MOST_LINES + 1))
    return first, first + _MOST_LINES - 1


def _cut(text: str, start: int) -> tuple[str, int]:
    """`text` made harmless and at most about `_MAX_LINE` characters long, and by how much `start` moves to the left."""
    if len(text) <= _MAX_LINE:
        shown = clean(text[:start])
        return shown + clean(text[start:]), start - len(shown)
    begin = max(min(start - _BEFORE_THE_PLACE, len(text) - _MAX_LINE), 0)
    before = ("..." if begin else "") + clean(text[begin:start])
    after = clean(text[start : begin + _MAX_LINE]) + ("..." if begin + _MAX_LINE < len(text) else "")
    return before + after, start - len(before)


def _marked(text: str, fault: Fault) -> tuple[int, int]:
    """Where the operation stands in the line; the line's first character where it is not named."""
    access = fault.access.operation if fault.access is not None else ""
    for word in (fault.operation, fault.operation.rpartition(".")[2], f"tl.{access}" if access else "", access):
        found = re.search(rf"(?<!\w){re.escape(word)}", text) if word else None
        if found:
            return found.start(), len(word)
    return len(text) - len(text.lstrip()), 1


def _pieces(text: str, room: int) -> Iterator[tuple[int, str]]:
    """`text` in pieces of at most `room` cells, each with the index where it begins, broken at spaces if possible."""
    begin = 0
    while begin < len(text) or begin == 0:
        end, cells = begin, 0
        while end < len(text) and (cells := cells + cell_len(text[end])) <= room:
            end += 1
        end = max(end, begin + 1)
        space = text.rfind(" ", begin, end)
        if end < len(text) and space > begin and text[begin:space].strip():
            end = space + 1
        yield begin, text[begin:end]
        begin = end
