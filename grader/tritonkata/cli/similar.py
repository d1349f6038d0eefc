"""`kata similar`: submissions of a gradebook that are alike."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tritonkata.cli.common import Problem, shown
from tritonkata.cli.records import KATA, OUT, attempts_of, kata_of, opened

if TYPE_CHECKING:
    from tritonkata.gradebook.store import Gradebook
    from tritonkata.model.course import Kata
    from tritonkata.similar.types import Candidate

LEAST_SHARE = 0.5


if TYPE_CHECKING:
    _ShareParam = click.ParamType[float]
else:
    # Older releases of click have no subscript here.
    _ShareParam = click.ParamType


class _Share(_ShareParam):
    """A share as 0.6 or 60%."""

    name = "share"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """A number above 0 and up to 1."""
        text = str(value).strip()
        try:
            share = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
        except ValueError:
            share = 0.0
        if not 0 < share <= 1:
            self.fail(f"{text!r} is no share above 0 and up to 1; write 0.6 or 60%", param, ctx)
        return share


@click.command(epilog="Example: kata similar --out grades --least 0.7")
@OUT
@KATA
@click.option(
    "--least", metavar="SHARE", type=_Share(), default=LEAST_SHARE, show_default=True, help="Pairs from here on."
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def similar(out: Path, slug: str | None, least: float, as_json: bool) -> None:
    """Show pairs of submissions with like structure: where to look, and no verdict.

    Names, literals, comments and the order of functions do not matter. What the skeleton has does not count, nor does
    what much of the class has.
    """
    from tritonkata.similar.compare import compare

    names: dict[str, str] = {}
    with opened(out) as book:
        kata = kata_of(book, slug)
        found = compare(_candidates(book, kata, names), _skeleton(kata), least)
    if as_json:
        import msgspec

        from tritonkata.similar.terminal import CAUTION

        told = {"kata": kata.slug, "caution": CAUTION, **msgspec.to_builtins(found)}
        click.echo(msgspec.json.format(msgspec.json.encode(told), indent=2))
        return
    from rich.console import Console

    from tritonkata.similar.terminal import print_comparison

    print_comparison(found, names, Console(highlight=False))


def _candidates(book: Gradebook, kata: Kata, names: dict[str, str]) -> Iterator[Candidate]:
    """Every graded submission that could be read; the students' names go into `names`."""
    from tritonkata.similar.types import Candidate

    for record in book.records(kata.slug, attempts_of(book, kata)):
        names.update({one.id: one.name for one in record.students if one.name})
        source = book.source(kata.slug, record)
        if source is not None:
            yield Candidate(tuple(one.id for one in record.students), record.file, source, record.attempt)


def _skeleton(kata: Kata) -> str:
    try:
        return kata.skeleton.read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise Problem(f"{shown(kata.skeleton)}: cannot be read ({error}); check the course") from error
