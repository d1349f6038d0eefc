"""What a grader keeps from one submission to the next. Nothing in it has seen a submission's Python."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from tritonkata.engine.hosting import Host
from tritonkata.engine.stock import Lines, Stock


@dataclass(frozen=True)
class Station:
    """Workers started ahead, and the launcher's host; without a host each submission gets a launcher of its own."""

    stock: Stock = field(default_factory=Stock)
    host: Host | None = None


@contextmanager
def open_station(*, ahead: int = 1, host: Host | None = None, lines: Lines | None = None) -> Iterator[Station]:
    """A station for many submissions, one after another; what it started ends with the block."""
    station = Station(Stock(ahead, lines), host)
    try:
        yield station
    finally:
        station.stock.close()
        if host is not None:
            host.end()
