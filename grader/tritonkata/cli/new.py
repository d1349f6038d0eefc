"""`kata new`: the files of a kata that its author makes into another."""

from __future__ import annotations

import shlex
from pathlib import Path

import click

from tritonkata.cli.common import Problem, kata_here, shown
from tritonkata.courses import UnknownCourse, built_in_root, course_root, load_course

_INSTALLED = frozenset({"site-packages", "dist-packages"})


@click.command(epilog="Example: kata --course my_course new row_norm --title 'Row norm'")
@click.argument("slug")
@click.option("--title", metavar="TEXT", help="What learners see (default: made from SLUG).")
@click.pass_context
def new(ctx: click.Context, slug: str, title: str | None) -> None:
    """Write a small kata that works into a course, with every place marked that you rewrite.

    `kata --course DIR new SLUG` also begins a course, in a folder that need not exist yet.
    """
    from tritonkata.authoring.scaffold import ScaffoldError, refuse_odd_slug, scaffold

    named: str | None = ctx.find_root().params.get("course") or None
    root = _folder(named)
    begun = (root / "katas" / "course.toml").exists()
    if begun:
        load_course(root)
    try:
        refuse_odd_slug(slug)
        files = scaffold(root, slug, _title(slug, title))
    except ScaffoldError as error:
        raise Problem(str(error)) from error
    for path in files:
        click.echo(shown(path))
    _explain(slug, root, kata_here())


def _explain(slug: str, root: Path, command: str) -> None:
    solution = shlex.quote(shown(root / "reference" / slug / "solution.py"))
    click.echo("\nThis kata works: every row minus its maximum. Make it yours:")
    click.echo("1. Each TODO(author) in these files marks what to rewrite; take the marks out as you go.")
    click.echo(f"2. Try a file whenever you like:   {command} check {solution} --kata {slug}")
    click.echo(f"3. Until every promise is kept:    {command} verify {slug}")


def _folder(named: str | None) -> Path:
    """Where the kata goes.

    Raises:
        Problem: that is an installed package.
        CourseError: a course of that name is installed and cannot be found.
    """
    try:
        root = course_root(named) if named else built_in_root()
    except UnknownCourse:
        return Path(str(named))
    if _INSTALLED & set(root.resolve().parts):
        raise Problem(
            f"{root}: belongs to an installed package, and what is added there is lost with it; "
            "name a folder of your own: kata --course DIR new SLUG"
        )
    return root


def _title(slug: str, title: str | None) -> str:
    words = slug.replace("_", " ").capitalize() if title is None else title.strip()
    if not words or not words.isprintable():
        raise Problem("--title must be one line of text; leave it out, or write one")
    return words
