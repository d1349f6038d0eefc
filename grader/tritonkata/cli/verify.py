"""`kata verify`: the author's gate."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import click

from tritonkata.cli.common import EXIT_FAILED, EXIT_PASSED, EXIT_USAGE, KataType, Problem, course_of
from tritonkata.cli.status import StatusLine
from tritonkata.courses import Course

if TYPE_CHECKING:
    from tritonkata.authoring.gate import Plan
    from tritonkata.authoring.matrix import Verification
    from tritonkata.engine.engines import EngineName

_MOST_JOBS = 8


def _count(ctx: click.Context, param: click.Parameter, value: str) -> int | None:
    """A number from 0, or `all`, which becomes None."""
    if value == "all":
        return None
    if not value.isdecimal():
        raise click.BadParameter(f"{value!r} is no number; give one, or `all`", ctx, param)
    return int(value)


@click.command(epilog="Example: kata verify masked_softmax --mutants 40")
@click.argument("slugs", metavar="[SLUG]...", nargs=-1, shell_complete=KataType().shell_complete)
@click.option("--engine", type=click.Choice(["interpreter", "gpu", "auto"]), default="interpreter", show_default=True)
@click.option("--seed", type=click.IntRange(0, (1 << 63) - 1), default=20, show_default=True, help="The secret seed.")
@click.option("--jobs", type=click.IntRange(1, 64), help="Files graded at once (default: the cores, at most 8).")
@click.option(
    "--mutants",
    metavar="N|all",
    callback=_count,
    default="0",
    show_default=True,
    help="Also grade the solution with one thing changed, so many times a kata.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_context
def verify(
    ctx: click.Context,
    slugs: tuple[str, ...],
    engine: EngineName,
    seed: int,
    jobs: int | None,
    mutants: int | None,
    as_json: bool,
) -> None:
    """Try every promise of the katas (all of them, or those named).

    The skeleton fails, the solution passes at par in every dtype, each wrong example gets its diagnosis,
    every check is failed by some wrong example, templates render, and no file is missing or stray.
    Exit codes: 0 all is well, 1 a promise is broken, 2 files must be put right first, or wrong usage.
    """
    course = course_of()
    wanted = _wanted(course, slugs)
    from tritonkata.authoring.gate import Plan

    # On a GPU they take turns on one launcher.
    default = min(_MOST_JOBS, os.cpu_count() or 1)
    found = _verified(course, wanted, Plan(engine, seed, jobs or default, mutants), as_json=as_json)
    sys.stdout.flush()
    ctx.exit(EXIT_PASSED if found.passes else EXIT_USAGE if found.damaged else EXIT_FAILED)


def _wanted(course: Course, slugs: tuple[str, ...]) -> tuple[str, ...]:
    """The katas to verify, those that cannot be used among them."""
    for slug in slugs:
        if slug not in course.broken:
            course.kata(slug)
    wanted = tuple(dict.fromkeys(slugs or course.file.katas))
    if not wanted:
        toml = course.root / "katas" / "course.toml"
        raise Problem(f"{toml}: katas: is empty; make a kata with: kata --course {course.root} new SLUG")
    return wanted


def _verified(course: Course, slugs: tuple[str, ...], plan: Plan, *, as_json: bool) -> Verification:
    """Run the gate, and print what it finds as it finds it, or all at the end as JSON."""
    from tritonkata.authoring import terminal
    from tritonkata.authoring.gate import verify as run_gate
    from tritonkata.authoring.matrix import KataResult, document

    status = StatusLine()

    def tell(kata: KataResult) -> None:
        if not as_json:
            status.clear()
            click.echo("\n".join([*terminal.kata_lines(kata), ""]))

    try:
        found = run_gate(course, slugs, plan, status.show, tell)
    finally:
        status.clear()
    if as_json:
        import msgspec

        click.echo(msgspec.json.format(msgspec.json.encode(document(found)), indent=2))
        return found
    for problem in found.problems:
        click.echo(problem)
    click.echo(terminal.last_line(found))
    return found
