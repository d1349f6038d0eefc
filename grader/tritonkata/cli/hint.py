"""`kata hint`: one more hint each time."""

from __future__ import annotations

from pathlib import Path

import click
import msgspec

from tritonkata.cli.common import KataType, started
from tritonkata.model.course import Kata
from tritonkata.workspace import KataProgress, WorkspaceError, update_progress


@click.command(epilog="Example: kata hint safe_softmax")
@click.argument("kata", metavar="[SLUG]", type=KataType(), required=False)
def hint(kata: Kata | None) -> None:
    """Show the next hint of a kata (the one last started or edited here without SLUG)."""
    kata, progress = started(kata)
    hints = kata.file.hints
    if not hints:
        click.echo(f"{kata.slug} has no hints.")
        return
    if progress.hints_seen >= len(hints):
        click.echo(f"No hints remain for {kata.slug}. All {len(hints)} again:")
        for number, text in enumerate(hints, start=1):
            click.echo(f"  {number}. {text.strip()}")
        return

    def one_more(old: KataProgress | None) -> KataProgress:
        base = old or progress
        return msgspec.structs.replace(base, hints_seen=min(base.hints_seen + 1, len(hints)))

    try:
        number = update_progress(Path.cwd(), kata.slug, one_more).hints_seen
    except WorkspaceError as error:
        number = one_more(progress).hints_seen
        click.echo(f"That this hint was shown is not recorded: {error}", err=True)
    click.echo(f"{kata.slug}, hint {number} of {len(hints)}: {hints[number - 1].strip()}")
    left = len(hints) - number
    click.echo(f"{left} more {'hint' if left == 1 else 'hints'}." if left else "That was the last hint.")
