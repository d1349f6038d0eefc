"""A student's feedback as one Markdown page and one HTML page that asks for nothing else.

Both say what `kata check` says of the same report, except for the seed, and what an instructor decided about it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import jinja2

from tritonkata.exports import markup
from tritonkata.exports.explaining import explanations_of, parts_of
from tritonkata.exports.filenames import Names, write_whole
from tritonkata.exports.words import engine_words, outcome, override_line, result_words, score_line
from tritonkata.feedback import summary
from tritonkata.feedback.clean import escape_markdown, one_line
from tritonkata.feedback.facts import fact_lines
from tritonkata.feedback.numbers import number
from tritonkata.feedback.render import Explanation
from tritonkata.model.course import Kata
from tritonkata.model.record import Record, Student
from tritonkata.model.report import CheckResult

_TEMPLATES = Path(__file__).parent / "templates"


@dataclass(frozen=True)
class Row:
    """One check. `mood` is pass, fail, skip or error."""

    title: str
    result: str
    points: str
    mood: str


@dataclass(frozen=True)
class Page:
    """What both pages say, as plain text but for the explanations."""

    title: str
    outcome: str
    score: str
    override: str
    following: str
    facts: tuple[tuple[str, str], ...]
    rows: tuple[Row, ...]
    explanations: tuple[Explanation, ...]
    measured: tuple[str, ...]


def to_markdown(record: Record, kata: Kata, source: str | None = None) -> str:
    """The Markdown page.

    Args:
        record: what was graded.
        kata: its kata, for the title and the words of the explanations.
        source: the text of the submission, for its own lines; None if it is not at hand.
    """
    return "\n\n".join(_sections(page_of(record, kata, source))) + "\n"


def to_html(record: Record, kata: Kata, source: str | None = None) -> str:
    """The HTML page, with the same arguments."""
    return _environment().get_template("feedback.html.j2").render(page=page_of(record, kata, source))


def write(
    records: Iterable[Record],
    kata: Kata,
    folder: Path,
    source_of: Callable[[Record], str | None] = lambda _: None,
) -> tuple[Path, ...]:
    """Write `<student>.md` and `<student>.html` into `folder` for every student of every record.

    A second record of a student has its attempt in the name.

    Args:
        records: what was graded.
        kata: their kata.
        folder: where to; it must exist.
        source_of: gives the text of a record's submission where it is at hand.

    Returns:
        The files, in the order of writing.

    Raises:
        OSError: the folder is missing or not writable.
    """
    names = Names()
    written: list[Path] = []
    for record in records:
        source = source_of(record)
        texts = {".md": to_markdown(record, kata, source), ".html": to_html(record, kata, source)}
        for student in record.students:
            name = names.name(student.id, record.attempt)
            for suffix, text in texts.items():
                path = folder / f"{name}{suffix}"
                write_whole(path, text)
                written.append(path)
    return tuple(written)


def page_of(record: Record, kata: Kata, source: str | None) -> Page:
    """Everything that a page says."""
    report = record.report
    return Page(
        title=one_line(kata.file.title),
        outcome=outcome(record),
        score=score_line(record),
        override=override_line(record),
        following=summary.next_medal_line(report, kata),
        facts=tuple(_facts(record)),
        rows=tuple(_row(check) for check in report.checks),
        explanations=explanations_of(record, kata, source),
        measured=fact_lines(report, kata),
    )


def _facts(record: Record) -> Iterator[tuple[str, str]]:
    yield "Student" if len(record.students) == 1 else "Students", "; ".join(map(_name, record.students))
    yield "File", one_line(record.file)
    if record.submitted_at is not None:
        marked = " (late)" if record.late else ""
        yield "Submitted", one_line(record.submitted_at) + marked
    elif record.late:
        yield "Submitted", "late"
    yield "Attempt", str(record.attempt)
    yield "Graded", one_line(record.graded_at)
    yield "Engine", engine_words(record.report)


def _name(student: Student) -> str:
    return one_line(f"{student.name} ({student.id})" if student.name and student.name != student.id else student.id)


def _row(check: CheckResult) -> Row:
    moods = {"pass": "pass", "skipped": "skip", "grader_error": "error"}
    points = "" if check.verdict == "grader_error" else f"{number(check.points)}/{number(check.max_points)}"
    return Row(one_line(check.title), result_words(check), points, moods.get(check.verdict, "fail"))


def _title(check: CheckResult) -> str:
    return one_line(check.title)


def _sections(page: Page) -> Iterator[str]:
    yield f"# {escape_markdown(page.title)}"
    yield f"**{escape_markdown(page.outcome)}**"
    yield " ".join(escape_markdown(f"{line.rstrip('.')}.") for line in (page.score, page.following) if line)
    if page.override:
        yield f"**{escape_markdown(page.override)}**"
    yield "\n".join(f"- {name}: {escape_markdown(value)}" for name, value in page.facts)
    if page.rows:
        yield "\n".join(_table(page.rows))
    for explanation in page.explanations:
        yield f"## {explanation.headline}"
        if explanation.checks:
            yield f"Checks: {', '.join(escape_markdown(check.title) for check in explanation.checks)}"
        yield from parts_of(explanation)
    if page.measured:
        yield "## Measured"
        yield "\n".join(f"- {escape_markdown(line)}" for line in page.measured)


def _table(rows: Iterable[Row]) -> Iterator[str]:
    yield "| check | result | points |"
    yield "|---|---|---:|"
    for row in rows:
        yield f"| {escape_markdown(row.title)} | {escape_markdown(row.result)} | {row.points} |"


@cache
def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_TEMPLATES),
        undefined=jinja2.StrictUndefined,
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(markdown=markup.to_html, inline_markdown=markup.line_to_html, title_of=_title)
    return environment
