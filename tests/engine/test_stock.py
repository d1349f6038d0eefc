"""Workers made ready ahead of need: each is given once, one that died is not given, and none is left in the end."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from processes import below, parent, wait_for

from tritonkata.boundary.messages import InterpreterReply, Ready
from tritonkata.boundary.process import WorkerProcess
from tritonkata.boundary.sandbox import SandboxUnavailable, find_bubblewrap
from tritonkata.boundary.template import Forked, Template, TemplateFailed, TemplateLine
from tritonkata.engine.stock import INTERPRETER, TRACER, Stock, shared_templates


@pytest.fixture(params=["started", "forked"])
def bubblewrap(request: pytest.FixtureRequest) -> str | None:
    """Without a sandbox workers are started, and wait; in one they are forked from a template."""
    if request.param == "started":
        return None
    try:
        return find_bubblewrap()
    except SandboxUnavailable as error:
        pytest.skip(str(error))


FORKED = pytest.mark.parametrize("bubblewrap", ["forked"], indirect=True)
"""Nothing is forked without a sandbox."""


@pytest.fixture
def stock() -> Iterator[Stock]:
    made = Stock(ahead=1)
    yield made
    made.close()


def is_ready(worker: WorkerProcess) -> bool:
    return isinstance(worker.channel.receive(InterpreterReply, seconds=60).message, Ready)


def waiting(stock: Stock) -> list[int]:
    """Process ids of what stands ready for a worker to come of it, in the order in which it was started."""
    started = [one.pid for kind in stock._waiting.values() for one in kind]
    return started + [template._process.pid for template in stock._templates.values() if template is not None]


def test_a_worker_is_given_once_and_the_next_one_is_ready(stock: Stock, bubblewrap: str | None) -> None:
    first = stock.take(INTERPRETER, bubblewrap, ())
    second = stock.take(INTERPRETER, bubblewrap, ())
    assert first.pid != second.pid
    assert is_ready(first)
    assert is_ready(second)
    for worker in (first, second):
        worker.end()


def test_what_waited_and_died_is_replaced(stock: Stock, bubblewrap: str | None) -> None:
    first = stock.take(INTERPRETER, bubblewrap, ())
    for number in waiting(stock):
        os.killpg(number, signal.SIGKILL)
        wait_for(lambda number=number: ended(number), "it did not die")  # type: ignore[misc]
    second, third = (stock.take(INTERPRETER, bubblewrap, ()) for _ in range(2))
    assert is_ready(second)
    assert is_ready(third)
    assert bubblewrap is None or INTERPRETER in {module for module, *_ in stock._proven}
    for worker in (first, second, third):
        worker.end()


@FORKED
def test_a_passing_trouble_costs_no_worker_that_is_at_work(
    stock: Stock, bubblewrap: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where none can be forked for a moment one is started, and the forks that serve others go on."""
    first = stock.take(INTERPRETER, bubblewrap, ())
    with monkeypatch.context() as patch:
        patch.setattr(Template, "fork", _refused)
        second = stock.take(INTERPRETER, bubblewrap, ())
    third = stock.take(INTERPRETER, bubblewrap, ())
    assert stock.why_not_forked == "no room"
    assert first.is_running
    assert [isinstance(worker._process, Forked) for worker in (first, second, third)] == [True, False, True]
    for worker in (first, second, third):
        assert is_ready(worker)
        worker.end()


def _refused(_: Template) -> WorkerProcess:
    raise TemplateFailed("no room")


def ended(number: int) -> bool:
    try:
        return (Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0]) == "Z"
    except OSError:
        return True


def test_other_folders_to_hide_make_another_kind(stock: Stock, bubblewrap: str | None, tmp_path: Path) -> None:
    """A worker that was made ready for one course must not serve another."""
    first = stock.take(INTERPRETER, bubblewrap, ())
    before = set(waiting(stock))
    second = stock.take(INTERPRETER, bubblewrap, (tmp_path,))
    assert second.pid not in before
    assert set(waiting(stock)) - before
    for worker in (first, second):
        worker.end()


def test_a_tracer_is_no_interpreter(stock: Stock, bubblewrap: str | None) -> None:
    for module in (TRACER, INTERPRETER, TRACER):
        worker = stock.take(module, bubblewrap, ())
        assert is_ready(worker)
        worker.end()


def test_nothing_is_left_once_the_stock_is_closed(bubblewrap: str | None) -> None:
    before = below(os.getpid())
    stock = Stock(ahead=2)
    worker = stock.take(INTERPRETER, bubblewrap, ())
    assert waiting(stock)
    stock.close()
    worker.end()
    assert below(os.getpid()) == before


def test_none_is_made_ready_for_one_submission_alone(bubblewrap: str | None) -> None:
    stock = Stock()
    worker = stock.take(INTERPRETER, bubblewrap, ())
    assert waiting(stock) == []
    worker.end()
    stock.close()


@FORKED
def test_stocks_of_several_processes_have_one_template(bubblewrap: str | None) -> None:
    """As in a crew, whose members each have a stock; what one gives up the others go on with."""
    with shared_templates(()) as lines:
        first, second = (Stock(ahead=1, lines={kind: _handed_on(line) for kind, line in lines.items()}) for _ in "12")
        workers = [stock.take(INTERPRETER, bubblewrap, ()) for stock in (first, second)]
        assert all(isinstance(worker._process, Forked) for worker in workers)
        assert len({parent(worker.pid) for worker in workers}) == 1
        first.close()
        workers.append(second.take(INTERPRETER, bubblewrap, ()))
        for worker in workers:
            assert is_ready(worker)
            worker.end()
        second.close()


@FORKED
def test_where_a_shared_template_ended_a_stock_makes_its_own(bubblewrap: str | None) -> None:
    with shared_templates(()) as lines:
        stock = Stock(ahead=1, lines={kind: _handed_on(line) for kind, line in lines.items()})
        stock.take(INTERPRETER, bubblewrap, ()).end()
    started = stock.take(INTERPRETER, bubblewrap, ())
    forked = stock.take(INTERPRETER, bubblewrap, ())
    assert [isinstance(worker._process, Forked) for worker in (started, forked)] == [False, True]
    assert "ended" in stock.why_not_forked
    for worker in (started, forked):
        assert is_ready(worker)
        worker.end()
    stock.close()


def _handed_on(line: TemplateLine) -> TemplateLine:
    return TemplateLine(line._control.dup())
