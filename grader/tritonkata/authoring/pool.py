"""Processes that grade files side by side, and that end when the command ends."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from types import FrameType
from typing import Generic, ParamSpec, TypeVar

from tritonkata.engine.client import GraderError

P = ParamSpec("P")
T = TypeVar("T")

_working = False
_told_to_end = False


class Pool:
    """Processes that call functions of a module; see `open_pool`."""

    def __init__(self, executor: ProcessPoolExecutor) -> None:
        self._executor = executor

    def submit(self, function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Job[T]:
        """Call a function of a module in one of the processes, with values that can be pickled."""
        return Job(self._executor.submit(_called, function, *args, **kwargs))


class Job(Generic[T]):
    """One call in another process."""

    def __init__(self, future: Future[T]) -> None:
        self._future = future

    def result(self) -> T:
        """What it returned.

        Raises:
            GraderError: a process ended by itself.
            Exception: what the function raised.
        """
        try:
            return self._future.result()
        except BrokenProcessPool as error:
            raise GraderError(
                "a process that grades files was ended, perhaps for want of memory; try fewer at once: --jobs 1"
            ) from error


@contextmanager
def open_pool(jobs: int) -> Iterator[Pool]:
    """A pool of `jobs` processes. Where the block is left by an exception, what they run is ended and cleaned up."""
    before = {process.pid for process in multiprocessing.active_children()}
    # Not forked: grading starts threads, and processes of its own.
    executor = ProcessPoolExecutor(jobs, multiprocessing.get_context("spawn"), _prepare)
    try:
        yield Pool(executor)
    except BaseException:
        for process in multiprocessing.active_children():
            if process.pid not in before:
                process.terminate()
        raise
    finally:
        executor.shutdown(cancel_futures=True)


def _prepare() -> None:
    """Begin a process of the pool."""
    # Ctrl-C on a terminal reaches every process of the command; the first one decides.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, _end)
    # What a hidden test prints is no part of the command's output.
    os.dup2(2, 1)
    threading.Thread(target=_follow_parent, daemon=True).start()


def _follow_parent() -> None:
    """End with the process that began this one, however that ended."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os.kill(os.getpid(), signal.SIGTERM)


def _called(function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
    global _working  # noqa: PLW0603 - a signal's handler knows nothing else of this process
    _working = True
    try:
        return function(*args, **kwargs)
    finally:
        _working = False
        if _told_to_end:
            os._exit(128 + signal.SIGTERM)


def _end(number: int, frame: FrameType | None) -> None:  # noqa: ARG001 - the signal module's signature
    """Unwind what runs, so that its workers and files go with it."""
    global _told_to_end
    first, _told_to_end = not _told_to_end, True
    if not _working:
        os._exit(128 + number)
    if first:
        raise KeyboardInterrupt
