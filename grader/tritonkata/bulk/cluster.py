"""Grading on a cluster, through dask.distributed: any scheduler that it can reach, by address or scheduler file.

The gradebook stays here; a lost worker's submissions are given to others by dask, and those of a scheduler that went
away are given out again once it is back.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from tritonkata.bulk.connection import Connection
from tritonkata.bulk.grading import Outcome
from tritonkata.bulk.parcel import packed
from tritonkata.bulk.tasks import Tasks
from tritonkata.gradebook.store import Gradebook
from tritonkata.gradebook.types import Pending, Run
from tritonkata.model.course import Kata

PATIENCE_SECONDS = 600.0
"""How long a cluster may be away before the run gives up; what is graded is kept."""

_CONNECT_SECONDS = 10.0
_PAUSE_SECONDS = 2.0


class ClusterProblem(Exception):
    """The cluster cannot be used: one line with the address, what is wrong, and what to do."""


class NoScheduler(ClusterProblem):
    """There is no scheduler file, and no address: a mistake at first, and later a scheduler that is being restarted."""


def grade_on_cluster(
    book: Gradebook,
    run: Run,
    kata: Kata,
    address: str,
    *,
    stopping: Callable[[], bool] = lambda: False,
    patience_seconds: float = PATIENCE_SECONDS,
    apart: bool | None = None,
    tell: Callable[[str], None] = lambda _: None,
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
        tell: takes a line about what is waited for.

    Raises:
        ClusterProblem: dask is not installed, there can be no such cluster, or it does not come (back) in time.
    """
    _where(address)
    parcel = packed(kata)
    apart = run.settings.engine == "gpu" if apart is None else apart
    seen = time.monotonic()
    done: set[int] = set()
    told = False

    def waiting() -> Iterator[Pending]:
        # What the grader failed on is pending again, and left to the next command.
        return (one for one in book.pending(run) if one.id not in done)

    while any(True for _ in waiting()):
        try:
            with _client(address) as client:
                tasks = Tasks(client, run, kata.slug, parcel, apart=apart)
                for outcome in Connection(client, tasks, book, run, kata).outcomes(waiting(), stopping, tell):
                    seen = time.monotonic()
                    done.add(outcome.submission.id)
                    yield outcome
                told = False
        except _away() as error:
            away = f"{address}: the cluster is away ({type(error).__name__}: {error}); start its scheduler"
            if time.monotonic() - seen > patience_seconds:
                raise ClusterProblem(f"{away} again, and give the same command: what is graded is kept") from error
            if not told:
                tell(f"waiting: {away}")
                told = True
            time.sleep(_PAUSE_SECONDS)
        if stopping():
            return


def _client(address: str) -> Any:
    try:
        from dask.distributed import Client
    except ImportError as error:
        raise ClusterProblem(
            "dask.distributed is not installed: python -m pip install 'tritonkata[cluster]'"
        ) from error
    return Client(**_where(address), timeout=_CONNECT_SECONDS)  # type: ignore[no-untyped-call]


def _where(address: str) -> dict[str, Any]:
    """The address as what dask takes.

    Raises:
        NoScheduler: it is neither an address nor a scheduler file.
    """
    if not Path(address).is_file():
        if re.search(r":\d+/?$", address) is None:
            raise NoScheduler(f"{address}: there is no such scheduler file, and an address is like tcp://host:8786")
        return {"address": address}
    try:
        known = json.loads(Path(address).read_text(encoding="utf-8"))["address"]
    except (OSError, ValueError, KeyError, TypeError):
        known = None
    if not isinstance(known, str):
        raise NoScheduler(f"{address}: this is no scheduler file; `dask scheduler --scheduler-file FILE` writes one")
    return {"scheduler_file": address}


def _away() -> tuple[type[BaseException], ...]:
    """What is raised when a scheduler cannot be reached any more."""
    from concurrent.futures import CancelledError

    try:
        from dask.distributed import CancelledError as Forgotten
        from distributed.comm.core import CommClosedError
    except ImportError:
        return (OSError, NoScheduler)
    return (OSError, NoScheduler, CommClosedError, CancelledError, Forgotten, TimeoutError)
