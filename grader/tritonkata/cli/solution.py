"""`kata solution`: the worked kernel, once the learner has one."""

from __future__ import annotations

from pathlib import Path

import click

from tritonkata.cli.common import KataType, Problem, course_of, started
from tritonkata.model.course import Kata
from tritonkata.workspace import load_progress


@click.command(epilog="Example: kata solution safe_softmax > worked.py")
@click.argument("kata", metavar="[SLUG]", type=KataType(), required=False)
@click.option("--spoil", is_flag=True, help="Show it before your own kernel passed.")
def solution(kata: Kata | None, spoil: bool) -> None:
    """Print the worked kernel of a kata that you passed."""
    if kata is None:
        kata, _ = started(None)
    kata = course_of().kata(kata.slug)
    progress = load_progress(Path.cwd()).katas.get(kata.slug)
    if not spoil and not (progress and progress.passed):
        raise Problem(
            f"{kata.slug} has not passed in this folder yet; `kata hint` helps on, "
            f"and this shows the answer all the same: kata solution {kata.slug} --spoil"
        )
    click.echo(kata.solution.read_text(encoding="utf-8"), nl=False)
