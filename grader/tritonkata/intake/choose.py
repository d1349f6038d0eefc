"""Which attempts are graded, and who of the roster handed in nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import msgspec

from tritonkata.intake.types import Attempt, LeftOut, Taken, Which
from tritonkata.model.record import Student

NO_SUBMISSION = "no submission"


def choose(attempts: Sequence[Attempt], which: Which) -> Taken:
    """The attempts to grade.

    Args:
        attempts: those of every student, in any order.
        which: `latest` keeps one for each student; `best` and `all` keep every one, since only grading tells the best.

    Returns:
        Attempts in the order of their students, numbered from 1 for each; earlier ones are left out with their reason.
    """
    numbered, unsure = _numbered(attempts)
    ordered = sorted(numbered, key=lambda attempt: (attempt.student.id, attempt.attempt, attempt.path))
    if which != "latest":
        return Taken(tuple(ordered))
    last: dict[str, Attempt] = {}
    for attempt in sorted(ordered, key=_when):
        last |= dict.fromkeys((student.id for student in attempt.students), attempt)
    kept: list[Attempt] = []
    left_out: list[LeftOut] = []
    for attempt in ordered:
        # A member of a group can have a later attempt of their own, which leaves the group's to the others.
        students = tuple(student for student in attempt.students if last[student.id] is attempt)
        if students:
            kept.append(msgspec.structs.replace(attempt, students=students))
        others = (student for student in attempt.students if student not in students)
        left_out += [_earlier(attempt, student, last[student.id], student.id in unsure) for student in others]
    return Taken(tuple(kept), tuple(left_out))


def absent(attempts: Iterable[Attempt], left_out: Iterable[LeftOut], roster: Iterable[Student]) -> Iterator[LeftOut]:
    """Those of the roster who appear nowhere in the download."""
    students = [student for attempt in attempts for student in attempt.students]
    students += [left.student for left in left_out if left.student is not None]
    known = {word for student in students for word in _words(student)}
    return (LeftOut("", student, NO_SUBMISSION) for student in roster if not _words(student) & known)


def _numbered(attempts: Sequence[Attempt]) -> tuple[list[Attempt], set[str]]:
    """The attempts with numbers that differ for each student, and the students of whom nothing says which is newer."""
    by_student: dict[str, list[Attempt]] = {}
    for attempt in attempts:
        by_student.setdefault(attempt.student.id, []).append(attempt)
    numbered: list[Attempt] = []
    unsure: set[str] = set()
    for student, own in by_student.items():
        if len({attempt.attempt for attempt in own}) < len(own):
            times = {attempt.submitted_at for attempt in own}
            if None in times or len(times) < len(own):
                unsure.add(student)
            own.sort(key=_when)
            numbered += (msgspec.structs.replace(one, attempt=place) for place, one in enumerate(own, start=1))
        else:
            numbered += own
    return numbered, unsure


def _when(attempt: Attempt) -> tuple[str, int, str]:
    return (attempt.submitted_at or "", attempt.attempt, attempt.path)


def _earlier(attempt: Attempt, student: Student, last: Attempt, unsure: bool) -> LeftOut:
    """Why the student's other attempt is graded instead."""
    if unsure:
        reason = f"{student.id} is here twice and nothing says which is newer; {last.path} is graded"
        return LeftOut(attempt.path, student, f"{reason}, or say --attempt all")
    return LeftOut(attempt.path, student, f"is an earlier attempt; {last.path} is the latest")


def _words(student: Student) -> set[str]:
    """Everything by which a roster may name a student."""
    return {word.casefold() for word in (student.id, student.email, *student.numbers.values()) if word}
