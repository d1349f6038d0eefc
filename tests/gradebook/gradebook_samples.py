"""Submissions and reports, as small as they can be."""

from __future__ import annotations

from collections.abc import Iterable

from tritonkata.gradebook.store import Gradebook
from tritonkata.gradebook.types import LeftOut, Run, Settings, Submitted
from tritonkata.model.record import Student
from tritonkata.model.report import CheckResult, Engine, Report, ReportVerdict, Submission

KATA = "doubled"
SETTINGS = Settings("interpreter", "digest")
SEED = 7


def handed_in(student: str, source: bytes | None = b"x = 1\n", **more: object) -> Submitted:
    """What a student (or several, with `+` between them) handed in."""
    students = tuple(Student(name, name.title()) for name in student.split("+"))
    fields = {"file": f"{students[0].id}/doubled.py", "submitted_at": "2029-12-01T12:00:00+00:00", **more}
    return Submitted(students, source=source, **fields)  # type: ignore[arg-type]


def take_in(book: Gradebook, *submitted: Submitted, left_out: Iterable[LeftOut] = ()) -> int:
    return book.take_in(KATA, submitted, left_out)


def run_of(book: Gradebook, seed: int | None = SEED, settings: Settings = SETTINGS, attempts: str = "latest") -> Run:
    return book.run(KATA, settings, seed, attempts)


def report(score: float = 3.0, verdict: ReportVerdict = "fail", diagnosis: str | None = "tripled") -> Report:
    check = CheckResult("values", "Twice the input", "wrong_output", 0, 5, diagnosis)
    return Report(
        kata=KATA,
        submission=Submission("doubled.py", "0" * 64),
        engine=Engine("interpreter", "a processor", "sm_90"),
        verdict=verdict,
        score=score,
        max_score=5.0,
        medal="none",
        seed=SEED,
        checks=(check,) if diagnosis else (),
    )


def grade_all(book: Gradebook, run: Run, found: Report | None = None) -> list[str]:
    """Give every pending submission a report; whose they were."""
    graded = []
    for one in book.pending(run):
        book.put_report(one.id, run, found or report())
        graded.append(one.student)
    return graded


def waiting(book: Gradebook, run: Run) -> list[str]:
    """Whose submissions are pending, in order."""
    return [one.student for one in book.pending(run)]
