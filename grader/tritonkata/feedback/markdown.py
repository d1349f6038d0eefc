"""A report as one Markdown document, for a pull request, a chat or a web page."""

from __future__ import annotations

from collections.abc import Iterator

from tritonkata.feedback import summary
from tritonkata.feedback.clean import escape_markdown
from tritonkata.feedback.excerpt import Excerpt
from tritonkata.feedback.facts import fact_lines
from tritonkata.feedback.numbers import number
from tritonkata.feedback.render import Explanation, explain
from tritonkata.model.course import Kata
from tritonkata.model.report import CheckResult, Report


def to_markdown(report: Report, kata: Kata, source: str | None) -> str:
    """The same checks, explanations and facts as in the terminal, all of them.

    Text of the submission is escaped: it shows as it is and makes no link, HTML or heading.
    """
    return "\n".join(_lines(report, kata, source)).rstrip() + "\n"


def _lines(report: Report, kata: Kata, source: str | None) -> Iterator[str]:
    yield f"# {escape_markdown(kata.file.title)}"
    yield ""
    yield f"**{escape_markdown(summary.outcome_line(report))}**"
    if report.verdict in ("pass", "fail"):
        yield escape_markdown(f"{summary.score_line(report)}. {summary.next_medal_line(report, kata)}".strip())
    yield ""
    yield escape_markdown(f"{report.submission.path}; {summary.engine_line(report)}")
    yield ""
    yield from _table(report.checks)
    for explanation in explain(report, kata, source):
        yield from _explanation(explanation)
    measured = fact_lines(report, kata)
    if measured:
        yield "## Measured"
        yield ""
        yield from (f"- {escape_markdown(line)}" for line in measured)


def _table(checks: tuple[CheckResult, ...]) -> Iterator[str]:
    if not checks:
        return
    yield "| check | result | points |"
    yield "|---|---|---:|"
    for check in checks:
        result = check.diagnosis or check.verdict.replace("_", " ")
        if check.verdict == "skipped" and check.message:
            result = f"skipped: {check.message}"
        cells = (escape_markdown(check.title), escape_markdown(result))
        yield f"| {' | '.join(cells)} | {number(check.points)}/{number(check.max_points)} |"
    yield ""


def _explanation(explanation: Explanation) -> Iterator[str]:
    yield f"## {explanation.headline}"
    yield ""
    if explanation.checks:
        yield f"Checks: {', '.join(escape_markdown(check.name) for check in explanation.checks)}"
        yield ""
    if explanation.excerpt is not None:
        yield from _source(explanation.excerpt)
    for part in (explanation.seen, explanation.body):
        if part:
            yield part
            yield ""


def _source(excerpt: Excerpt) -> Iterator[str]:
    # An indented block cannot be closed early by what stands in it.
    yield from (f"    {line}" for line, _ in excerpt.lines())
    yield ""
