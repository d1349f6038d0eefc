"""Workers started ahead of need: each is given once, one that died is not given, and none is left in the end."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tritonkata.boundary.messages import InterpreterReply, Ready
from tritonkata.boundary.process import WorkerProcess
from tritonkata.boundary.sandbox import SandboxUnavailable, find_bubblewrap
from tritonkata.engine.stock import Stock

MODULE = "tritonkata.worker.interpreter"


@pytest.fixture
def bubblewrap() -> str | None:
    try:
        return find_bubblewrap()
    except SandboxUnavailable:
        return None


@pytest.fixture
def stock() -> Iterator[Stock]:
    made = Stock(ahead=1)
    yield made
    made.close()


def is_ready(worker: WorkerProcess) -> bool:
    return isinstance(worker.channel.receive(InterpreterReply, seconds=60).message, Ready)


def test_a_worker_is_given_once_and_the_next_one_waits_already(stock: Stock, bubblewrap: str | None) -> None:
    first = stock.take(MODULE, bubblewrap, ())
    second = stock.take(MODULE, bubblewrap, ())
    assert first.pid != second.pid
    assert is_ready(first)
    assert is_ready(second)
    for worker in (first, second):
        worker.end()


def test_a_waiting_worker_that_died_is_not_given(stock: Stock, bubblewrap: str | None) -> None:
    first = stock.take(MODULE, bubblewrap, ())
    waiting = next(iter(stock._waiting.values()))[0]
    os.kill(waiting.pid, signal.SIGKILL)
    while waiting.is_running:
        time.sleep(0.01)
    second = stock.take(MODULE, bubblewrap, ())
    assert second.pid != waiting.pid
    assert is_ready(second)
    for worker in (first, second):
        worker.end()


def test_other_folders_to_hide_make_another_kind(stock: Stock, bubblewrap: str | None, tmp_path: Path) -> None:
    """A worker that was started for one course must not serve another."""
    first = stock.take(MODULE, bubblewrap, ())
    waiting = next(iter(stock._waiting.values()))[0]
    second = stock.take(MODULE, bubblewrap, (tmp_path,))
    assert second.pid != waiting.pid
    for worker in (first, second):
        worker.end()


def test_nothing_waits_any_more_once_the_stock_is_closed(bubblewrap: str | None) -> None:
    stock = Stock(ahead=2)
    worker = stock.take(MODULE, bubblewrap, ())
    waiting = [one for kind in stock._waiting.values() for one in kind]
    assert len(waiting) == 2
    stock.close()
    assert not [one for one in waiting if one.is_running]
    worker.end()
