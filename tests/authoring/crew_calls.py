"""Functions that tests have called in other processes, where a test module cannot be imported."""

from __future__ import annotations

import os
import signal
from contextlib import nullcontext
from pathlib import Path

from processes import running, wait_for
from sheets import SPIN, Sheet

from tritonkata.boundary.sandbox import find_bubblewrap
from tritonkata.boundary.template import Forked
from tritonkata.crew.member import station
from tritonkata.doing import doing
from tritonkata.engine.sharing import SharedHost
from tritonkata.engine.stock import INTERPRETER


def exit_the_first_time(mark: Path) -> int:
    if not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return os.getpid()


def gpu_of_this_process(spoil: int | None = None) -> int:
    """The GPU that this process takes turns on; `spoil` sets that one aside."""
    host = station().host
    assert isinstance(host, SharedHost)
    if host.device_index == spoil:
        host.set_aside("a copy does not hold what was copied")
    return host.device_index


def end(code: int, what: str = "") -> None:
    """End this process with an exit code, or by a signal where that is negative, while it does something."""
    with doing("something else that is over"):
        pass
    with doing("all of it"), doing(what) if what else nullcontext():
        os.kill(os.getpid(), -code) if code < 0 else os._exit(code)


def answered(hidden: tuple[Path, ...], word: str) -> tuple[bool, str]:
    """Whether a worker of this process's stock was forked, and what it says."""
    worker = station().stock.take(INTERPRETER, find_bubblewrap(), hidden)
    try:
        return isinstance(worker._process, Forked), Sheet(worker, SPIN).ask("say", word)
    finally:
        worker.end()


def end_beside_a_worker(mark: Path, hidden: tuple[Path, ...], marker: str) -> str:
    """End this process the first time, while a worker of it is at work and will never be done."""
    if mark.exists():
        return "once more"
    mark.touch()
    worker = station().stock.take(INTERPRETER, find_bubblewrap(), hidden)
    Sheet(worker, SPIN).send("spin", marker)
    wait_for(lambda: running(marker), "the child never started")
    os.kill(os.getpid(), signal.SIGKILL)
    return "never"
