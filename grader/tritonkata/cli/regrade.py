"""`kata regrade`: grade submissions of a gradebook again."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from tritonkata.cli import grading
from tritonkata.cli.common import Problem
from tritonkata.cli.records import KATA, OUT, STUDENT, command_on, kata_of, opened, refuse_unknown
from tritonkata.feedback.clean import clean
from tritonkata.model.course import Kata

if TYPE_CHECKING:
    from tritonkata.gradebook.store import Gradebook


@click.command(epilog="Example: kata regrade --out grades --student ann")
@OUT
@KATA
@click.option(
    "--student", "students", metavar="ID", type=STUDENT, multiple=True, help="This student; can be given several times."
)
@click.option(
    "--verdict", type=click.Choice(["pass", "fail", "error", "grader_error"]), help="Those with this verdict."
)
@click.option("--diagnosis", metavar="NAME", help="Those with this mistake.")
@click.option("--all", "everyone", is_flag=True, help="Everyone.")
@click.option("--ungraded", is_flag=True, help="What has no report or awaits a new one: the rest of a stopped run.")
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
    ungraded: bool,
    jobs: int | None,
    no_sandbox: bool,
    quiet: bool,
    lines: bool,
) -> None:
    """Grade submissions of a gradebook again, with the same seed and engine and the kata as it is now.

    The time of grading moves; that of submission never does. Earlier reports are kept, and count until there is a new
    one.
    """
    import msgspec

    from tritonkata.bulk.one import digest_of

    chosen = bool(students or verdict or diagnosis)
    if chosen + everyone + ungraded != 1:
        raise Problem(
            "say whom to grade again: --student ID, --verdict V and --diagnosis NAME, or --all, or --ungraded"
        )
    with opened(out, grading=True) as book:
        kata = kata_of(book, slug)
        refuse_unknown(book, kata, students)
        last = book.last_run(kata.slug)
        if last is None:
            raise Problem(f"{book.path}: nothing of {kata.slug} was graded yet; begin with `kata grade`")
        _refuse_unknown_diagnosis(book, kata, diagnosis)
        sandbox = grading.refuse_without_sandbox(allowed=no_sandbox)
        engine = grading.resolved_engine(last.settings.engine)
        count = 0 if ungraded else book.ask_again(kata.slug, students or None, verdict, diagnosis)
        if not count and not ungraded:
            rest = sum(1 for _ in book.pending(last, stale=False))
            if not quiet:
                click.echo(f"No graded submission fits{'; the rest is graded' if rest else ''}.", err=True)
            if not rest:
                return
        settings = msgspec.structs.replace(last.settings, engine=engine, course=digest_of(kata), sandbox=sandbox)
        run = book.run(kata.slug, settings, last.seed, last.attempts)
        force = grading.workforce(engine, jobs)
        again = f"`{command_on(book, kata, 'regrade', '--ungraded')}`"
        code = grading.grade_all(book, run, kata, force, quiet=quiet, lines=lines, stale=everyone, again=again)
    ctx.exit(code)


def _refuse_unknown_diagnosis(book: Gradebook, kata: Kata, diagnosis: str | None) -> None:
    """Refuse a mistake that nobody made, which is most likely mistyped.

    Raises:
        Problem: no report has it.
    """
    if diagnosis is None:
        return
    known = sorted({record.diagnosis for record in book.records(kata.slug) if record.diagnosis})
    if diagnosis not in known:
        have = f"the reports have: {', '.join(known)}" if known else "no report has a mistake with a name"
        raise Problem(f"--diagnosis {clean(diagnosis)}: no report of {kata.slug} has it; {have}")
