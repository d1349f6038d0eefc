"""`kata export` and `kata feedback`: a gradebook for a platform, and for its students."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tritonkata.cli.common import EXIT_PASSED, FileType, Problem, shown
from tritonkata.cli.outputs import refuse_foreign
from tritonkata.cli.records import (
    KATA,
    OUT,
    STUDENT,
    attempts_of,
    kata_of,
    opened,
    some,
    tell_of_maxima,
    tell_of_ungraded,
)
from tritonkata.exports import formats
from tritonkata.feedback.numbers import are, plural
from tritonkata.files import write_target

if TYPE_CHECKING:
    from tritonkata.gradebook.store import Gradebook
    from tritonkata.model.course import Kata
    from tritonkata.model.record import Record

_MAX_SHEET_BYTES = 64 << 20
_JSON_LINE = b'{"student":'


@click.command(epilog="Example: kata export --out grades --format canvas --into gradebook.csv --to filled.csv")
@OUT
@KATA
@click.option("--format", "form", type=click.Choice([*formats.STUDENT, *formats.CLASS]), required=True)
@click.option("--to", "target", metavar="FILE", type=FileType(), help="Standard output without it; a folder for JSON.")
@click.option("--into", "sheet", metavar="FILE", type=FileType(), help="Canvas's or Moodle's own sheet, to fill in.")
@click.option("--column", metavar="NAME", help="The sheet's column for the grades, by its heading or Canvas's id.")
@click.option("--student", metavar="ID", type=STUDENT, help="This student alone.")
def export(
    out: Path,
    slug: str | None,
    form: str,
    target: Path | None,
    sheet: Path | None,
    column: str | None,
    student: str | None,
) -> None:
    """Write grades the way a platform reads them.

    gradescope, classroom50 and prairielearn take one JSON file a student: name a folder with --to, or one --student.
    """
    from tritonkata.exports.words import ExportProblem

    if sheet is not None and form not in formats.SHEETS:
        raise Problem(f"--into: only {' and '.join(formats.SHEETS)} have a sheet to fill in; leave it out")
    if column is not None and form not in formats.SHEETS:
        raise Problem(f"--column: only {' and '.join(formats.SHEETS)} have a column to name; leave it out")
    with opened(out) as book:
        kata = kata_of(book, slug)
        records = _chosen(book, kata, student)
        try:
            if form in formats.STUDENT:
                warnings = _students(book, kata, form, records, target, student)
            else:
                warnings = _class(kata, form, records, target, sheet, column)
        except ExportProblem as error:
            raise Problem(str(error)) from error
        except OSError as error:
            raise Problem(
                f"{error.filename or target}: cannot be written: {error.strerror}; choose another --to"
            ) from error
        if form in formats.SHEETS:
            tell_of_maxima(book, kata, records)
        if student is None:
            tell_of_ungraded(book, kata)
    for warning in warnings:
        click.echo(f"Note: {warning}", err=True)


@click.command(epilog="Example: kata feedback --out grades --to pages")
@OUT
@KATA
@click.option(
    "--to", "target", metavar="DIR", type=FileType(), help="Where the pages go.  [default: DIR/feedback-SLUG]"
)
@click.option("--student", metavar="ID", type=STUDENT, help="This student alone.")
@click.pass_context
def feedback(ctx: click.Context, out: Path, slug: str | None, target: Path | None, student: str | None) -> None:
    """Write one Markdown and one HTML page a student: what `kata check` would have told them."""
    from tritonkata.exports import pages

    with opened(out) as book:
        kata = kata_of(book, slug)
        folder = target or out / f"feedback-{kata.slug}"
        try:
            folder.mkdir(parents=True, exist_ok=True)
            written = pages.write(
                _chosen(book, kata, student), kata, folder, lambda record: book.source(kata.slug, record)
            )
        except OSError as error:
            raise Problem(f"{folder}: cannot be written: {error.strerror}; choose another --to") from error
        if student is None:
            tell_of_ungraded(book, kata)
    click.echo(f"{plural(len(written), 'page')} in {folder}")
    if student is None:
        _tell_of_others(folder, written)
    ctx.exit(EXIT_PASSED)


def _chosen(book: Gradebook, kata: Kata, student: str | None) -> list[Record]:
    """The records that count, of everyone or of one, who is alone in theirs then."""
    from msgspec.structs import replace

    records = list(book.records(kata.slug, attempts_of(book, kata)))
    if student is None:
        if not records:
            raise Problem(f"{book.path}: nothing of {kata.slug} is graded yet; use `kata grade`")
        return records
    chosen = [replace(record, students=(one,)) for record in records for one in record.students if one.id == student]
    if not chosen:
        raise Problem(f"{book.path}: {student} has no graded submission to {kata.slug}; `kata report` lists who has")
    return chosen


def _students(
    book: Gradebook, kata: Kata, form: str, records: list[Record], target: Path | None, student: str | None
) -> list[str]:
    from tritonkata.exports.writing import student_json, write_students

    def source_of(record: Record) -> str | None:
        return book.source(kata.slug, record)

    if target is None:
        if student is None:
            raise Problem(f"{form} takes one file a student: name a folder with --to, or one student with --student")
        click.echo(student_json(form, records[0], kata, source_of(records[0])), nl=False)
        return []
    target.mkdir(parents=True, exist_ok=True)
    written = list(write_students(form, records, kata, target, source_of))
    files = [one for one in written if isinstance(one, Path)]
    click.echo(f"{plural(len(files), 'file')} in {target}", err=True)
    if student is None:
        _tell_of_others(target, files)
    return [one for one in written if isinstance(one, str)]


def _tell_of_others(folder: Path, written: Iterable[Path]) -> None:
    """Say which files of this kind are left in the folder: of people who are gone, or of an attempt no longer counted.

    They stay, since they may as well be somebody's own.
    """
    from tritonkata.exports.filenames import others

    if names := others(folder, written):
        which = f"{plural(len(names), 'file')} there {are(len(names))} not of this export"
        click.echo(f"Note: {which}: {some(names)}", err=True)


def _class(
    kata: Kata, form: str, records: list[Record], target: Path | None, sheet: Path | None, column: str | None
) -> list[str]:
    from tritonkata.exports.writing import write_class

    text, binary = io.StringIO(newline=""), io.BytesIO()
    into, called = (None, "") if sheet is None else (_sheet(sheet), shown(sheet))
    warnings = write_class(form, records, kata, text, binary, into, column=column, called=called)
    content = binary.getvalue() or text.getvalue().encode()
    if target is None:
        sys.stdout.flush()
        sys.stdout.buffer.write(content)
        sys.stdout.buffer.flush()
    else:
        if sheet is None or target.resolve() != sheet.resolve():
            refuse_foreign("--to", target, _start(form, content))
        write_target(target, content)
        click.echo(f"{target}: {plural(len(records), 'record')}", err=True)
    return list(warnings)


def _start(form: str, content: bytes) -> bytes:
    """How every export of this form begins, whoever is in it: mostly with a line of titles."""
    if form == "jsonl":
        return _JSON_LINE if content else b""
    first, end, rest = content.partition(b"\n")
    # The first line of JUnit's is that of any XML.
    return first + end + rest.split(maxsplit=1)[0] if form == "junit" else first


def _sheet(path: Path) -> str:
    try:
        with path.open("rb") as file:
            data = file.read(_MAX_SHEET_BYTES)
        return data.decode("utf-8-sig")
    except OSError as error:
        raise Problem(f"{path}: cannot be read: {error.strerror}; name the sheet that the platform gave") from error
    except UnicodeDecodeError as error:
        raise Problem(f"{path}: is not UTF-8; download it again as CSV in UTF-8") from error
