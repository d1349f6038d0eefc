"""A gradebook for a command: opened, with its kata found, and its problems as one line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tritonkata.cli.common import FileType, Problem, StudentType, course_of
from tritonkata.feedback.clean import clean
from tritonkata.feedback.numbers import joined, number, plural
from tritonkata.model.course import Kata

if TYPE_CHECKING:
    from tritonkata.gradebook.store import Gradebook
    from tritonkata.model.record import Record

OUT = click.option(
    "--out", metavar="DIR", type=FileType(), default=Path("grades"), show_default=True, help="The gradebook."
)
_NAMES_SHOWN = 5
STUDENT = StudentType()
KATA = click.option("--kata", "slug", metavar="SLUG", help="Which kata, where the gradebook has several.")


@contextmanager
def opened(folder: Path, *, grading: bool = False) -> Iterator[Gradebook]:
    """The gradebook in a folder.

    Raises:
        Problem: it cannot be used.
    """
    from tritonkata.gradebook.opening import open_gradebook
    from tritonkata.gradebook.types import GradebookProblem

    try:
        with open_gradebook(folder, grading=grading) as book:
            yield book
    except GradebookProblem as error:
        raise Problem(str(error)) from error


def kata_of(book: Gradebook, slug: str | None) -> Kata:
    """The kata that is named, or the only one of the gradebook.

    Raises:
        Problem: the gradebook has several, none, or not this one.
    """
    known = book.katas()
    if slug is None and len(known) != 1:
        words = f"has {', '.join(known)}: say which with --kata" if known else "has no submission: use `kata grade`"
        raise Problem(f"{book.path}: {words}")
    if slug is not None and slug not in known:
        raise Problem(f"{book.path}: has no submission to {slug}; it has {', '.join(known) or 'none'}")
    return course_of().kata(slug or known[0])


def attempts_of(book: Gradebook, kata: Kata) -> str:
    """Which attempts count, as the last run was told."""
    last = book.last_run(kata.slug)
    return "latest" if last is None else last.attempts


def some(names: Sequence[str]) -> str:
    """The first few of these names, in characters that can be shown."""
    more = f" and {len(names) - _NAMES_SHOWN} more" if len(names) > _NAMES_SHOWN else ""
    return clean(", ".join(names[:_NAMES_SHOWN])) + more


def refuse_unknown(book: Gradebook, kata: Kata, students: Iterable[str]) -> None:
    """Refuse names of nobody.

    Raises:
        Problem: some have no submission in the last download.
    """
    unknown = sorted(set(students) - book.students(kata.slug))
    if unknown:
        have = "has" if len(unknown) == 1 else "have"
        what = f"{some(unknown)} {have} no submission to {kata.slug} in the last download"
        raise Problem(f"{book.path}: {what}; `kata report` lists who has")


def tell_of_ungraded(book: Gradebook, kata: Kata) -> None:
    """Say on standard error if not everything is graded: what is written then is not the whole class."""
    if left := book.ungraded(kata.slug):
        of = book.count(kata.slug)
        go_on = f"`kata regrade --out {book.path.parent} --kata {kata.slug} --ungraded` grades the rest"
        click.echo(f"Note: {left} of {of} submissions are not graded yet, and not in this; {go_on}", err=True)


def tell_of_maxima(book: Gradebook, kata: Kata, records: Iterable[Record]) -> None:
    """Say on standard error if scores are points of different maxima, since a platform's sheet has one for all."""
    from tritonkata.exports.words import has_score

    maxima = Counter(record.max_score for record in records if has_score(record) and record.max_score > 0)
    if len(maxima) > 1:
        counts = [f"{plural(count, 'report')} of {number(most)} points" for most, count in sorted(maxima.items())]
        again = f"`kata regrade --out {book.path.parent} --kata {kata.slug} --all` makes them one"
        click.echo(f"Note: a sheet has one maximum, and these scores have several: {joined(counts)}; {again}", err=True)
