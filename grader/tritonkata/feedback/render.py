"""Explanations: the failed checks of a report, grouped by mistake, in words."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from tritonkata.feedback import summary
from tritonkata.feedback.clean import escape_markdown
from tritonkata.feedback.companions import with_companions
from tritonkata.feedback.excerpt import Excerpt, excerpt, fault_line
from tritonkata.feedback.facts import SOURCES
from tritonkata.feedback.numbers import digits_right
from tritonkata.feedback.passes import merged_loads, passed_over
from tritonkata.feedback.suspects import suspects
from tritonkata.feedback.templates import SUFFIX, TemplateProblem, mistake_summary, render, template_names
from tritonkata.model.answers import OF_ONE_QUESTION
from tritonkata.model.course import Kata
from tritonkata.model.faults import Fault
from tritonkata.model.report import CheckResult, Evidence, Report

_LOG = logging.getLogger(__name__)

# Most telling first: what stops everything else, then what makes wrong numbers, then cost.
_ORDER = (
    "grader_error",
    "compile_error",
    "forbidden_host_op",
    "invalid_output",
    "out_of_bounds",
    "uninitialised_read",
    "race",
    "runtime_error",
    "timeout",
    "wrong_output",
    "over_budget",
    "too_slow",
    "skipped",
)
_NOT_ABOUT_VALUES = frozenset({"shape", "dtype", "count", "type", "strides", "alias", "input_changed"})


@dataclass(frozen=True)
class Explanation:
    """One mistake, and every check that it cost.

    `headline`, `seen` and `body` are light Markdown (paragraphs, lists, tables,
    bold, code). `seen` is the evidence: which input, where, right and got.
    `body` is the likely cause and the next step. `checks` is empty when the
    fault concerns the whole file. `companions` are checks with wrong numbers that no known mistake gives,
    and that may well go with this one.
    """

    headline: str
    seen: str
    body: str
    verdict: str
    diagnosis: str | None
    checks: tuple[CheckResult, ...]
    excerpt: Excerpt | None = None
    companions: tuple[CheckResult, ...] = ()


def explain(report: Report, kata: Kata, source: str | None) -> tuple[Explanation, ...]:
    """Explanations of everything that failed, most telling first.

    Checks that share a diagnosis (or, without one, verdict and kind) share an
    explanation, made from the one with the most evidence. A skipped check gets
    one only if it says which construct the engine cannot run. `source` is the
    text of the submission, for the learner's own line.
    """
    groups: dict[tuple[str, ...], list[CheckResult]] = {}
    if report.fault is not None:
        whole = _whole_file(report.fault)
        groups[_key(whole)] = [whole]
    for check in report.checks:
        if _needs_words(check, report):
            groups.setdefault(_key(check), []).append(check)
    lost = sum(_points_lost(group) for group in groups.values() if group[0].verdict != "skipped")
    paired = with_companions(list(groups.values()))
    ordered = sorted(paired, key=lambda pair: _rank(pair[0], lost))
    return tuple(_explanation(group, beside, report, kata, source) for group, beside in ordered)


def _whole_file(fault: Fault) -> CheckResult:
    evidence = Evidence(fault=fault)
    return CheckResult("", "The whole file", fault.verdict, 0, 0, None, fault.message, evidence)


def _needs_words(check: CheckResult, report: Report) -> bool:
    if check.verdict == "pass":
        return False
    # What ended everything is said once, not once more by the check that met it.
    if report.fault is not None and check.evidence.fault == report.fault:
        return False
    fault = check.evidence.fault
    # What was not run because of the checks before it says so in the table already.
    return check.verdict != "skipped" or (fault is not None and fault.phase != "protocol")


def _key(check: CheckResult) -> tuple[str, ...]:
    if check.diagnosis:
        answer = check.evidence.answer
        question = answer.name if answer is not None and check.diagnosis in OF_ONE_QUESTION else ""
        return (check.verdict, check.diagnosis, question)
    if check.verdict == "grader_error":
        return (check.verdict,)
    mismatch, fault = check.evidence.mismatch, check.evidence.fault
    kind = mismatch.kind if mismatch else ""
    # A load fault and a fault in a kernel have different next steps; on which line of a loop time ran out is chance.
    line = str(fault_line(fault)) if check.verdict != "timeout" else ""
    place = (fault.phase, fault.operation, line) if fault else ()
    return (check.verdict, "", kind, *place)


def _rank(group: list[CheckResult], lost: float) -> tuple[bool, bool, int, bool, bool, float]:
    """Sort key. Behind what stops everything, a mistake that costs most points goes before faults at the edges."""
    check = group[0]
    fault, mismatch = check.evidence.fault, check.evidence.mismatch
    place = _ORDER.index(check.verdict)
    of_file = not check.name or (fault is not None and fault.phase == "load")
    if of_file and check.verdict not in ("grader_error", "skipped"):
        place = _ORDER.index("compile_error")
    stops_everything = check.verdict == "grader_error" or (of_file and check.verdict != "skipped")
    about_form = mismatch is not None and mismatch.kind in _NOT_ABOUT_VALUES
    most = place <= _ORDER.index("wrong_output") and 2 * _points_lost(group) > lost
    return (not stops_everything, not most, place, not about_form, check.diagnosis is None, -_points_lost(group))


def _points_lost(group: list[CheckResult]) -> float:
    return sum(check.max_points - check.points for check in group)


def _weight(check: CheckResult) -> tuple[bool, bool, bool, bool, bool]:
    evidence = check.evidence
    mismatch = evidence.mismatch
    return (
        evidence.fault is not None,
        mismatch is not None and bool(mismatch.expected or mismatch.expected_text),
        bool(evidence.traffic or evidence.unwritten),
        evidence.traffic is not None and bool(evidence.traffic.per_tensor),
        evidence.case is not None,
    )


def _explanation(
    group: list[CheckResult], beside: list[CheckResult], report: Report, kata: Kata, source: str | None
) -> Explanation:
    check = max(group, key=_weight)
    evidence = check.evidence
    context = context_of(check, report, kata)
    headline, body = _words(check, context, kata)
    return Explanation(
        headline=headline,
        seen=render(["_seen" + SUFFIX], {**context, "companions": beside}),
        body=body,
        verdict=check.verdict,
        diagnosis=check.diagnosis,
        checks=tuple(one for one in group if one.name),
        excerpt=excerpt(evidence.fault, source),
        companions=tuple(beside),
    )


def context_of(check: CheckResult, report: Report, kata: Kata) -> dict[str, Any]:
    """What a template may name."""
    evidence = check.evidence
    traffic = evidence.traffic
    return {
        "check": check,
        "mismatch": evidence.mismatch,
        "fault": evidence.fault,
        "case": evidence.case,
        "traffic": traffic,
        "answer": evidence.answer,
        "counted_by": SOURCES[traffic.source] if traffic else "",
        "passed_over": passed_over(traffic),
        "suspects": suspects(traffic),
        "merged_loads": merged_loads(traffic),
        "unwritten": evidence.unwritten,
        "fills": evidence.fills,
        "digits_right": digits_right(evidence.mismatch),
        "line": fault_line(evidence.fault),
        "known": _known(check, kata),
        "alternatives": [sentence for name in check.alternatives if (sentence := mistake_summary(kata.mistakes, name))],
        "kata": kata,
        "report": report,
        "lacks_gpu": summary.lacks_gpu(evidence.fault),
        "is_of_course": summary.is_of_course(evidence.fault.message if evidence.fault else check.message, kata),
    }


def _words(check: CheckResult, context: Mapping[str, Any], kata: Kata) -> tuple[str, str]:
    """Headline and body of the first template that renders."""
    for own, names in _attempts(check, kata):
        try:
            return _split(render(names, context, own), check, kata)
        except TemplateProblem as problem:
            # An author's slip must not cost the learner the explanation: the default says it too.
            _LOG.warning("%s", problem)
    return escape_markdown(check.title), escape_markdown(check.message)


def _attempts(check: CheckResult, kata: Kata) -> Iterable[tuple[Any, list[str]]]:
    names = template_names(check.diagnosis, check.verdict)
    yield kata.feedback, names
    yield None, [name for name in names if not name.startswith("kata/")]


def _split(text: str, check: CheckResult, kata: Kata) -> tuple[str, str]:
    """A first line `# ...` is the headline; otherwise the wrong model's docstring, or the diagnosis, gives it."""
    first, _, rest = text.partition("\n")
    if first.startswith("#"):
        return first.lstrip("#").strip(), rest.strip()
    return escape_markdown(_known(check, kata) or check.title), text


def _known(check: CheckResult, kata: Kata) -> str:
    """The mistake in one sentence without its full stop, or nothing when none was recognised."""
    if check.diagnosis is None:
        return ""
    words = mistake_summary(kata.mistakes, check.diagnosis).rstrip(".") or check.diagnosis.replace("_", " ")
    return words[:1].upper() + words[1:]
