"""`kata grade`: a folder or archive of submissions into a gradebook."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from tritonkata.cli import grading
from tritonkata.cli.common import FileType, KataType, Problem
from tritonkata.cli.records import OUT, some
from tritonkata.feedback.numbers import plural
from tritonkata.model.course import Kata

if TYPE_CHECKING:
    from tritonkata.gradebook.store import Gradebook
    from tritonkata.gradebook.types import LeftOut, Submitted
    from tritonkata.intake import Attempt, Download, Intake
    from tritonkata.model.record import Student

LAYOUTS = ("plain", "canvas", "moodle", "gradescope", "nbgrader", "github")


@click.command(epilog="Example: kata grade submissions.zip --kata safe_softmax --out grades")
@click.argument("submissions", type=FileType())
@click.option("--kata", metavar="SLUG", type=KataType(), required=True, help="Which kata the submissions are for.")
@OUT
@click.option("--engine", type=click.Choice(["auto", "gpu", "interpreter"]), default="auto", show_default=True)
@click.option(
    "--target", type=click.Choice(["sm_80", "sm_90", "sm_100", "gfx942"]), help="What to compile for as well."
)
@click.option("--jobs", type=click.IntRange(1, grading.MOST_JOBS), help="Graded at once.  [default: one a core]")
@click.option("--seed", type=click.IntRange(0, 2**63 - 1), help="The secret seed; drawn once for a gradebook without.")
@click.option("--layout", type=click.Choice(LAYOUTS), help="How the download is laid out, where it cannot be told.")
@click.option("--attempt", type=click.Choice(["latest", "best", "all"]), default="latest", show_default=True)
@click.option("--roster", metavar="FILE", type=FileType(), help="CSV of those expected: id, name, email.")
@click.option("--cluster", metavar="ADDRESS|FILE", help="Grade on a dask cluster: its address or scheduler file.")
@click.option("--dry-run", is_flag=True, help="Show who handed in what, and grade nothing.")
@click.option("--recompile", is_flag=True, help="Compile each kernel again in a clean process; one that differs fails.")
@click.option("--no-sandbox", is_flag=True, help="Grade although there is no sandbox; every report says so.")
@click.option("--quiet", is_flag=True, help="Print nothing but problems.")
@click.option("--json", "lines", is_flag=True, help="Print a JSON line for each submission as it is graded.")
@click.pass_context
def grade(
    ctx: click.Context,
    submissions: Path,
    kata: Kata,
    out: Path,
    engine: str,
    target: str | None,
    jobs: int | None,
    seed: int | None,
    layout: str | None,
    attempt: Literal["latest", "best", "all"],
    roster: Path | None,
    cluster: str | None,
    dry_run: bool,
    recompile: bool,
    no_sandbox: bool,
    quiet: bool,
    lines: bool,
) -> None:
    """Grade a class: SUBMISSIONS is a folder or an archive as a platform gives it.

    Results are in the gradebook as soon as each is graded; stopped or killed, the same command goes on.
    Exit codes: 0 all graded, 2 wrong usage, 3 the grader failed on some, 130 stopped.
    """
    from tritonkata.bulk.cluster import ClusterProblem
    from tritonkata.gradebook.opening import open_gradebook
    from tritonkata.gradebook.types import GradebookProblem, Settings
    from tritonkata.intake import IntakeProblem, open_download, read_roster, take_in

    try:
        with open_download(submissions) as download:
            expected = read_roster(roster) if roster is not None else ()
            found = take_in(download, kata.slug, layout=layout, which=attempt, roster=expected)
            if lines and dry_run:
                _print_lines(found)
            elif dry_run or not (quiet or lines):
                _show(found)
            if dry_run:
                return
            if not found.attempts:
                raise Problem(f"{submissions}: holds no submission to {kata.slug}; look at it with --dry-run")
            if quiet or lines:
                _tell_of_left_out(found)
            # On a cluster each worker looks for its own.
            sandbox = not no_sandbox if cluster else grading.refuse_without_sandbox(allowed=no_sandbox)
            chosen = grading.cluster_engine(engine) if cluster else grading.resolved_engine(engine)
            from tritonkata.bulk.one import digest_of

            settings = Settings(chosen, digest_of(kata), target, recompile, sandbox)
            with open_gradebook(out, create=True, grading=True) as book:
                run = book.run(kata.slug, settings, seed, attempt)
                book.take_in(kata.slug, _submitted(download, found), _left_out(found))
                _tell_of_missing(book, kata)
                force = cluster or grading.workforce(chosen, jobs)
                code = grading.grade_all(book, run, kata, force, quiet=quiet, lines=lines)
    except (IntakeProblem, GradebookProblem, ClusterProblem) as error:
        raise Problem(str(error)) from error
    ctx.exit(code)


def _show(found: Intake) -> None:
    from rich.console import Console

    from tritonkata.intake import print_intake

    print_intake(found, Console(highlight=False))


def _print_lines(found: Intake) -> None:
    """A JSON line for each attempt, and for what was left out and why."""
    import msgspec

    for one in found.attempts:
        line = {**_who(one.students), "file": one.path, "submitted_at": one.submitted_at, "late": one.late}
        click.echo(msgspec.json.encode({**line, "attempt": one.attempt}))
    for left in found.left_out:
        who = _who([] if left.student is None else [left.student])
        click.echo(msgspec.json.encode({**who, "file": left.path, "left_out": left.reason}))


def _who(students: Sequence[Student]) -> dict[str, list[str]]:
    """Ids, and in the same order names, which are empty where nobody gives one."""
    return {"students": [student.id for student in students], "names": [student.name for student in students]}


def _tell_of_left_out(found: Intake) -> None:
    """Say who has nothing that is graded: without the table nobody would know."""
    from tritonkata.intake import named

    have = {student.id for one in found.attempts for student in one.students}
    left_out = {left.student.id: left.student for left in found.left_out if left.student is not None}
    lack = [named(left_out[own]) for own in sorted(left_out.keys() - have)]
    if lack:
        who = f"{plural(len(lack), 'student')} {'has' if len(lack) == 1 else 'have'}"
        click.echo(f"Note: {who} handed in nothing that can be graded ({some(lack)}); --dry-run says why", err=True)


def _tell_of_missing(book: Gradebook, kata: Kata) -> None:
    """Say who was in earlier downloads: nobody is to be dropped unnoticed by a download of a part of the class."""
    missing = sorted(book.students(kata.slug, present=False))
    if missing:
        who = plural(len(missing), "student")
        click.echo(
            f"Note: {who} of earlier downloads not in this one ({some(missing)}): their grades are kept, and left out "
            "of reports and exports; grade the parts of a class with an --out of their own, or all in one download",
            err=True,
        )


def _submitted(download: Download, found: Intake) -> Iterator[Submitted]:
    """Each attempt with its bytes, read one at a time."""
    for attempt in found.attempts:
        yield _with_source(download, attempt)


def _with_source(download: Download, attempt: Attempt) -> Submitted:
    from tritonkata.gradebook.types import Submitted
    from tritonkata.intake import MemberProblem

    source: bytes | None = None
    problem = ""
    try:
        source = download.source(attempt)
    except MemberProblem as error:
        problem = str(error)
    return Submitted(
        attempt.students,
        attempt.path,
        source,
        problem,
        attempt.submitted_at,
        attempt.late,
        attempt.attempt,
    )


def _left_out(found: Intake) -> Iterator[LeftOut]:
    from tritonkata.gradebook.types import LeftOut

    for left in found.left_out:
        own, name = ("", "") if left.student is None else (left.student.id, left.student.name)
        yield LeftOut(left.path, own, left.reason, name)
