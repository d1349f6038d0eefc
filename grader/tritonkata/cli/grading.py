"""What `kata grade` and `kata regrade` share: the processes, an orderly end, the summary."""

from __future__ import annotations

import os
import signal
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from types import FrameType
from typing import TYPE_CHECKING

import click

from tritonkata.cli.common import EXIT_GRADER, EXIT_PASSED, Problem
from tritonkata.cli.grading_progress import grading_progress
from tritonkata.cli.records import command_on, tell_of_unlike
from tritonkata.feedback.clean import one_line
from tritonkata.feedback.numbers import are
from tritonkata.model.course import Kata

if TYPE_CHECKING:
    from tritonkata.bulk.grading import Outcome, Workforce
    from tritonkata.gradebook.store import Gradebook
    from tritonkata.gradebook.types import Run

MOST_JOBS = 64
_FAULTS_SHOWN = 3


def resolved_engine(engine: str) -> str:
    """The engine that `auto` stands for on this machine."""
    from tritonkata.engine.machine import gpu_problem

    problem = gpu_problem() if engine != "interpreter" else "not asked for"
    if engine == "gpu" and problem is not None:
        raise Problem(f"no GPU can be used: {problem}; run `kata doctor`, or use --engine interpreter")
    return "interpreter" if problem is not None else "gpu"


def cluster_engine(engine: str) -> str:
    """The engine on a cluster, which cannot be told from here."""
    if engine == "auto":
        raise Problem("say which engine the cluster grades with: --engine gpu or --engine interpreter")
    return engine


def refuse_without_sandbox(*, allowed: bool) -> bool:
    """Whether there is a sandbox; refuses to go on without one unless that is allowed."""
    from tritonkata.boundary.sandbox import SandboxUnavailable, find_bubblewrap

    try:
        find_bubblewrap()
    except SandboxUnavailable as error:
        if allowed:
            return False
        raise Problem(
            f"strangers' code is not run without a sandbox: {error}; or say --no-sandbox, which every report records"
        ) from error
    return True


def workforce(engine: str, jobs: int | None) -> Workforce:
    """Processes for an engine: one a core unless it is said otherwise."""
    from tritonkata.bulk.grading import Workforce
    from tritonkata.engine.machine import gpus_for

    cores = len(os.sched_getaffinity(0))
    return Workforce(jobs or min(cores, MOST_JOBS), gpus_for(engine))


def grade_all(
    book: Gradebook,
    run: Run,
    kata: Kata,
    force: Workforce | str,
    *,
    quiet: bool,
    lines: bool,
    stale: bool = True,
    again: str = "the same command",
) -> int:
    """Grade what is pending, show how it goes, and sum it up; the exit code.

    Without `stale`, reports of other runs stay. `force` is this machine's, or the address of a cluster. `again` is what
    goes on where this was stopped. Ctrl-C once: what is being graded is finished. Twice: it is dropped, and graded by
    the next run.
    """
    from tritonkata.bulk.cluster import grade_on_cluster
    from tritonkata.bulk.grading import grade_pending

    pending = sum(1 for _ in book.pending(run, stale=stale))
    already = book.count(kata.slug) - pending
    with (
        _telling_of_the_rest(book, run, stale, again),
        _stopping() as stopping,
        grading_progress(pending, quiet=quiet or lines) as advance,
    ):
        outcomes = (
            grade_on_cluster(book, run, kata, force, stopping=stopping, tell=partial(click.echo, err=True))
            if isinstance(force, str)
            else grade_pending(book, run, kata, force, stale=stale, stopping=stopping)
        )
        done: set[int] = set()
        for outcome in outcomes:
            done.add(outcome.submission.id)
            advance(outcome)
            if lines:
                _print_line(outcome, book.members(outcome.submission.id))
        stopped = stopping()
    if not lines:
        _sum_up(book, run, kata, already, len(done), quiet=quiet)
    if not stale:
        tell_of_unlike(book, kata)
    left = sum(1 for _ in book.pending(run, stale=stale))
    if stopped and left:
        _tell_of_the_rest(left, again)
        return 128 + signal.SIGINT
    return EXIT_GRADER if left else EXIT_PASSED


