"""Grading all that is pending in a gradebook: submissions go out to a crew, reports come in as they are done."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from weakref import WeakKeyDictionary

from tritonkata.bulk.one import graded, spoilt
from tritonkata.crew.crew import Crew, NobodyLeft, open_crew
from tritonkata.crew.job import Job
from tritonkata.engine.client import GraderError
from tritonkata.engine.workers import hidden_in
from tritonkata.gradebook.store import Gradebook
from tritonkata.gradebook.types import Pending, Run
from tritonkata.model.course import Kata
from tritonkata.model.report import Report


@dataclass(frozen=True)
class Outcome:
    """One submission that was graded, or (rarely) graded again because its GPU proved unsound."""

    submission: Pending
    report: Report


@dataclass(frozen=True)
class Workforce:
    """How many processes grade, on which GPUs (by index; none for the interpreter)."""

    jobs: int
    gpus: Sequence[int] = ()


def grade_pending(
    book: Gradebook,
    run: Run,
    kata: Kata,
    workforce: Workforce,
    *,
    stale: bool = True,
    stopping: Callable[[], bool] = lambda: False,
) -> Iterator[Outcome]:
    """Grade what has no report of this run yet, each report kept before it is given.

    Without `stale` only what has no report at all. Once `stopping` is true, what is being graded is finished and
    nothing more begun.

    Raises:
        GradebookProblem: a report cannot be kept; those before are.
        NobodyLeft: every GPU was set aside, or no process can be started. What was graded on the last GPU is a fault
            of the grader by then.
    """
    with open_crew(workforce.jobs, gpus=workforce.gpus, hidden=hidden_in(kata.root)) as crew:
        yield from _outcomes(book, run, kata, crew, workforce.jobs, book.pending(run, stale=stale), stopping)


def _outcomes(
    book: Gradebook,
    run: Run,
    kata: Kata,
    crew: Crew,
    jobs: int,
    waiting: Iterator[Pending],
    stopping: Callable[[], bool],
) -> Iterator[Outcome]:
    # The crew holds a job for as long as it may still answer it, or answer it again.
    given: WeakKeyDictionary[Job[Report], Pending] = WeakKeyDictionary()

    lost: NobodyLeft | None = None

    def give_out() -> None:
        # No more than there are processes: what is given out is finished, also when the command is to stop.
        while lost is None and crew.outstanding < jobs and not stopping() and (one := next(waiting, None)) is not None:
            given[crew.submit(graded, kata, run, one)] = one

    give_out()
    while crew.outstanding:
        job = crew.completed()
        lost = lost or _lost(job)
        # Before the report is kept, so that no process waits for the disk.
        give_out()
        one = given[job]
        report = _report_of(job, kata, run, one)
        book.put_report(one.id, run, report)
        yield Outcome(one, report)
    if lost is not None:
        raise lost


def _lost(job: Job[Report]) -> NobodyLeft | None:
    """Why nobody is left who could grade, if that is the answer."""
    try:
        job.result()
    except NobodyLeft as error:
        return error
    except Exception:
        return None
    return None


def _report_of(job: Job[Report], kata: Kata, run: Run, one: Pending) -> Report:
    """The report; one that says so where the grader failed on this submission, so that the others go on."""
    try:
        return job.result()
    except Exception as error:
        what = str(error) if isinstance(error, GraderError) else f"{type(error).__name__}: {error}"
        look = "kata doctor" if isinstance(error, NobodyLeft) else f"kata verify {kata.slug}"
        return spoilt(kata, run, one, f"{what}; run `{look}`, then the same command again")
