"""What a cluster's workers are asked to do for each submission.

A worker that takes its first submission starts a crew of its own, as `kata grade` does on one machine: so many
processes as the worker has threads, and the GPUs that it can see.
"""

from __future__ import annotations

import atexit
import threading
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

from tritonkata.bulk.one import graded
from tritonkata.bulk.parcel import unpacked
from tritonkata.bulk.tracing import traced
from tritonkata.crew.crew import Crew, open_crew
from tritonkata.engine.ahead import Ahead, Plans, Wanted
from tritonkata.engine.machine import gpus_for
from tritonkata.gradebook.types import Pending, Run
from tritonkata.model.course import Kata
from tritonkata.model.report import Report

GPU = "GPU"
_TRIES = 3


class Tasks:
    """What is asked of a cluster for each submission.

    With `apart` a submission's plans are made first, by any worker, once a grading has told which layouts the kata asks
    for; a worker with the resource `GPU` then replays them.
    """

    def __init__(self, client: Any, run: Run, slug: str, parcel: bytes, *, apart: bool) -> None:
        self._client = client
        self._run = run
        self._slug = slug
        self._parcel = client.scatter(parcel, broadcast=True, hash=True) if client.nthreads() else parcel
        self._resources = {GPU: 1} if apart else None
        self._wanted: Wanted | None = None
        self._with_plans: set[str] = set()

    def grading(self, one: Pending) -> Any:
        """The future of a report, and of what was wanted for it."""
        if self._resources is None or self._wanted is None:
            return self._graded(one, None)
        plans = self._submit(traced_there, one, self._wanted)
        future = self._graded(one, plans)
        self._with_plans.add(future.key)
        return future

    def without_plans(self, future: Any, one: Pending) -> Any | None:
        """Another future, where one failed to which plans were to come: their worker may be at fault."""
        if future.status != "error" or future.key not in self._with_plans:
            return None
        return self._graded(one, None)

    def learn(self, wanted: Wanted | None) -> None:
        """Note what a grading asked for."""
        if wanted is not None:
            self._wanted = wanted.joined(self._wanted)

    def _graded(self, one: Pending, plans: Any) -> Any:
        return self._submit(graded_there, one, plans, resources=self._resources)

    def _submit(self, function: Callable[..., Any], one: Pending, more: Any, **how: Any) -> Any:
        return self._client.submit(
            function, self._parcel, self._slug, self._run, one, more, retries=_TRIES, pure=False, **how
        )


def graded_there(parcel: bytes, slug: str, run: Run, one: Pending, plans: Plans | None) -> tuple[Report, Wanted | None]:
    """Runs on a worker of the cluster: hands the submission to the worker's own crew."""
    kata = unpacked(bytes(parcel), slug)
    return _crew(run.settings.engine).submit(graded_with, kata, run, one, plans or {}).result()


def graded_with(kata: Kata, run: Run, one: Pending, plans: Plans) -> tuple[Report, Wanted | None]:
    """In a process of the crew: the report, and which plans it asked for."""
    ahead = Ahead(plans)
    report = graded(kata, run, one, ahead)
    return report, ahead.wanted


def traced_there(parcel: bytes, slug: str, run: Run, one: Pending, wanted: Wanted) -> Plans:
    """Runs on a worker of the cluster, with a GPU or without one."""
    kata = unpacked(bytes(parcel), slug)
    return _crew(run.settings.engine).submit(traced, kata, run, one, wanted).result()


_crews: dict[str, Crew] = {}
_open = ExitStack()
_opening = threading.Lock()
atexit.register(_open.close)


def _crew(engine: str) -> Crew:
    """The crew of this worker process, started for the first submission."""
    with _opening:
        if engine not in _crews:
            from dask.distributed import get_worker

            threads = int(get_worker().state.nthreads)
            _crews[engine] = _open.enter_context(open_crew(threads, gpus=gpus_for(engine)))
        return _crews[engine]
