"""The learner's own line, with a marker under the part that matters."""

from __future__ import annotations

from dataclasses import dataclass

from rich.cells import cell_len

from tritonkata.feedback.clean import clean
from tritonkata.model.faults import Fault

_MAX_LINE = 200


@dataclass(frozen=True)
class Excerpt:
    """One source line, without its indent. `number` counts from 1; `marker` lies under `text`."""

    number: int
    text: str
    marker: str

    @property
    def lines(self) -> tuple[str, str]:
        """Two lines of equal indent: the source with its number, and the marker."""
        label = f"{self.number} | "
        return label + self.text, " " * (len(label) - 2) + "| " + self.marker


def fault_line(fault: Fault | None) -> int | None:
    """The line of the learner's file that a fault points at, if any."""
    if fault is None:
        return None
    if fault.line is None and fault.access is not None:
        return fault.access.line
    return fault.line


def excerpt(fault: Fault | None, source: str | None) -> Excerpt | None:
    """The line that `fault` points at, or None without a line, a source, or text on that line."""
    line = fault_line(fault)
    if fault is None or line is None or source is None:
        return None
    # Only these end a line for Python; str.splitlines() knows more and would shift the numbers.
    lines = source.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    if not 1 <= line <= len(lines) or not lines[line - 1].strip():
        return None
    text = clean(lines[line - 1].lstrip("\ufeff").strip(), limit=_MAX_LINE)
    start, length = _marked(text, fault)
    return Excerpt(line, text, " " * start + "^" * length)


def _marked(text: str, fault: Fault) -> tuple[int, int]:
    for word in (fault.operation, fault.operation.rpartition(".")[2]):
        start = text.find(word) if word else -1
        if start >= 0:
            return cell_len(text[:start]), cell_len(word)
    return 0, 1
