"""A report on a terminal, or in a pipe: the same words, with or without colours."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from rich.console import Console
from rich.text import Text

from tritonkata.feedback import summary
from tritonkata.feedback.clean import clean, one_line
from tritonkata.feedback.excerpt import Excerpt
from tritonkata.feedback.facts import fact_lines
from tritonkata.feedback.numbers import number, plural
from tritonkata.feedback.prose import encodable, hanging, inline, plain, wrapped
from tritonkata.feedback.render import Explanation, explain
from tritonkata.model.course import Kata
from tritonkata.model.report import CheckResult, Report

MAX_WIDTH = 100
EXPLANATIONS = 3
OUTPUT_LINES = 20
OUTPUT_WIDTH = 200
_SOURCE_INDENT = " " * 5
_MARKS = {"pass": ("pass", "green"), "skipped": ("skip", "dim"), "grader_error": ("ERR", "magenta")}
_FAILED = ("FAIL", "bold red")
_OUTCOME_STYLES = {"pass": "bold green", "fail": "bold red", "error": "bold red", "grader_error": "bold magenta"}
_MEDAL_STYLES = {"none": "", "bronze": "dark_orange3", "silver": "bright_white", "gold": "bold yellow"}


def print_report(
    report: Report,
    kata: Kata,
    source: str | None,
    console: Console,
    *,
    limit: int | None = EXPLANATIONS,
    see_all: str | None = None,
) -> None:
    """Print everything a learner needs from a report.

    Args:
        report: what to print.
        kata: the drill that was graded.
        source: the text of the submission, for its own lines; None if it could not be read.
        console: where to; its width counts up to 100 columns, and colours only if it is a terminal.
        limit: at most this many explanations; None for all.
        see_all: the command that shows all of them, named where some are left out.
    """
    width = min(console.width, MAX_WIDTH)
    explanations = explain(report, kata, source)
    shown = explanations if limit is None else explanations[: max(limit, 0)]
    for part in (
        _header(console, report, kata, width),
        _checks(console, report.checks, width),
        _explanations(console, shown, width),
        _left_out(console, explanations[len(shown) :], see_all, width),
        _facts(console, report, kata, width),
        _result(console, report, kata, width),
    ):
        lines = list(part)
        for line in lines:
            console.print(line, soft_wrap=True)
        if lines:
            console.print()


def print_output(printed: str, console: Console) -> None:
    """Print what a submission printed itself, marked as such: its first lines, made harmless."""
    width = min(console.width, MAX_WIDTH)
    lines = printed.rstrip().splitlines()
    if not lines:
        return
    for row in hanging(console, Text("Printed by your file, run on shapes without values:", style="dim"), width):
        console.print(row, soft_wrap=True)
    for line in lines[:OUTPUT_LINES]:
        # Where a workflow runs this, a line may be taken for one of its commands.
        shown = clean(line[:OUTPUT_WIDTH]).replace("##[", "# #[") + (" ..." if len(line) > OUTPUT_WIDTH else "")
        for row in hanging(console, Text(shown, style="dim"), width, "  | "):
            console.print(row, soft_wrap=True)
    if len(lines) > OUTPUT_LINES:
        console.print(Text("and more", style="dim"))
    console.print()


def _header(console: Console, report: Report, kata: Kata, width: int) -> Iterator[Text]:
    title = Text(one_line(kata.file.title), style="bold").append(f"  {one_line(report.submission.path)}", style="dim")
    yield from hanging(console, title, width)
    yield from hanging(console, Text(summary.engine_line(report), style="dim"), width)


def _checks(console: Console, checks: Sequence[CheckResult], width: int) -> Iterator[Text]:
    """One line a check: mark, title, points, and the mistake's id where one was named."""
    ran = [check for check in checks if check.verdict != "skipped"]
    titles = [one_line(check.title) for check in ran]
    room = min(max((len(title) for title in titles), default=0), width - 16)
    for check, title in zip(ran, titles, strict=True):
        mark, style = _MARKS.get(check.verdict, _FAILED)
        points = f"{number(check.points)}/{number(check.max_points)}"
        line = Text(f"{title:<{room}}  {points:>5}")
        if check.verdict != "pass":
            line.append(f"  {check.diagnosis or check.verdict}", style="dim")
        yield from _marked(console, line, width, mark, style)
    yield from _skipped(console, [check for check in checks if check.verdict == "skipped"], width)


