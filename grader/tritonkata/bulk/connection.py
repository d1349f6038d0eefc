"""One connection to a cluster, for as long as it lasts: submissions go out, reports come back and are kept."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

from tritonkata.bulk.grading import Outcome
from tritonkata.bulk.one import spoilt
from tritonkata.bulk.tasks import Tasks
from tritonkata.gradebook.store import Gradebook
from tritonkata.gradebook.types import Pending, Run
from tritonkata.model.course import Kata
from tritonkata.model.report import Report

WAITING_A_THREAD = 2

WORKERS_SECONDS = 3.0
"""How often to look whether there are workers at all, while nothing comes from them."""

_LOOK_SECONDS = 0.5


class Connection:
    """What was given out over one client of dask, and has not come back."""

    def __init__(self, client: Any, tasks: Tasks, book: Gradebook, run: Run, kata: Kata) -> None:
        self._client = client
        self._tasks = tasks
        self._book = book
        self._run = run
        self._kata = kata
        self._given: dict[Any, Pending] = {}
        self._doubtful: set[int] = set()
        self._looked, self._told = time.monotonic(), ""

    def outcomes(
        self, waiting: Iterator[Pending], stopping: Callable[[], bool], tell: Callable[[str], None]
    ) -> Iterator[Outcome]:
        """What comes back until all is graded; each report is kept before it is given.

        Raises:
            ConnectionError: the connection ended, or the scheduler forgot a submission.
        """
        while True:
            if self._client.status != "running":
                raise ConnectionError("the scheduler closed the connection")
            self._give_out(waiting, stopping)
            if not self._given:
                return
            ended = self._ended()
            for future in ended:
                if (outcome := self._kept(future)) is not None:
                    yield outcome
            if not ended:
                self._look_for_workers(tell)
                if self._told and stopping():
                    return  # what is given out may never come

    def _give_out(self, waiting: Iterator[Pending], stopping: Callable[[], bool]) -> None:
        """What was graded by a GPU that was set aside since, and then as much as keeps every thread busy."""
        self._doubtful |= self._tasks.doubtful()
        for number in self._doubtful - {one.id for one in self._given.values()}:
            self._doubtful.remove(number)
            self._give(self._book.submission(number))
        most = WAITING_A_THREAD * max(1, sum(self._client.nthreads().values()))
        while len(self._given) < most and not stopping() and (one := next(waiting, None)) is not None:
            self._give(one)

    def _give(self, one: Pending) -> None:
        self._given[self._tasks.grading(one)] = one

    def _ended(self) -> list[Any]:
        """Futures that have ended; none if nothing does within a moment."""
        from dask.distributed import TimeoutError as TookLonger
        from dask.distributed import wait

        try:
            found = wait(  # type: ignore[no-untyped-call]
                list(self._given), timeout=_LOOK_SECONDS, return_when="FIRST_COMPLETED"
            )
        except TookLonger:
            return []
        return list(found.done)

    def _kept(self, future: Any) -> Outcome | None:
        """What came of a future, kept in the gradebook; None if the submission is given out again."""
        one = self._given.pop(future)
        again = self._tasks.without_plans(future, one)
        if again is not None:
            self._given[again] = one
            return None
        report = self._report_of(future, one)
        self._book.put_report(one.id, self._run, report)
        return Outcome(one, report)

    def _report_of(self, future: Any, one: Pending) -> Report:
        if future.status in ("cancelled", "lost"):
            raise ConnectionError("the scheduler forgot a submission")
        if future.status == "error":
            error = future.exception()
            what = f"on the cluster: {type(error).__name__}: {error}; give the same command again"
            return spoilt(self._kata, self._run, one, what)
        report: Report
        report, wanted = future.result()
        self._tasks.learn(wanted)
        return report

    def _look_for_workers(self, tell: Callable[[str], None]) -> None:
        """Say once why nothing comes, where nobody can grade."""
        if time.monotonic() - self._looked > WORKERS_SECONDS:
            before, self._told = self._told, self._tasks.nobody()
            self._looked = time.monotonic()
            if self._told not in ("", before):
                tell(f"waiting: {self._told}")
