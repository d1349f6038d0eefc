"""What goes into a gradebook and comes out of it, besides records."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import msgspec

from tritonkata.model.record import Student


class GradebookProblem(Exception):
    """The gradebook cannot be used: one line with the file, what is wrong, and what to do."""


class NoGradebook(GradebookProblem):
    """There is none where it should be."""


class Settings(msgspec.Struct, frozen=True):
    """What a report depends on besides the submission and the seed. `course` is a digest of the kata's own files."""

    engine: str
    course: str
    target: str | None = None
    recompile: bool = False
    sandbox: bool = True


class Run(msgspec.Struct, frozen=True):
    """One way of grading one kata. Reports of the same run can be compared, and repeated to the bit."""

    id: int
    kata: str
    settings: Settings
    seed: int
    attempts: str = "latest"


class Submitted(msgspec.Struct, frozen=True):
    """One submission as intake found it. `source` is None where `problem` says why it cannot be read."""

    students: tuple[Student, ...]
    file: str
    source: bytes | None
    problem: str = ""
    submitted_at: str | None = None
    late: bool | None = None
    attempt: int = 1


class Standing(msgspec.Struct, frozen=True):
    """How far a kata's reports are those of its last run.

    Of `submissions`, those of the last download, `ungraded` have no report, and `waiting` one that counts until they
    are graded again, as was asked. Of the rest, reports of an `earlier` state of the kata, or of `other` settings or
    another seed, cannot be compared with those of the last run.
    """

    submissions: int = 0
    ungraded: int = 0
    waiting: int = 0
    earlier: int = 0
    other: int = 0

    @property
    def reports(self) -> int:
        """How many have a report."""
        return self.submissions - self.ungraded


@dataclass(frozen=True)
class Pending:
    """One submission that has no report of a run yet."""

    id: int
    student: str
    file: str
    source: bytes | None
    problem: str


class LeftOut(NamedTuple):
    """Something of a download that is not graded: `path` and `student` (an id) are empty where there is none."""

    path: str
    student: str
    reason: str
    name: str = ""
