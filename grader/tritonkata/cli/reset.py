"""`kata reset`: the skeleton again, with a copy of what was there."""

from __future__ import annotations

from pathlib import Path

import click

from tritonkata.cli.common import KataType, Problem, back_up, shown, started
from tritonkata.files import replace_file
from tritonkata.model.course import Kata


@click.command(epilog="Example: kata reset safe_softmax --yes")
@click.argument("kata", metavar="[SLUG]", type=KataType(), required=False)
@click.option("--yes", "-y", is_flag=True, help="Do not ask.")
def reset(kata: Kata | None, yes: bool) -> None:
    """Put a kata's skeleton back; your file is kept under .kata/backups. Scores and hints stay."""
    kata, progress = started(kata)
    folder = Path.cwd()
    path = folder / progress.path
    if not yes and not _confirmed(path):
        raise Problem("nothing was changed; to reset without a question: kata reset --yes")
    try:
        kept = back_up(path, folder) if path.is_file() else None
        replace_file(path, kata.skeleton.read_bytes())
    except OSError as error:
        raise Problem(f"{shown(path)}: cannot be reset ({error.strerror}); correct the folder's permissions") from error
    click.echo(f"{shown(path)} is the skeleton again." + (f" Your version: {shown(kept)}" if kept else ""))


def _confirmed(path: Path) -> bool:
    try:
        return click.confirm(f"Replace {shown(path)} by the skeleton?", err=True)
    except click.Abort:
        click.echo(err=True)
        return False
