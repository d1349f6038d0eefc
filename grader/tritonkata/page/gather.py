"""From records to what the report of a class says: one pass, and no report is kept longer than that."""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from tritonkata.exports.explaining import explanations_of
from tritonkata.exports.words import engine_words, has_score, outcome, override_line, result_words, score_line
from tritonkata.feedback.clean import one_line
from tritonkata.feedback.facts import absent_lines, speed_line, traffic_lines
from tritonkata.feedback.numbers import number
from tritonkata.feedback.prose import plain
from tritonkata.feedback.templates import mistake_summary
from tritonkata.hidden.budget import slack
from tritonkata.model.course import Kata
from tritonkata.model.faults import Fault, Verdict
from tritonkata.model.record import Record
from tritonkata.model.report import CheckResult, Report
from tritonkata.page.model import CheckLine, CheckRate, Failure, Gathered, Mistake, Part, Unnamed
from tritonkata.page.people import People

VERDICTS = {"pass": "passed", "fail": "failed", "error": "not gradable", "grader_error": "grader failed"}
_DIGITS = re.compile(r"\d+")
_MOST_ABSENT = 6
_MINUTE = len("2025-03-01T23:59")


@dataclass
class _Counts:
    """What is counted while records pass by."""

    students: set[str] = field(default_factory=set)
    titles: dict[str, str] = field(default_factory=dict)
    verdicts: dict[str, Counter[str]] = field(default_factory=dict)
    mistakes: dict[str, list[int]] = field(default_factory=dict)
    descriptions: dict[str, str] = field(default_factory=dict)
    unnamed: dict[Failure, list[int]] = field(default_factory=dict)
    engines: dict[str, None] = field(default_factory=dict)
    expected: dict[str, None] = field(default_factory=dict)
    absent: Counter[str] = field(default_factory=Counter)
    first: str = ""
    last: str = ""


def gather(records: Iterable[Record], kata: Kata, people: People) -> Gathered:
    """Everything that the page says of these records.

    Args:
        records: of one kata, in any order; each is used once.
        kata: theirs.
        people: how students are named.
    """
    counts = _Counts()
    parts: list[Part] = []
    for place, record in enumerate(records):
        _count(counts, place, record, kata, people)
        parts.append(_part(record, kata, people))
    # By what is shown: the order of ids would tell who is who behind numbers.
    order = sorted(range(len(parts)), key=lambda place: (_by_name(parts[place]), place))
    numbers = {place: number for number, place in enumerate(order, start=1)}
    return Gathered(
        parts=tuple(replace(parts[place], number=numbers[place]) for place in order),
        students=len(counts.students),
        checks=_rates(counts),
        mistakes=_mistakes(counts, numbers),
        unnamed=tuple(Unnamed(verdict, _numbers(places, numbers)) for verdict, places in counts.unnamed.items()),
        engines=tuple(counts.engines or counts.expected),
        graded=(_minute(counts.first), _minute(counts.last)),
        absent=tuple(line for line, _ in counts.absent.most_common(_MOST_ABSENT)),
    )


def _count(counts: _Counts, place: int, record: Record, kata: Kata, people: People) -> None:
    report = record.report
    counts.students.update(student.id for student in record.students)
    # Of an engine that never started, since the file could not be read, no versions are known.
    started = report.engine.triton or report.engine.torch
    (counts.engines if started else counts.expected)[engine_words(report)] = None
    counts.first = min(counts.first or record.graded_at, record.graded_at)
    counts.last = max(counts.last, record.graded_at)
    counts.absent.update(people.text(line, record) for line in absent_lines(report))
    for check in report.checks:
        counts.titles[check.name] = people.text(check.title, record)
        counts.verdicts.setdefault(check.name, Counter())[check.verdict] += 1
    failed = [check for check in report.checks if check.verdict not in ("pass", "skipped", "grader_error")]
    for name in dict.fromkeys(check.diagnosis for check in failed if check.diagnosis):
        counts.mistakes.setdefault(name, []).append(place)
        if name not in counts.descriptions:
            counts.descriptions[name] = _description(name, record, kata, people)
    verdicts: dict[Failure, None] = {check.verdict: None for check in failed if not check.diagnosis}
    if report.verdict == "error" and report.fault is not None:
        verdicts[_failure(report, report.fault)] = None
    for verdict in verdicts:
        counts.unnamed.setdefault(verdict, []).append(place)


def _failure(report: Report, fault: Fault) -> Failure:
    # A file has a digest once it can be read; what Python refuses of one without is told as such.
    is_unread = fault.verdict == "runtime_error" and not report.submission.sha256
    return "unreadable_file" if is_unread else fault.verdict


