"""The explanations that `kata check` gives, laid out by check and as Markdown or plain text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import msgspec

from tritonkata.exports.words import result_words
from tritonkata.feedback.clean import escape_markdown
from tritonkata.feedback.prose import plain
from tritonkata.feedback.render import Explanation, explain
from tritonkata.model.course import Kata
from tritonkata.model.record import Record
from tritonkata.model.report import CheckResult

_NO_SEED = 0
_AFTER_A_GRADER_FAULT = (
    "This says nothing about the submission, and must not count against it.\n\n"
    "Next: nothing for you to change. Tell your instructor, who can grade it again."
)


def explanations_of(record: Record, kata: Kata, source: str | None) -> tuple[Explanation, ...]:
    """What `kata check` explains, without the seed, which a template could name; most telling first."""
    report = msgspec.structs.replace(record.report, seed=_NO_SEED)
    return tuple(
        replace(one, body=_AFTER_A_GRADER_FAULT) if one.verdict == "grader_error" else one
        for one in explain(report, kata, source)
    )


def markdown_of(explanation: Explanation) -> str:
    """One mistake: headline in bold, the learner's own line, the evidence, what to do."""
    return "\n\n".join((f"**{explanation.headline}**", *parts_of(explanation)))


def parts_of(explanation: Explanation) -> tuple[str, ...]:
    """What follows the headline, as Markdown."""
    parts = [explanation.seen, explanation.body]
    if explanation.excerpt is not None:
        # An indented block cannot be closed early by what stands in it.
        parts.insert(0, "\n".join(f"    {line}" for line, _ in explanation.excerpt.lines()))
    return tuple(part for part in parts if part)


def plain_of(explanation: Explanation) -> str:
    """The same without markup."""
    parts = [plain(explanation.headline)]
    if explanation.excerpt is not None:
        parts.append("\n".join(line for line, _ in explanation.excerpt.lines()))
    parts += [plain(part) for part in (explanation.seen, explanation.body) if part]
    return "\n\n".join(parts)


def of_checks(explanations: tuple[Explanation, ...]) -> Mapping[str, Explanation]:
    """For each failed check's name, the explanation that it shares with others."""
    return {check.name: one for one in explanations for check in one.checks}


def of_whole_file(explanations: tuple[Explanation, ...]) -> tuple[Explanation, ...]:
    """Those that concern no check but the file."""
    return tuple(one for one in explanations if not one.checks)


def check_markdown(check: CheckResult, explained: Mapping[str, Explanation]) -> str:
    """What a student reads under one check; checks behind the first one of a mistake point at it."""
    explanation = explained.get(check.name)
    if explanation is None:
        return "" if check.verdict == "pass" else escape_markdown(_short(check))
    first = explanation.checks[0]
    if first.name != check.name:
        return f"**{explanation.headline}**\n\nExplained under: {escape_markdown(first.title)}"
    return markdown_of(explanation)


def check_text(check: CheckResult, explained: Mapping[str, Explanation]) -> str:
    """The same without markup."""
    explanation = explained.get(check.name)
    if explanation is None:
        return "" if check.verdict == "pass" else plain(escape_markdown(_short(check)))
    first = explanation.checks[0]
    if first.name != check.name:
        return f"{plain(explanation.headline)}\n\nExplained under: {plain(escape_markdown(first.title))}"
    return plain_of(explanation)


def _short(check: CheckResult) -> str:
    words = result_words(check)
    words = words[:1].upper() + words[1:]
    return words if check.verdict == "skipped" or not check.message else f"{words}: {check.message}"