def _marked(console: Console, line: Text, width: int, mark: str, style: str) -> Iterator[Text]:
    for place, row in enumerate(hanging(console, line, width, "  ", f"{mark:<4}  ")):
        if place == 0:
            row.stylize(style, 2, 2 + len(mark))
        yield row


def _skipped(console: Console, checks: Sequence[CheckResult], width: int) -> Iterator[Text]:
    """Skipped checks, one entry a reason: a failed first check can skip all others for the same one."""
    reasons: dict[str, list[CheckResult]] = {}
    for check in checks:
        reasons.setdefault(one_line(check.message) or "not run", []).append(check)
    for reason, same in reasons.items():
        titles = ", ".join(one_line(check.title) for check in same)
        points = number(sum(check.max_points for check in same))
        text = Text(f"{titles} (0/{points}): {reason}", style="dim")
        yield from hanging(console, text, width, "  ", "skip  ")


def _explanations(console: Console, explanations: Iterable[Explanation], width: int) -> Iterator[Text]:
    for place, explanation in enumerate(explanations, start=1):
        if place > 1:
            yield Text()
        headline = inline(explanation.headline)
        headline.stylize("bold")
        yield from hanging(console, headline, width, "", f"{place}. ")
        yield from _concerned(console, explanation, width)
        if explanation.excerpt is not None:
            yield from _source_line(console, explanation.excerpt, width)
        yield from wrapped(console, explanation.seen, width, "   ")
        yield from wrapped(console, explanation.body, width, "   ")


def _concerned(console: Console, explanation: Explanation, width: int) -> Iterator[Text]:
    checks = explanation.checks
    if not checks:
        return
    names = ", ".join(one_line(check.name) for check in checks)
    text = f"{'check' if len(checks) == 1 else 'checks'} {names}"
    if explanation.verdict not in ("grader_error", "skipped"):
        lost = sum(check.max_points - check.points for check in checks)
        text = f"{text} ({plural(lost, 'point')})"
    yield from hanging(console, Text(text, style="dim"), width, "   ")


def _source_line(console: Console, excerpt: Excerpt, width: int) -> Iterator[Text]:
    for text, is_marker in excerpt.lines(width - len(_SOURCE_INDENT)):
        line = encodable(console, Text(_SOURCE_INDENT + text, style="bold red" if is_marker else "cyan"))
        # An escape for what the console cannot show may have made it longer.
        line.truncate(width, overflow="crop")
        yield line


def _left_out(console: Console, rest: Sequence[Explanation], see_all: str | None, width: int) -> Iterator[Text]:
    if not rest:
        return
    if see_all:
        yield from hanging(console, Text(f"and {len(rest)} more: run `{see_all}`"), width)
        return
    names = "; ".join(plain(explanation.headline) for explanation in rest)
    yield from hanging(console, Text(f"and {len(rest)} more: {names}"), width)


def _facts(console: Console, report: Report, kata: Kata, width: int) -> Iterator[Text]:
    for line in fact_lines(report, kata):
        style = "yellow" if line.startswith("Note:") else "dim" if line.startswith("Not measured:") else ""
        yield from hanging(console, Text(line, style=style), width, "", "")


def _result(console: Console, report: Report, kata: Kata, width: int) -> Iterator[Text]:
    outcome = Text(summary.outcome_line(report), style=_OUTCOME_STYLES[report.verdict])
    yield from hanging(console, outcome, width)
    if report.verdict in ("pass", "fail"):
        yield from hanging(console, Text(summary.score_line(report), style=_MEDAL_STYLES[report.medal]), width)
    following = summary.next_medal_line(report, kata)
    if following:
        yield from hanging(console, Text(following), width)
