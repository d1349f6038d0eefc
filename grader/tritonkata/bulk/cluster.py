"""Grading on a cluster, through dask.distributed: any scheduler that it can reach, by address or scheduler file.

The gradebook stays here; a lost worker's submissions are given to others by dask, and those of a scheduler that went
away are given out again once it is back.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from tritonkata.bulk.grading import Outcome
from tritonkata.bulk.one import spoilt
from tritonkata.bulk.parcel import packed
from tritonkata.bulk.tasks import Tasks
from tritonkata.gradebook.store import Gradebook
from tritonkata.gradebook.types import Pending, Run
from tritonkata.model.course import Kata
from tritonkata.model.report import Report

PATIENCE_SECONDS = 600.0
"""How long a cluster may be away before the run gives up; what is graded is kept."""

WAITING_A_THREAD = 2

_CONNECT_SECONDS = 10.0
_PAUSE_SECONDS = 2.0
_LOOK_SECONDS = 0.5


class ClusterProblem(Exception):
    """The cluster cannot be used: one line with the address, what is wrong, and what to do."""


def grade_on_cluster(
    book: Gradebook,
    run: Run,
    kata: Kata,
    address: str,
    *,
    stopping: Callable[[], bool] = lambda: False,
    patience_seconds: float = PATIENCE_SECONDS,
    apart: bool | None = None,
) -> Iterator[Outcome]:
    """Grade what has no report of this run yet; each report is kept before it is given.

    Args:
        book: open for grading, in this process alone.
        run: how to grade.
        kata: sent along, so that workers need no course of their own.
        address: of the scheduler (`tcp://host:8786`), or the path of its scheduler file.
        stopping: once true, what is being graded is finished and nothing more begun.
        patience_seconds: how long the cluster may be away.
        apart: trace on any worker, and grade only on those with the resource `GPU`; by default with the GPU engine.

    Raises:
        ClusterProblem: dask is not installed, or the cluster does not come (back) in time.
    """
    parcel = packed(kata)
    apart = run.settings.engine == "gpu" if apart is None else apart
    seen = time.monotonic()
    done: set[int] = set()

    def waiting() -> Iterator[Pending]:
        # What the grader failed on is pending again, and left to the next command.
        return (one for one in book.pending(run) if one.id not in done)

    while any(True for _ in waiting()):
        try:
            with _client(address) as client:
                tasks = Tasks(client, run, kata.slug, parcel, apart=apart)
                for outcome in _on(client, book, run, kata, tasks, waiting(), stopping):
                    seen = time.monotonic()
                    done.add(outcome.submission.id)
                    yield outcome
        except _away() as error:
            if time.monotonic() - seen > patience_seconds:
                raise ClusterProblem(
                    f"{address}: the cluster is away ({type(error).__name__}: {error}); start its scheduler again, and "
                    "give the same command: what is graded is kept"
                ) from error
            time.sleep(_PAUSE_SECONDS)
        if stopping():
            return


def _on(
    client: Any,
    book: Gradebook,
    run: Run,
    kata: Kata,
    tasks: Tasks,
    waiting: Iterator[Pending],
    stopping: Callable[[], bool],
) -> Iterator[Outcome]:
    """What one connection gives, until all is graded or the connection ends."""
    from dask.distributed import wait

    given: dict[Any, Pending] = {}
    while True:
        if client.status != "running":
            raise ConnectionError("the scheduler closed the connection")
        threads = max(1, sum(client.nthreads().values()))
        while len(given) < WAITING_A_THREAD * threads and not stopping() and (one := next(waiting, None)) is not None:
            given[tasks.grading(one)] = one
        if not given:
            return
        for future in _ended(wait, given):
            one = given.pop(future)
            again = tasks.without_plans(future, one)
            if again is not None:
                given[again] = one
                continue
            report = _report_of(future, kata, run, one, tasks)
            book.put_report(one.id, run, report)
            yield Outcome(one, report)


def _ended(wait: Callable[..., Any], given: dict[Any, Pending]) -> list[Any]:
    """Futures that have ended; none if nothing does within a moment."""
    from dask.distributed import TimeoutError as TookLonger

    try:
        found = wait(list(given), timeout=_LOOK_SECONDS, return_when="FIRST_COMPLETED")
    except TookLonger:
        return []
    return list(found.done)


def _report_of(future: Any, kata: Kata, run: Run, one: Pending, tasks: Tasks) -> Report:
    if future.status in ("cancelled", "lost"):
        raise ConnectionError("the scheduler forgot a submission")
    if future.status == "error":
        error = future.exception()
        return spoilt(kata, run, one, f"on the cluster: {type(error).__name__}: {error}; give the same command again")
    report: Report
    report, wanted = future.result()
    tasks.learn(wanted)
    return report


def _client(address: str) -> Any:
    try:
        from dask.distributed import Client
    except ImportError as error:
        raise ClusterProblem(
            "dask.distributed is not installed: python -m pip install 'tritonkata[cluster]'"
        ) from error
    where: dict[str, Any] = {"scheduler_file": address} if Path(address).is_file() else {"address": address}
    return Client(**where, timeout=_CONNECT_SECONDS)  # type: ignore[no-untyped-call]


def _away() -> tuple[type[BaseException], ...]:
    """What is raised when a scheduler cannot be reached any more."""
    from concurrent.futures import CancelledError

    try:
        from dask.distributed import CancelledError as Forgotten
        from distributed.comm.core import CommClosedError
    except ImportError:
        return (OSError,)
    return (OSError, CommClosedError, CancelledError, Forgotten, TimeoutError)
