"""A class in a real gradebook: reports of every kind, as many as are asked for."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
from export_samples import NASTY, error_report, failed_report, grader_fault_report, hostile_record, right_report
from feedback_samples import UNIT, check, passed, speed_report, traffic_report

from tritonkata.courses import load_course
from tritonkata.gradebook.opening import open_gradebook
from tritonkata.gradebook.store import Gradebook
from tritonkata.gradebook.types import LeftOut, Settings, Submitted
from tritonkata.model.course import Kata
from tritonkata.model.observation import Level
from tritonkata.model.record import Override, Student
from tritonkata.model.report import Report, Submission
from tritonkata.page.gather import gather
from tritonkata.page.model import Gathered
from tritonkata.page.people import Named, People
from tritonkata.page.render import to_html

SLUG = "safe_softmax"
SEED = 987654321987654321
TITLES = tuple(f"Rows of kind number {place}, with gaps between them" for place in range(16))
GIVEN = ("Ann", "Bea", "Carl", "Dora", "Emil", "Finn", "Greta", "Hugo", "Ida", "Jan", "Kim", "Leo")
FAMILY = ("Ahrens", "Baker", "Castro", "Diaz", "Ek", "Fuchs", "Gray", "Haas", "Ito", "Jung", "Koch", "Lund", "Mori")
MISTAKES = ("missing_other", "no_max_subtraction", "store_without_mask", "missing_other", "low_precision_sum")
LEFT_OUT = (
    LeftOut("bea7/old/safe_softmax.py", "s00001", "is an earlier attempt; bea7/safe_softmax.py is the latest"),
    LeftOut("notes.txt", "", "is no Python file"),
    LeftOut("", "s99999", "handed nothing in"),
)


def kata() -> Kata:
    return load_course().kata(SLUG)


def student(place: int) -> Student:
    name = f"{GIVEN[place % len(GIVEN)]} {FAMILY[place // len(GIVEN) % len(FAMILY)]}"
    return Student(f"s{place:05}", name, f"s{place:05}@example.org")


def graded(place: int, *, timed: bool = True) -> Report:
    """The report of one of many: most pass, some fail a few checks, few cannot be graded."""
    if place % 29 == 28:
        return error_report()
    if place % 31 == 30:
        return grader_fault_report()
    loads = (1, 1, 2, 2, 3, 3, 5)[place % 7]
    wrong = place % 5 if place % 3 == 0 else 0
    checks = tuple(_check(number, place, failed=number < wrong) for number in range(len(TITLES)))
    fraction = (0.97 - 0.17 * (loads - 1) - 0.01 * (place % 9)) if timed else None
    speed = None if fraction is None else speed_report(fraction_of_copy=fraction, kernel_us=63.25 / fraction)
    medal = "none" if wrong else "gold" if loads == 1 else "silver"
    traffic = traffic_report(Level(loads * UNIT, UNIT))
    base = right_report() if not wrong else failed_report()
    absent = {} if timed else {"speed": "needs a GPU"}
    return msgspec.structs.replace(
        base,
        checks=checks,
        score=sum(one.points for one in checks),
        max_score=sum(one.max_points for one in checks),
        medal=medal,
        traffic=traffic,
        speed=speed,
        absent=absent,
        unavailable={},
    )


def _check(number: int, place: int, *, failed: bool):
    title = TITLES[number]
    if not failed:
        return msgspec.structs.replace(passed(f"check{number}"), title=title)
    named = MISTAKES[(place + number) % len(MISTAKES)] if place % 4 else None
    wrong = check("wrong_output", named, name=f"check{number}")
    said = f"7 of 12 elements wrong in 2 rows; the first wrong row is row {place % 7}"
    return msgspec.structs.replace(wrong, title=title, max_points=1.0, message=said)


def fill(book: Gradebook, reports: list[tuple[Student, Report]], *, sources: dict[str, bytes] | None = None) -> None:
    """Put reports of students into a gradebook, as `kata grade` does."""
    run = book.run(SLUG, Settings("gpu", "digest"), SEED)
    submitted = (
        Submitted(
            (one,),
            f"{one.id}/{SLUG}.py",
            (sources or {}).get(one.id, b"pass\n"),
            submitted_at=f"2025-03-01T{place % 24:02}:{place % 60:02}:00+00:00",
            late=place % 11 == 10,
        )
        for place, (one, _) in enumerate(reports)
    )
    book.take_in(SLUG, submitted, LEFT_OUT)
    by_student = {one.id: report for one, report in reports}
    for pending in list(book.pending(run)):
        report = by_student[pending.student]
        named = Submission(report.submission.path, report.submission.sha256, pending.student)
        book.put_report(pending.id, run, msgspec.structs.replace(report, submission=named))


@contextmanager
def a_class(folder: Path, count: int = 60, *, timed: bool = True, hostile: bool = False) -> Iterator[Gradebook]:
    """A gradebook with `count` students, one score set by hand, and a hostile one if wanted."""
    reports = [(student(place), graded(place, timed=timed)) for place in range(count)]
    if hostile:
        record = hostile_record()
        reports.append((Student("zoe", NASTY[:200], NASTY[:200]), record.report))
    with open_gradebook(folder, create=True) as book:
        fill(book, reports)
        if count > 3:
            by_hand = Override(7.5, "Regraded after appeal of Dora Ahrens", "Prof. Tan", "2025-03-05T08:00:00+00:00")
            book.override(SLUG, student(3).id, by_hand, by_hand.reason, by_hand.author)
        if hostile:
            book.override(SLUG, "zoe", Override(1.0, NASTY, NASTY, NASTY), NASTY, NASTY)
        yield book


def gathered(book: Gradebook, people: People | None = None) -> Gathered:
    return gather(book.records(SLUG), kata(), people or Named())


def page(folder: Path, count: int = 60, **changes: bool) -> str:
    """The page of such a class."""
    with a_class(folder, count, **changes) as book:
        left_out = [Named().left_out(one) for one in book.left_out(SLUG)]
        return to_html(gathered(book), kata(), left_out)
