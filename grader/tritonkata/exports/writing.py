"""Every format by its name: one file for a class, or one for each student."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import BinaryIO, TextIO

from tritonkata.exports import canvas, classroom50, csv, gradescope, jsonl, junit, moodle, prairielearn
from tritonkata.exports.filenames import Names, write_whole
from tritonkata.exports.words import ExportProblem
from tritonkata.model.course import Kata
from tritonkata.model.record import Record

SourceOf = Callable[[Record], str | None]


def write_class(
    name: str,
    records: Iterable[Record],
    kata: Kata,
    text: TextIO,
    binary: BinaryIO,
    into: str | None = None,
    *,
    column: str | None = None,
    called: str = "",
) -> tuple[str, ...]:
    """Write one file of a class; what an instructor must be told about it.

    Args:
        name: one of `formats.CLASS`.
        records: of one kata.
        kata: that kata.
        text: where texts go; must not translate line ends.
        binary: where XML goes.
        into: the text of the instructor's own sheet (canvas, moodle), to be filled in.
        column: the heading of the column for the grades there, or the assignment's id.
        called: what messages call that sheet, such as its path.

    Raises:
        ExportProblem: the sheet is missing or not what the platform makes.
    """
    writers: dict[str, Callable[[], tuple[str, ...]]] = {
        "junit": lambda: junit.write(records, binary),
        "canvas": lambda: canvas.write(records, kata, text, into, column=column, called=called),
        "moodle": lambda: moodle.write(records, text, into, column=column, called=called),
        "csv": lambda: csv.write(records, text),
        "csv-checks": lambda: csv.write_checks(records, text),
        "jsonl": lambda: jsonl.write(records, text),
    }
    return writers[name]()


def student_json(name: str, record: Record, kata: Kata, source: str | None) -> str:
    """One student's result in one of `formats.STUDENT`.

    Raises:
        ExportProblem: the format cannot say what the record says.
    """
    makers: dict[str, Callable[[], str]] = {
        "gradescope": lambda: gradescope.to_json(record, kata, source),
        "prairielearn": lambda: prairielearn.to_json(record, kata, source),
        "classroom50": lambda: classroom50.to_json(record, classroom50.Place(assignment=kata.slug)),
    }
    return makers[name]()


def write_students(
    name: str, records: Iterable[Record], kata: Kata, folder: Path, source_of: SourceOf
) -> Iterator[Path | str]:
    """Write a file for each student into `folder`; each file's path, or a warning in its place.

    Raises:
        OSError: the folder cannot be written.
    """
    names = Names()
    for record in records:
        try:
            text = student_json(name, record, kata, source_of(record))
        except ExportProblem as problem:
            yield f"{record.student.id}: {problem}"
            continue
        for student in record.students:
            path = folder / f"{names.name(student.id, record.attempt)}.json"
            write_whole(path, text)
            yield path
