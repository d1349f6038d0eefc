"""What intake makes of a download: attempts that can be read, and what was left out and why."""

from __future__ import annotations

from typing import Literal

import msgspec

from tritonkata.intake.members import Member
from tritonkata.model.record import Student

Which = Literal["latest", "best", "all"]


class IntakeProblem(Exception):
    """The download, the roster or a choice cannot be used: one line with what, where and what to do."""


class Attempt(msgspec.Struct, frozen=True):
    """One file of one student or group, not read yet (`Download.source` reads it).

    Args:
        students: everyone who handed it in; the first is the one it is filed under.
        path: where it lies in the download, as text that can be printed.
        member: what to read.
        problem: why it cannot be read, in one line for the student, where that is known already.
        submitted_at: ISO 8601 in UTC, where the download says it.
        late: whether the platform marked it late; None where it says nothing.
        attempt: which attempt of the student this is, from 1.
    """

    students: tuple[Student, ...]
    path: str
    member: Member
    problem: str = ""
    submitted_at: str | None = None
    late: bool | None = None
    attempt: int = 1

    @property
    def student(self) -> Student:
        """The one that it is filed under."""
        return self.students[0]


class LeftOut(msgspec.Struct, frozen=True):
    """Something that is not graded. `path` is printable, and empty where there is no file at all."""

    path: str
    student: Student | None
    reason: str


class Taken(msgspec.Struct, frozen=True):
    """What one layout, or one choice among attempts, made of a download."""

    attempts: tuple[Attempt, ...]
    left_out: tuple[LeftOut, ...] = ()


class Intake(msgspec.Struct, frozen=True):
    """Everything to grade and everything left out. `ignored` counts files that operating systems and editors leave."""

    layout: str
    attempts: tuple[Attempt, ...]
    left_out: tuple[LeftOut, ...]
    ignored: int = 0
