"""What is asked of a cluster, and what it tells."""

from __future__ import annotations

from collections.abc import Callable
from queue import SimpleQueue
from typing import Any
from uuid import uuid4

from tritonkata.bulk.there import graded_there, traced_there
from tritonkata.engine.ahead import Wanted
from tritonkata.gradebook.types import Pending, Run

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
        self._doubtful: SimpleQueue[int] = SimpleQueue()
        # Several commands may share a scheduler.
        self._topic = f"tritonkata-{uuid4().hex}"
        client.subscribe_topic(self._topic, lambda event: self._doubtful.put(event[1]))

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

    def doubtful(self) -> set[int]:
        """Submissions, by number, that were graded by a GPU which was set aside since."""
        return {self._doubtful.get() for _ in range(self._doubtful.qsize())}

    def nobody(self) -> str:
        """Why no worker can take a submission at the moment; empty if one can."""
        workers = self._client.scheduler_info(n_workers=-1)["workers"].values()
        if not workers:
            return (
                "no worker is connected to the scheduler; start one with `dask worker` "
                "(one that can grade no more leaves, and says why in its log)"
            )
        if self._resources and not any(one["resources"].get(GPU, 0) >= 1 for one in workers):
            many = f"none of the {len(workers)} workers has" if len(workers) > 1 else "the only worker has not"
            return (
                f"{many} the resource {GPU}; start one where there is a GPU with `dask worker ... --resources {GPU}=16`"
                " (a worker whose GPU fails leaves, and says why in its log)"
            )
        return ""

    def learn(self, wanted: Wanted | None) -> None:
        """Note what a grading asked for."""
        if wanted is not None:
            self._wanted = wanted.joined(self._wanted)

    def _graded(self, one: Pending, plans: Any) -> Any:
        return self._submit(graded_there, one, plans, self._topic, resources=self._resources)

    def _submit(self, function: Callable[..., Any], one: Pending, *more: Any, **how: Any) -> Any:
        return self._client.submit(
            function, self._parcel, self._slug, self._run, one, *more, retries=_TRIES, pure=False, **how
        )