def _description(name: str, record: Record, kata: Kata, people: People) -> str:
    """The mistake in one line: the wrong model's, or else the headline of its feedback."""
    known = mistake_summary(kata.mistakes, name)
    if known:
        return one_line(known)
    for explanation in explanations_of(record, kata, None):
        if explanation.diagnosis == name:
            return people.text(plain(explanation.headline), record)
    return ""


def _rates(counts: _Counts) -> tuple[CheckRate, ...]:
    """The checks, those that most fail first."""
    rates = []
    for name, verdicts in counts.verdicts.items():
        skipped, spoilt, passed = verdicts["skipped"], verdicts["grader_error"], verdicts["pass"]
        ran = verdicts.total() - skipped - spoilt
        rates.append(CheckRate(counts.titles[name], ran - passed, ran, skipped + spoilt))
    return tuple(sorted(rates, key=lambda one: -one.rate))


def _mistakes(counts: _Counts, numbers: Mapping[int, int]) -> tuple[Mistake, ...]:
    ordered = sorted(counts.mistakes.items(), key=lambda item: (-len(item[1]), item[0]))
    return tuple(
        Mistake(one_line(name), counts.descriptions[name], _numbers(places, numbers)) for name, places in ordered
    )


def _numbers(places: Iterable[int], numbers: Mapping[int, int]) -> tuple[int, ...]:
    return tuple(sorted(numbers[place] for place in places))


def _by_name(part: Part) -> str:
    """Numbers inside names by their size."""
    return _DIGITS.sub(lambda found: found[0].zfill(12), part.name.casefold())


def _part(record: Record, kata: Kata, people: People) -> Part:
    report = record.report
    fault = report.fault
    names = tuple(people.name(student) for student in record.students)
    traversals = _traversals(record, kata)
    return Part(
        number=0,
        name="; ".join(names),
        group=names if len(names) > 1 else (),
        score=record.score if has_score(record) else None,
        most=record.max_score,
        verdict=VERDICTS[report.verdict],
        medal="" if report.medal == "none" else report.medal,
        diagnosis=one_line(record.diagnosis or ""),
        traversals=traversals,
        is_within=traversals is not None and traversals <= _most_allowed(record, kata),
        fraction_of_copy=report.speed.fraction_of_copy if report.speed else None,
        outcome=outcome(record),
        score_line=score_line(record),
        override=_override(record, people),
        fault=people.text(f"{fault.error}: {fault.message}" if fault.error else fault.message, record) if fault else "",
        failed=tuple(
            _line(check, record, people) for check in report.checks if check.verdict not in ("pass", "skipped")
        ),
        skipped=_titles(record, "skipped", people),
        passed=_titles(record, "pass", people),
        facts=tuple(_facts(record, people)),
        measured=tuple(line for line in (*traffic_lines(report.traffic, kata)[:1], speed_line(report.speed)) if line),
        submitted=_minute(record.submitted_at),
        is_late=bool(record.late),
    )


def _traversals(record: Record, kata: Kata) -> float | None:
    """What the budget speaks of: loads and stores, or loads alone."""
    traffic = record.report.traffic
    if traffic is None or not traffic.unit_bytes:
        return None
    found = traffic.bytes.requested
    return (found.loaded if kata.file.traffic.counts == "loads" else found.total) / traffic.unit_bytes


def _most_allowed(record: Record, kata: Kata) -> float:
    traffic = record.report.traffic
    return kata.file.traffic.budget + (slack(traffic.source) if traffic else 0.0)


def _override(record: Record, people: People) -> str:
    line = override_line(record)
    if people.is_anonymous and record.override is not None and record.override.author:
        line = line.replace(one_line(f" by {record.override.author}"), "", 1)
    return people.text(line, record)


def _titles(record: Record, verdict: Verdict, people: People) -> tuple[str, ...]:
    checks = (check for check in record.report.checks if check.verdict == verdict)
    return tuple(sys.intern(people.text(check.title, record)) for check in checks)


def _line(check: CheckResult, record: Record, people: People) -> CheckLine:
    spoilt = check.verdict == "grader_error"
    return CheckLine(
        title=sys.intern(people.text(check.title, record)),
        result=people.text(result_words(check), record),
        points="" if spoilt else f"{number(check.points)}/{number(check.max_points)}",
        message=people.text(check.message, record),
        mood="error" if spoilt else "fail",
    )


def _facts(record: Record, people: People) -> Iterator[tuple[str, str]]:
    if not people.is_anonymous:
        yield "File", one_line(record.file, limit=300)
    if record.submitted_at is not None or record.late:
        marked = " (late)" if record.late else ""
        yield "Submitted", f"{_minute(record.submitted_at)}{marked}".strip()
    if record.attempt > 1:
        yield "Attempt", str(record.attempt)
    yield "Graded", _minute(record.graded_at)


def _minute(moment: str | None) -> str:
    return one_line((moment or "")[:_MINUTE].replace("T", " "))
