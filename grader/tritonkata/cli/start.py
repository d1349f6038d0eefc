"""`kata start`: hand out a skeleton and its brief."""

from __future__ import annotations

from pathlib import Path

import click

from tritonkata.cli.common import KataType, Problem, back_up, kata_here, shown
from tritonkata.files import create_file, replace_file
from tritonkata.model.course import Kata
from tritonkata.workspace import load_progress, record_start


@click.command(epilog="Example: kata start safe_softmax")
@click.argument("kata", metavar="SLUG", type=KataType())
@click.option("--force", is_flag=True, help="Overwrite files of that name; yours are kept under .kata/backups.")
def start(kata: Kata, force: bool) -> None:
    """Begin a kata: write SLUG.py and SLUG.md into this folder."""
    folder = Path.cwd()
    load_progress(folder)  # a damaged file is reported before anything is written
    copies = {folder / f"{kata.slug}.py": kata.skeleton, folder / f"{kata.slug}.md": kata.brief}
    if not force:
        _refuse_overwriting(list(copies))
    kept = [_copy(source, target, force=force) for target, source in copies.items()]
    record_start(folder, kata, folder / f"{kata.slug}.py")
    click.echo(f"{kata.file.title}: {kata.file.summary}")
    for copy in filter(None, kept):
        click.echo(f"Your version: {shown(copy)}")
    click.echo(f"Read {kata.slug}.md, fill in the TODOs of {kata.slug}.py, then run: {kata_here()} check")


def _refuse_overwriting(targets: list[Path]) -> None:
    there = [target.name for target in targets if target.exists() or target.is_symlink()]
    if there:
        raise Problem(
            f"{' and '.join(there)} already there; work on, or overwrite with: "
            f"{kata_here()} start {targets[0].stem} --force"
        )


def _copy(source: Path, target: Path, *, force: bool) -> Path | None:
    """Write `target`; returns where the file that was there is kept, if it was another."""
    try:
        data = source.read_bytes()
        if force:
            kept = back_up(target, target.parent) if target.is_file() and target.read_bytes() != data else None
            replace_file(target, data)
            return kept
        # Exclusive: a file that came up since the check is not overwritten either.
        create_file(target, data)
    except OSError as error:
        raise Problem(f"{shown(target)}: cannot be written ({error.strerror}); choose another folder") from error
    return None
