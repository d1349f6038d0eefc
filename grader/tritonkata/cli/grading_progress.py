"""How far the grading of a class is."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from tritonkata.bulk.grading import Outcome

_LINE_SECONDS = 10.0


@contextmanager
def grading_progress(total: int, *, quiet: bool) -> Iterator[Callable[[Outcome], None]]:
    """A bar on a terminal, else a line now and then: done, rate, remaining time, and how many did not pass."""
    if quiet or not total:
        yield lambda _: None
        return
    if not sys.stderr.isatty():
        yield _lines_now_and_then(total)
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns: tuple[Any, ...] = (
        TextColumn("grading"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]} a minute,"),
        TimeRemainingColumn(),
        TextColumn("left, {task.fields[bad]} not passed"),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("", total=total, rate="-", bad=0)
        tally = _Tally()

        def advance(outcome: Outcome) -> None:
            tally.add(outcome)
            progress.update(task, completed=min(tally.done, total), rate=f"{tally.a_minute:.1f}", bad=tally.bad)

        yield advance


class _Tally:
    """What was done so far."""

    def __init__(self) -> None:
        self.began = time.monotonic()
        self.done = 0
        self.bad = 0

    def add(self, outcome: Outcome) -> None:
        self.done += 1
        self.bad += outcome.report.verdict != "pass"

    @property
    def a_minute(self) -> float:
        return 60 * self.done / max(time.monotonic() - self.began, 1e-3)


def _lines_now_and_then(total: int) -> Callable[[Outcome], None]:
    tally = _Tally()
    told = [time.monotonic()]

    def advance(outcome: Outcome) -> None:
        tally.add(outcome)
        if time.monotonic() - told[0] >= _LINE_SECONDS:
            told[0] = time.monotonic()
            left = time_left(60 * (total - tally.done) / max(tally.a_minute, 1e-3))
            text = f"{tally.done} of {total} graded, {tally.a_minute:.1f} a minute, {left}"
            click.echo(f"{text}, {tally.bad} not passed", err=True)

    return advance


def time_left(seconds: float) -> str:
    """How long it will take, in the unit that says most."""
    for unit, length in (("hour", 3600), ("minute", 60)):
        if seconds >= 2 * length:
            return f"{seconds / length:.0f} {unit}s left"
    return f"{seconds:.0f} {'second' if round(seconds) == 1 else 'seconds'} left"
