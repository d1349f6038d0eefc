"""Which attempts are graded, and who of the roster handed in nothing."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import msgspec

from tritonkata.intake.names import known_as
from tritonkata.intake.types import Attempt, IntakeProblem, LeftOut, Taken, Which
from tritonkata.model.record import Student
from tritonkata.submission import readable

NO_SUBMISSION = "no submission"
MAX_ROSTER_BYTES = 16 << 20
_COLUMNS = ("id", "name", "email")


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


def read_roster(path: Path) -> tuple[Student, ...]:
    """Read who is expected: a CSV with the columns id, name and email, in this order or as its first line names them.

    Raises:
        IntakeProblem: it cannot be read, a line has no id, or an id comes twice.
    """
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            if path.stat().st_size > MAX_ROSTER_BYTES:
                raise IntakeProblem(
                    f"{readable(path)}: is larger than {MAX_ROSTER_BYTES >> 20} MiB; name a CSV of students"
                )
            rows = [(number, row) for number, row in enumerate(csv.reader(file), start=1) if any(map(str.strip, row))]
    except OSError as error:
        raise IntakeProblem(f"{readable(path)}: cannot be read: {error.strerror}; correct the path") from error
    except (UnicodeDecodeError, csv.Error) as error:
        raise IntakeProblem(f"{readable(path)}: is no CSV in UTF-8 ({error}); export it again") from error
    columns = _columns(rows[0][1]) if rows else None
    students: dict[str, Student] = {}
    for number, row in rows[1:] if columns else rows:
        student = _expected(row, columns or dict(zip(_COLUMNS, range(3), strict=True)))
        if not student.id or student.id in students:
            what = f"the id {student.id} comes a second time" if student.id else "has no id"
            raise IntakeProblem(f"{readable(path)}: row {number}: {what}; give each student one id of their own")
        students[student.id] = student
    return tuple(students.values())


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


def _columns(header: Sequence[str]) -> dict[str, int] | None:
    """Where each column is, if the row names them."""
    names = [cell.strip().casefold() for cell in header]
    return {name: names.index(name) for name in _COLUMNS if name in names} if "id" in names else None


def _expected(row: Sequence[str], columns: dict[str, int]) -> Student:
    cells = {name: known_as(row[place].strip()) for name, place in columns.items() if place < len(row)}
    return Student(cells.get("id", ""), cells.get("name", ""), cells.get("email", ""))
