"""A gradebook for a command: opened, with its kata found, and its problems as one line."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tritonkata.cli.common import FileType, Problem, StudentType, course_of, kata_here
from tritonkata.courses import UnknownKata
from tritonkata.feedback.clean import clean
from tritonkata.feedback.numbers import are, joined, number, plural
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
    from tritonkata.gradebook.types import GradebookProblem, NoGradebook

    try:
        with open_gradebook(folder, grading=grading) as book:
            yield book
    except NoGradebook as error:
        command = f"{kata_here()} grade SUBMISSIONS --kata SLUG {shlex.join(['--out', str(folder)])}"
        raise Problem(f"{error} with `{command}`") from error
    except GradebookProblem as error:
        raise Problem(str(error)) from error


def kata_of(book: Gradebook, slug: str | None) -> Kata:
    """The kata that is named, or the only one of the gradebook.

    Raises:
        Problem: the gradebook has several, none, or not this one, or the kata is one of another course.
    """
    known = book.katas()
    if slug is None and len(known) != 1:
        words = f"has {', '.join(known)}: say which with --kata" if known else "has no submission: use `kata grade`"
        raise Problem(f"{book.path}: {words}")
    if slug is not None and slug not in known:
        raise Problem(f"{book.path}: has no submission to {slug}; it has {', '.join(known) or 'none'}")
    course = course_of()
    try:
        return course.kata(slug or known[0])
    except UnknownKata as error:
        which = f"is of the kata {slug or known[0]}, which is not in the course {course.file.title!r}"
        raise Problem(f"{book.path}: {which}; name its own course: kata --course DIR|NAME") from error


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
        raise Problem(f"{book.path}: {what}; `{command_on(book, kata, 'report')}` lists who has")


def tell_of_ungraded(book: Gradebook, kata: Kata) -> None:
    """Say on standard error if not everyone is graded, or not alike: what is written then is not the whole class."""
    standing = book.standing(kata.slug)
    if left := standing.ungraded:
        go_on = f"`{command_on(book, kata, 'regrade', '--ungraded')}` grades the rest"
        which = f"{left} of {standing.submissions} submissions {are(left)} not graded yet"
        click.echo(f"Note: {which}, and not in this; {go_on}", err=True)
    if left := standing.waiting:
        go_on = f"`{command_on(book, kata, 'regrade', '--ungraded')}` goes on"
        which = f"{left} of {plural(standing.submissions, 'submission')} {'waits' if left == 1 else 'wait'}"
        click.echo(f"Note: {which} to be graded again, and until then the earlier report counts; {go_on}", err=True)
    tell_of_unlike(book, kata)


def tell_of_unlike(book: Gradebook, kata: Kata) -> None:
    """Say on standard error if reports are not alike: of another state of the kata than the last run, or so graded."""
    standing = book.standing(kata.slug)
    again = f"`{command_on(book, kata, 'regrade', '--all')}` grades all again"
    reports = plural(standing.reports, "report")
    if count := standing.earlier:
        click.echo(f"Note: {count} of {reports} {are(count)} of an earlier state of the kata; {again}", err=True)
    if count := standing.other:
        how = "with another engine, seed or setting than the last run"
        click.echo(f"Note: {count} of {reports} {'was' if count == 1 else 'were'} graded {how}; {again}", err=True)


def tell_of_maxima(book: Gradebook, kata: Kata, records: Iterable[Record]) -> None:
    """Say on standard error if scores are points of different maxima, since a platform's sheet has one for all."""
    from tritonkata.exports.words import has_score

    maxima = Counter(record.max_score for record in records if has_score(record) and record.max_score > 0)
    if len(maxima) > 1:
        counts = [f"{plural(count, 'report')} of {number(most)} points" for most, count in sorted(maxima.items())]
        again = f"`{command_on(book, kata, 'regrade', '--all')}` makes them one"
        click.echo(f"Note: a sheet has one maximum, and these scores have several: {joined(counts)}; {again}", err=True)


def command_on(book: Gradebook, kata: Kata, name: str, *words: str) -> str:
    """A command on this gradebook as it can be pasted, with the course and the kata where they must be named."""
    which = ["--kata", kata.slug] if len(book.katas()) > 1 else []
    return f"{kata_here()} {shlex.join([name, '--out', str(book.path.parent), *which, *words])}"
