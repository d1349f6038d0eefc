"""Records to export: passed, failed, not gradable, a fault of the grader, set by hand, and as hostile as can be."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from feedback_samples import HOSTILE, check, fault, full_check, mismatch, passed, report, speed_report, traffic_report

from tritonkata.model.faults import Fault
from tritonkata.model.record import Override, Record, Student
from tritonkata.model.report import Case, CheckResult, Report

SEED = 987654321987654321
ADA = Student("ada", "Ada Lovelace", "ada@example.org", {"canvas": "101", "moodle": "5001", "sid": "S1"})
BOB = Student("bob", "Bob Müller", "bob@example.org", {"canvas": "102", "moodle": "5002", "sid": "S2"})
EVE = Student("eve", "Eve (O'Hara) + Söhne / [x]", "eve@example.org", {"canvas": "103", "moodle": "5003", "sid": "S3"})

FORMULAS = (
    "=1+1",
    "+1+1",
    "-1+cmd|' /C calc'!A0",
    "@SUM(1)",
    "\t=1",
    "\r=1",
    "\n=1",
    '"=1+1',
    "' =1",
    "\uff1d1+1",
    '=HYPERLINK("http://example.org","x")',
)
# What shows, reorders, moves the cursor, or is markup somewhere.
NASTY = f"{HOSTILE} ]]>&amp;<!-- -->\n# head\n[a](javascript:x) ${{{{ x }}}} ::error::x \u2066\u200b\ud7ff"


def make_report(*checks: CheckResult, **changes: Any) -> Report:
    return report(*checks, **{"seed": SEED, **changes})


def make_record(found: Report | None = None, *students: Student, **changes: Any) -> Record:
    fields: dict[str, Any] = {
        "file": "ada/safe_softmax.py",
        "graded_at": "2025-03-02T10:00:00+00:00",
        "submitted_at": "2025-03-01T23:59:59+00:00",
    }
    return Record(students or (ADA,), report=found or right_report(), **{**fields, **changes})


def right_report(**changes: Any) -> Report:
    return make_report(passed(), passed("values"), **{"speed": speed_report(), "medal": "gold", **changes})


def failed_report(**changes: Any) -> Report:
    """One right, one wrong with a name, one more of the same mistake, one not run."""
    skipped = CheckResult("wide", "Very wide rows", "skipped", 0, 1, None, "not run, because 'values' did not pass")
    wrong = full_check("wrong_output", "columns_dropped")
    same = check("wrong_output", "columns_dropped", name="strided", mismatch=mismatch())
    return make_report(passed(), wrong, same, skipped, unavailable={"Full size": "needs the engine gpu"}, **changes)


def error_report() -> Report:
    bad = Fault("compile_error", "load", "SyntaxError, line 3: invalid syntax", error="SyntaxError", line=3)
    return make_report(verdict="error", fault=bad, traffic=None, medal="none", resources=())


def grader_fault_report(*checks: CheckResult) -> Report:
    bad = Fault("grader_error", "protocol", "the launcher ended: out of memory")
    return make_report(*checks, verdict="grader_error", fault=bad, traffic=None, medal="none", score=0.0)


def overridden(found: Report | None = None, score: float = 7.5, reason: str = "Regraded after appeal") -> Record:
    by_hand = Override(score, reason, "Prof. Tan", "2025-03-05T08:00:00+00:00")
    return make_record(found or failed_report(), override=by_hand)


def hostile_record(text: str = NASTY, *, students: Iterable[Student] = ()) -> Record:
    """`text` wherever a learner, a platform or an instructor can put some."""
    short = text[:200]
    checks = (
        check(
            "runtime_error",
            name="boom",
            fault=fault("runtime_error", message=text, error=short, operation=short, advice=text, line=1),
            case=Case("f", ((1, 1),), ("float32",), ((1, 1),), text),
        ),
        check("wrong_output", name="shape", mismatch=mismatch("shape", expected_text=text, got_text=text)),
        CheckResult("late", text, "skipped", 0, 1, None, text),
        CheckResult("odd", text, "race", 0, 1, None, text),
    )
    found = make_report(*checks, notes=(text,), absent={"speed": text}, unavailable={text: text})
    whose = tuple(students) or (Student(text, text, text, {"canvas": text, "moodle": text, "sid": text}),)
    by_hand = Override(1.0, text, text, text)
    return make_record(found, *whose, file=text, override=by_hand, late=True)


def each_kind() -> dict[str, Record]:
    """One record of every kind, by name."""
    makers: dict[str, Callable[[], Record]] = {
        "right": make_record,
        "failed": lambda: make_record(failed_report()),
        "error": lambda: make_record(error_report()),
        "grader_error": lambda: make_record(grader_fault_report()),
        "grader_error_with_checks": lambda: make_record(grader_fault_report(passed(), check("grader_error", name="x"))),
        "override": overridden,
        "override_of_fault": lambda: overridden(grader_fault_report()),
        "group": lambda: make_record(failed_report(), ADA, BOB),
        "late": lambda: make_record(late=True, attempt=3),
        "bare": lambda: make_record(right_report(traffic=None, speed=None), submitted_at=None),
        "full_size": lambda: make_record(right_report(traffic_at_full_size=traffic_report())),
        "hostile": hostile_record,
    }
    return {name: maker() for name, maker in makers.items()}
