"""`kata override`: set scores by hand."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tritonkata.cli.common import Problem
from tritonkata.cli.records import KATA, OUT, STUDENT, kata_of, opened, refuse_unknown, some

if TYPE_CHECKING:
    from tritonkata.gradebook.store import Gradebook


@click.command(epilog="Example: kata override ann --score 12 --reason 'graded by hand' --author 'T. A.'")
@click.argument("students", metavar="STUDENT...", type=STUDENT, nargs=-1, required=True)
@OUT
@KATA
@click.option("--score", type=float, help="The score that counts from now on.")
@click.option("--remove", is_flag=True, help="Let the grader's own score count again.")
@click.option("--reason", required=True, help="Why; students see it.")
@click.option("--author", required=True, help="Who decided.")
def override(
    students: tuple[str, ...], out: Path, slug: str | None, score: float | None, remove: bool, reason: str, author: str
) -> None:
    """Set students' scores by hand. Reports stay as they are, and every decision is kept.

    A decision is the student's, whatever they hand in later and with whom; name all of a group to decide for all.
    """
    from tritonkata.gradebook.store import now
    from tritonkata.model.record import Override

    if (score is None) == (not remove):
        raise Problem("say either --score N or --remove")
    if score is not None and not math.isfinite(score):
        raise Problem(f"--score {score:g}: is no finite number; give the points that count")
    for name, words in (("reason", reason), ("author", author)):
        if not words.strip():
            raise Problem(f"--{name}: is empty; students and graders read it")
    with opened(out) as book:
        kata = kata_of(book, slug)
        refuse_unknown(book, kata, students)
        decision = None if score is None else Override(score, reason, author, now())
        for student in students:
            book.override(kata.slug, student, decision, reason, author)
        notes = _notes(book, kata.slug, set(students), score)
    told = "the grader's own score counts again" if score is None else f"{_whole(score)} counts from now on"
    click.echo(f"{', '.join(students)}, {kata.file.title}: {told}.")
    for note in notes:
        click.echo(f"Note: {note}", err=True)


def _whole(score: float) -> str:
    """A score with every digit that is stored."""
    return repr(score).removesuffix(".0")


def _notes(book: Gradebook, kata: str, named: set[str], score: float | None) -> list[str]:
    """What the one who decides may not have meant."""
    notes = []
    for students in book.groups(kata):
        others = sorted(students - named)
        if others and students & named:
            keep = "keeps the score that was there" if len(others) == 1 else "keep the scores that were there"
            notes.append(f"{some(others)} handed in with {some(sorted(students & named))} and {keep}")
    most = max((record.max_score for record in book.records(kata) if record.max_score), default=None)
    if score is not None and most is not None and not 0 <= score <= most:
        notes.append(f"{_whole(score)} is not between 0 and the {most:g} points that there are")
    return notes
