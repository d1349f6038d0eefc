"""`kata report`: the class as one HTML file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from tritonkata.cli.common import FileType, Problem, shown
from tritonkata.cli.outputs import refuse_foreign
from tritonkata.cli.records import KATA, OUT, attempts_of, kata_of, opened, tell_of_ungraded
from tritonkata.feedback.numbers import plural

BEGINNING = b"<!doctype html>\n<!-- Written by kata report -->"
"""Of every page, as its template has it."""

if TYPE_CHECKING:
    from tritonkata.gradebook.store import Gradebook
    from tritonkata.model.course import Kata
    from tritonkata.page.people import People


@click.command(epilog="Example: kata report --out grades")
@OUT
@KATA
@click.option("--to", metavar="FILE", type=FileType(), help="The page.  [default: report-SLUG.html in DIR]")
@click.option("--anonymous", is_flag=True, help="Numbers in place of names and ids, and no file names.")
def report(out: Path, slug: str | None, to: Path | None, anonymous: bool) -> None:
    """Write one HTML page about the class: scores, checks, mistakes, traffic and speed, student by student.

    The page is one file that asks for nothing from anywhere. Without --anonymous it names everyone.
    """
    from tritonkata.exports.filenames import write_whole
    from tritonkata.page.gather import gather
    from tritonkata.page.model import Left
    from tritonkata.page.render import to_html

    with opened(out) as book:
        kata = kata_of(book, slug)
        path = to if to is not None else out / f"report-{kata.slug}.html"
        _refuse_odd(path)
        attempts = attempts_of(book, kata)
        people = _people(book, kata, attempts, anonymous=anonymous)
        gathered = gather(book.records(kata.slug, attempts), kata, people)
        left_out = [Left(*people.left_out(*one)) for one in book.left_out(kata.slug)]
        tell_of_ungraded(book, kata)
    if not gathered.parts:
        raise Problem(f"{book.path}: nothing of {kata.slug} was graded yet; begin with `kata grade`")
    try:
        write_whole(path, to_html(gathered, kata, left_out, is_anonymous=anonymous))
    except OSError as error:
        raise Problem(f"--to: {shown(path)} cannot be written ({error.strerror}); choose another file") from error
    click.echo(f"{plural(len(gathered.parts), 'submission')} to {kata.file.title}: {shown(path)}")


def _refuse_odd(path: Path) -> None:
    """Only a file can be replaced by a page; what is no file stays.

    Raises:
        Problem: the target is something else, such as a submission, or its folder is missing.
    """
    if not path.absolute().parent.is_dir():
        raise Problem(f"--to: {shown(path.parent)} is no directory; create it first")
    if path.exists() and not path.is_file():
        raise Problem(f"--to: {shown(path)} is no file; choose another name")
    if not path.is_symlink():  # a link is replaced, and what it points at stays
        refuse_foreign("--to", path, BEGINNING)


def _people(book: Gradebook, kata: Kata, attempts: str, *, anonymous: bool) -> People:
    from tritonkata.page.people import Named, Numbered

    if not anonymous:
        return Named()
    ids = {student.id for record in book.records(kata.slug, attempts) for student in record.students}
    ids |= {student for _, student, _ in book.left_out(kata.slug) if student}
    last = book.last_run(kata.slug)
    return Numbered(ids, 0 if last is None else last.seed)
