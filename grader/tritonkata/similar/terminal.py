"""A comparison on a terminal, in fewer than 100 columns."""

from __future__ import annotations

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from tritonkata.feedback.clean import one_line
from tritonkata.feedback.numbers import plural
from tritonkata.similar.structures import COMMON_AT_LEAST, COMMON_SHARE
from tritonkata.similar.types import Comparison, Lines, Side

MAX_WIDTH = 99
SHOWN = 50
_MOST_RANGES = 6

CAUTION = (
    "A place to look and no verdict: short drills are alike by nature. Read both files, and ask, before you decide."
)


def print_comparison(comparison: Comparison, names: dict[str, str], console: Console) -> None:
    """Print the pairs and what was compared.

    Args:
        comparison: what was found.
        names: the names of students by id, where they are known.
        console: where to.
    """
    width = min(console.width, MAX_WIDTH)
    if comparison.pairs:
        console.print(_table(comparison, names, width))
    for line in closing_lines(comparison):
        console.print(Text(line), width=width)


def closing_lines(comparison: Comparison) -> tuple[str, ...]:
    """How many pairs, what they mean, and what was left out of the comparison."""
    least = f"{100 * comparison.least:g} %"
    found = len(comparison.pairs)
    more = "at least " if comparison.cut else ""
    counted = f"{more}{plural(found, 'pair')}" if found else "no pair"
    hidden = f" The first {SHOWN} are shown; --json gives more." if found > SHOWN else ""
    short = (
        f"; {plural(comparison.too_short, 'submission')} with too little of their own left out"
        if comparison.too_short
        else ""
    )
    return (
        f"{counted[:1].upper()}{counted[1:]} of different students from {least} on, among "
        f"{plural(comparison.compared, 'submission')}{short}.{hidden}",
        CAUTION,
        "The share is of the shorter file's fingerprints. Names, literals, comments and the order of functions do not "
        f"count, nor does what the skeleton has or what more than {100 * COMMON_SHARE:g} % of the class has (and more "
        f"than {COMMON_AT_LEAST} files); files that differ in nothing else are one there.",
    )


def _table(comparison: Comparison, names: dict[str, str], width: int) -> Table:
    table = Table(box=box.SIMPLE_HEAD, width=width, pad_edge=False)
    table.add_column("share", justify="right", no_wrap=True)
    for _ in range(2):
        table.add_column("student", overflow="fold", ratio=3)
        table.add_column("lines", overflow="fold", ratio=2)
    for pair in comparison.pairs[:SHOWN]:
        cells = (cell for side in (pair.left, pair.right) for cell in (_who(side, names), _lines(side.lines)))
        # Rounded down, so that 100 % means all.
        table.add_row(f"{int(100 * pair.share)} %", *(Text(cell) for cell in cells))
    return table


def _who(side: Side, names: dict[str, str]) -> str:
    told = [one_line(f"{one} ({names[one]})" if names.get(one, one) != one else one) for one in side.students]
    attempt = [f"attempt {side.attempt}"] if side.attempt > 1 else []
    return "\n".join([*told, *attempt])


def _lines(lines: Lines) -> str:
    shown = [str(first) if first == last else f"{first}-{last}" for first, last in lines[:_MOST_RANGES]]
    more = len(lines) - len(shown)
    return ", ".join(shown) + (f", {more} more" if more > 0 else "")
