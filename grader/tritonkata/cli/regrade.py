"""`kata regrade` and `kata override`: grade again, or set a score by hand."""

from __future__ import annotations

import math
from pathlib import Path

import click

from tritonkata.cli import grading
from tritonkata.cli.common import FileType, Problem, course_of
from tritonkata.cli.grade import DEFAULT_FOLDER
from tritonkata.cli.records import kata_of, opened

OUT = click.option(
    "--out", metavar="DIR", type=FileType(), default=DEFAULT_FOLDER, show_default=True, help="The gradebook."
)
KATA = click.option("--kata", "slug", metavar="SLUG", help="Which kata, where the gradebook has several.")


@click.command(epilog="Example: kata regrade --out grades --student ann")
@OUT
@KATA
@click.option("--student", "students", metavar="ID", multiple=True, help="This student; can be given several times.")
@click.option(
    "--verdict", type=click.Choice(["pass", "fail", "error", "grader_error"]), help="Those with this verdict."
)
@click.option("--diagnosis", metavar="NAME", help="Those with this mistake.")
@click.option("--all", "everyone", is_flag=True, help="Everyone.")
@click.option("--jobs", type=click.IntRange(1, grading.MOST_JOBS), help="Graded at once.  [default: one a core]")
@click.option("--no-sandbox", is_flag=True, help="Grade although there is no sandbox; every report says so.")
@click.option("--quiet", is_flag=True, help="Print nothing but problems.")
@click.option("--json", "lines", is_flag=True, help="Print a JSON line for each submission as it is graded.")
@click.pass_context
def regrade(
    ctx: click.Context,
    out: Path,
    slug: str | None,
    students: tuple[str, ...],
    verdict: str | None,
    diagnosis: str | None,
    everyone: bool,
    jobs: int | None,
    no_sandbox: bool,
    quiet: bool,
    lines: bool,
) -> None:
    """Grade submissions of a gradebook again, with the same seed and engine and the kata as it is now.

    The time of grading moves; that of submission never does. Earlier reports are kept.
    """
    import msgspec

    from tritonkata.bulk.one import digest_of

    if not (students or verdict or diagnosis or everyone):
        raise Problem("say whom to grade again: --student ID, --verdict V, --diagnosis NAME or --all")
    with opened(out, grading=True) as book:
        kata = kata_of(book, slug)
        last = book.last_run(kata.slug)
        if last is None:
            raise Problem(f"{book.path}: nothing of {kata.slug} was graded yet; begin with `kata grade`")
        sandbox = grading.refuse_without_sandbox(allowed=no_sandbox)
        engine = grading.resolved_engine(last.settings.engine)
        settings = msgspec.structs.replace(last.settings, engine=engine, course=digest_of(kata), sandbox=sandbox)
        run = book.run(kata.slug, settings, last.seed, last.attempts)
        count = book.forget(kata.slug, students or None, verdict, diagnosis)
        if not count and not quiet:
            click.echo("No graded submission fits; whatever has no report yet is graded.", err=True)
        force = grading.workforce(engine, jobs)
        code = grading.grade_all(book, run, kata, force, quiet=quiet, lines=lines, stale=everyone)
    ctx.exit(code)


@click.command(epilog="Example: kata override ann --score 12 --reason 'graded by hand' --author 'T. A.'")
@click.argument("student")
@OUT
@KATA
@click.option("--score", type=float, help="The score that counts from now on.")
@click.option("--remove", is_flag=True, help="Let the grader's own score count again.")
@click.option("--reason", required=True, help="Why; students see it.")
@click.option("--author", required=True, help="Who decided.")
def override(
    student: str, out: Path, slug: str | None, score: float | None, remove: bool, reason: str, author: str
) -> None:
    """Set a student's score by hand. The report stays as it is, and every decision is kept."""
    from tritonkata.gradebook.store import now
    from tritonkata.model.record import Override

    if (score is None) == (not remove):
        raise Problem("say either --score N or --remove")
    if score is not None and not math.isfinite(score):
        raise Problem(f"--score {score:g}: is no finite number; give the points that count")
    with opened(out) as book:
        kata = kata_of(book, slug)
        decision = None if score is None else Override(score, reason, author, now())
        book.override(kata.slug, student, decision, reason, author)
    told = "the grader's own score counts again" if score is None else f"{score:g} counts from now on"
    click.echo(f"{student}, {course_of().kata(kata.slug).file.title}: {told}.")