@contextmanager
def _telling_of_the_rest(book: Gradebook, run: Run, stale: bool, again: str) -> Iterator[None]:
    """Where this is interrupted, say what is left and how to go on, in a line before that of the interruption."""
    try:
        yield
    except KeyboardInterrupt:
        if left := sum(1 for _ in book.pending(run, stale=stale)):
            _tell_of_the_rest(left, again)
        raise


def _tell_of_the_rest(left: int, again: str) -> None:
    click.echo(f"Stopped: {left} {are(left)} left; {again} goes on.", err=True)


_FINISHING = b"\nFinishing what is being graded; press Ctrl-C again to drop it.\n"


@contextmanager
def _stopping() -> Iterator[Callable[[], bool]]:
    """Whether Ctrl-C was pressed; the second time it interrupts."""
    asked: list[int] = []

    def note(number: int, frame: FrameType | None) -> None:  # noqa: ARG001 - the signal module's signature
        asked.append(number)
        if len(asked) > 1:
            # A third must not stop what ends the processes.
            signal.signal(number, signal.SIG_IGN)
            raise KeyboardInterrupt
        # Past Python's buffer: a second signal while it is written out would leave the words there, to come twice.
        with suppress(OSError, ValueError):
            os.write(sys.stderr.fileno(), _FINISHING)

    before = signal.signal(signal.SIGINT, note)
    try:
        yield lambda: bool(asked)
    finally:
        if len(asked) < 2:
            signal.signal(signal.SIGINT, before)


def _print_line(outcome: Outcome, students: list[str]) -> None:
    import msgspec

    from tritonkata.model.report import main_diagnosis

    report = outcome.report
    line = {
        "student": outcome.submission.student,
        "students": students,
        "file": outcome.submission.file,
        "verdict": report.verdict,
        "score": report.score,
        "max_score": report.max_score,
        "medal": report.medal,
        "diagnosis": main_diagnosis(report),
        "seconds": report.seconds,
    }
    click.echo(msgspec.json.encode(line))


def _sum_up(book: Gradebook, run: Run, kata: Kata, already: int, now: int, *, quiet: bool) -> None:
    from tritonkata.model.report import grader_fault

    verdicts: Counter[str] = Counter()
    mistakes: Counter[str] = Counter()
    faults: Counter[str] = Counter()
    scores: list[float] = []
    for record in book.records(kata.slug, run.attempts):
        verdicts[record.report.verdict] += 1
        mistakes.update([record.diagnosis] if record.diagnosis else [])
        if fault := grader_fault(record.report):
            faults[fault] += 1
        if record.report.verdict != "grader_error":
            scores.append(record.score)
    if quiet:
        return
    told = [f"{verdicts[name]} {words}" for name, words in _VERDICTS.items() if verdicts[name]]
    click.echo(f"{kata.slug}: {', '.join(told) or 'nothing is graded yet'}.")
    for fault, count in faults.most_common(_FAULTS_SHOWN):
        click.echo(f"The fault met by {count}: {one_line(fault)}")
    if already:
        before = f"{already} {'was' if already == 1 else 'were'} graded before"
        # A report of an earlier state of the kata is not what would be given now.
        standing = book.standing(kata.slug)
        before += "" if standing.earlier or standing.other else " and not changed since"
        click.echo(f"{before}; {now} {'was' if now == 1 else 'were'} graded now.")
    if scores:
        click.echo(f"Mean score {sum(scores) / len(scores):.1f}, engine {run.settings.engine}.")
    if mistakes:
        click.echo("Most frequent: " + ", ".join(f"{name} ({count})" for name, count in mistakes.most_common(5)) + ".")
    following = (("report",), ("feedback",), ("export", "--format", "csv"))
    click.echo("Next: " + ", ".join(command_on(book, kata, *words) for words in following))


_VERDICTS = {
    "pass": "passed",
    "fail": "failed a check",
    "error": "could not be run",
    "grader_error": "met a fault of the grader (the same command tries them again)",
}
