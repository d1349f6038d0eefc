"""What a cluster's worker does with a submission: it has a crew of its own, as `kata grade` has on one machine.

The crew is started for the first submission: so many processes as the worker has threads, and the GPUs that it can see.
"""

from __future__ import annotations

import atexit
import functools
import logging
import multiprocessing
import time
from contextlib import ExitStack
from threading import Lock, Thread
from typing import Any
from weakref import WeakKeyDictionary, WeakSet

from tritonkata.bulk.one import graded
from tritonkata.bulk.parcel import unpacked
from tritonkata.bulk.tracing import traced
from tritonkata.crew.crew import Crew, NobodyLeft, open_crew
from tritonkata.crew.job import Job
from tritonkata.engine.ahead import Ahead, Plans, Wanted
from tritonkata.engine.machine import gpu_problem, gpus_for
from tritonkata.gradebook.types import Pending, Run
from tritonkata.model.course import Kata
from tritonkata.model.report import Report

_LEAVE_SECONDS = 10.0
_EVENTS_SECONDS = 0.5
"""Until then what is doubtful has been told."""


def graded_there(
    parcel: bytes, slug: str, run: Run, one: Pending, plans: Plans | None, topic: str
) -> tuple[Report, Wanted | None]:
    """Runs on a worker of the cluster: hands the submission to the worker's own crew.

    If the crew makes that call again later, because the GPU was set aside, the submission's number is an event of
    `topic`.

    Raises:
        NobodyLeft: this worker cannot grade any more, and leaves.
    """
    kata = unpacked(bytes(parcel), slug)
    try:
        if run.settings.engine == "gpu" and (problem := _gpu_problem()) is not None:
            raise NobodyLeft(f"no GPU can be used there: {problem}")
        job = _crew(run.settings.engine).submit(graded_with, kata, run, one, plans or {})
        _asked[job] = (topic, one.id)
        return job.result()
    except NobodyLeft as error:
        _leave(str(error))
        raise


def graded_with(kata: Kata, run: Run, one: Pending, plans: Plans) -> tuple[Report, Wanted | None]:
    """In a process of the crew: the report, and which plans it asked for."""
    ahead = Ahead(plans)
    report = graded(kata, run, one, ahead)
    return report, ahead.wanted


def traced_there(parcel: bytes, slug: str, run: Run, one: Pending, wanted: Wanted) -> Plans:
    """Runs on a worker of the cluster, with a GPU or without one."""
    kata = unpacked(bytes(parcel), slug)
    return _crew(run.settings.engine).submit(traced, kata, run, one, wanted).result()


_gpu_problem = functools.cache(gpu_problem)
_log = logging.getLogger("distributed.worker.tritonkata")
_crews: dict[str, Crew] = {}
_asked: WeakKeyDictionary[Job[Any], tuple[str, int]] = WeakKeyDictionary()
"""Of each job of grading: whom to tell if it is made again, and the submission's number."""

_open = ExitStack()
_opening = Lock()
atexit.register(_open.close)


def _leave(reason: str) -> None:
    """Leave the cluster, so that what this worker was given goes to others."""
    from dask.distributed import Status, get_worker

    _log.error("this worker leaves the cluster: %s", reason)
    worker = get_worker()
    time.sleep(_EVENTS_SECONDS)
    worker.loop.add_callback(worker.close_gracefully, restart=False)
    # What failed here would come back at once, as often as it may be tried.
    deadline = time.monotonic() + _LEAVE_SECONDS
    while worker.status is Status.running and time.monotonic() < deadline:
        time.sleep(0.05)


def _crew(engine: str) -> Crew:
    """The crew of this worker process, started for the first submission."""
    with _opening:
        if engine not in _crews:
            from dask.distributed import get_worker

            worker = get_worker()
            # A worker that a nanny started is a daemon, which may not start processes. A crew's end by themselves.
            multiprocessing.current_process()._config["daemon"] = False  # type: ignore[attr-defined]
            crew = _open.enter_context(open_crew(int(worker.state.nthreads), gpus=gpus_for(engine)))
            Thread(target=_watch, args=(crew, worker), name="watch", daemon=True).start()
            _crews[engine] = crew
        return _crews[engine]


def _watch(crew: Crew, worker: Any) -> None:
    """Tell of submissions that are graded a second time: who asked has the first report already."""
    answered: WeakSet[Job[Any]] = WeakSet()
    while True:
        job = crew.completed()
        if job in answered and job in _asked:
            worker.log_event(*_asked[job])
        answered.add(job)
        del job  # it holds a submission and a report, and the next may be long in coming
