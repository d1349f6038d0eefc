"""An intake on a terminal: what will be graded, what will not, and the counts."""

from __future__ import annotations

from collections.abc import Iterator

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from tritonkata.feedback.clean import one_line
from tritonkata.feedback.numbers import plural
from tritonkata.intake.types import Attempt, Intake, LeftOut
from tritonkata.model.record import Student

MAX_WIDTH = 99
_TIME_CHARACTERS = 16
_RATIOS = {"student": 2, "file": 3, "left out": 1, "why": 1}
_LATE = {True: "late", False: "no", None: "-"}


def print_intake(intake: Intake, console: Console) -> None:
    """Print the attempts, what was left out and why, and how many of each, in fewer than 100 columns."""
    width = min(console.width, MAX_WIDTH)
    if intake.attempts:
        console.print(_attempts(intake.attempts, width))
    if intake.left_out:
        console.print(_left_out(intake.left_out, width))
    console.print(Text(last_line(intake)), width=width)


def last_line(intake: Intake) -> str:
    """`layout canvas: 3 submissions of 2 students, 1 left out, 4 files of operating systems ignored`."""
    students = {student.id for attempt in intake.attempts for student in attempt.students}
    counts = [
        f"{plural(len(intake.attempts), 'submission')} of {plural(len(students), 'student')}",
        f"{plural(len(intake.left_out), 'left out', 'left out')}",
    ]
    if intake.ignored:
        counts.append(f"{plural(intake.ignored, 'file')} of operating systems and editors ignored")
    return f"layout {intake.layout}: {', '.join(counts)}"


def _attempts(attempts: tuple[Attempt, ...], width: int) -> Table:
    table = _table(width, ("student", "file", "submitted (UTC)", "late", "attempt"))
    for attempt in attempts:
        students = "\n".join(named(student) for student in attempt.students)
        at = (attempt.submitted_at or "-")[:_TIME_CHARACTERS].replace("T", " ")
        file = Text(one_line(attempt.problem or attempt.path), style="red" if attempt.problem else "")
        table.add_row(Text(students), file, Text(one_line(at)), _LATE[attempt.late], str(attempt.attempt))
    return table


def _left_out(left_out: tuple[LeftOut, ...], width: int) -> Table:
    table = _table(width, ("left out", "why"))
    for left in left_out:
        table.add_row(Text("\n".join(_what(left))), Text(one_line(left.reason)))
    return table


def _what(left: LeftOut) -> Iterator[str]:
    if left.student is not None:
        yield named(left.student)
    if left.path:
        yield one_line(left.path)


def named(student: Student) -> str:
    """`204 (Cy Lee)`, or the id alone."""
    name = one_line(student.name)
    own = one_line(student.id)
    return f"{own} ({name})" if name and name != own else own


def _table(width: int, headers: tuple[str, ...]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, width=width, pad_edge=False)
    for header in headers:
        table.add_column(header, overflow="fold", no_wrap=header not in _RATIOS, ratio=_RATIOS.get(header))
    return table
