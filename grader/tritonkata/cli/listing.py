"""`kata list`: the course and how far the learner is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from tritonkata.cli.common import course_of, kata_here
from tritonkata.model.course import Kata
from tritonkata.workspace import KataProgress, load_progress

_MEDAL_COLOURS = {"gold": "yellow", "silver": "white", "bronze": "red"}


@click.command("list", epilog="Example: kata list --json")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def list_katas(as_json: bool) -> None:
    """Show the katas, with progress and medals in this folder."""
    course = course_of()
    katas = load_progress(Path.cwd()).katas
    rows = [_row(kata, katas.get(kata.slug)) for kata in course.katas]
    broken = [{"slug": slug, "state": "broken", "problem": problem} for slug, problem in course.broken.items()]
    if as_json:
        import msgspec

        rows += broken
        click.echo(msgspec.json.format(msgspec.json.encode(rows), indent=2))
        return
    click.secho(course.file.title, bold=True)
    width = max((len(kata.slug) for kata in course.katas), default=0)
    for kata, row in zip(course.katas, rows, strict=True):
        click.echo(f"  {kata.slug:{width}}  {_state(katas.get(kata.slug)):>16}  {kata.file.title}")
        missing = [slug for slug in kata.file.prerequisites if not _passed(katas.get(slug))]
        if missing and row["state"] == "not started":
            click.echo(f"  {'':{width}}  {'':>16}  (better after {', '.join(missing)})")
    for slug, problem in course.broken.items():
        click.echo(f"  {slug:{width}}  {click.style('broken'.rjust(16), fg='red')}  {problem}")
    if not katas:
        click.echo(
            f"Begin with: {kata_here()} start {course.slugs[0]}" if course.slugs else "This course has no katas."
        )


def _row(kata: Kata, progress: KataProgress | None) -> dict[str, Any]:
    row: dict[str, Any] = {
        "slug": kata.slug,
        "title": kata.file.title,
        "summary": kata.file.summary,
        "prerequisites": kata.file.prerequisites,
        "hints": len(kata.file.hints),
        "state": _state_name(progress),
        "progress": progress,
    }
    return row


def _state_name(progress: KataProgress | None) -> str:
    if progress is None:
        return "not started"
    return "passed" if progress.passed else "started"


def _state(progress: KataProgress | None) -> str:
    if progress is None:
        return "-"
    if progress.medal != "none":
        return click.style(f"{progress.medal} {_score(progress)}".rjust(16), fg=_MEDAL_COLOURS[progress.medal])
    return f"started {_score(progress)}".strip()


def _score(progress: KataProgress) -> str:
    if progress.best_score is None or progress.max_score is None:
        return ""
    return f"{progress.best_score:g}/{progress.max_score:g}"


def _passed(progress: KataProgress | None) -> bool:
    return progress is not None and progress.passed
