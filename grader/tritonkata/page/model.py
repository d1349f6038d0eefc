"""What the report of a class says, before it is laid out. All text is plain and cleaned, not escaped."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from tritonkata.model.faults import Verdict


@dataclass(frozen=True)
class CheckLine:
    """One check of one submission that ran and did not pass. `mood` is fail, or error for a fault of the grader."""

    title: str
    result: str
    points: str
    message: str
    mood: str


@dataclass(frozen=True)
class Part:
    """One submission.

    Args:
        number: from 1, in the order of the page; names the part's anchor.
        name: who handed it in.
        group: the names of everyone, where there are several.
        score: the score that counts; None where the grader failed.
        most: what it is of; 0 where nothing could be graded.
        verdict: of the report.
        medal: or empty.
        diagnosis: the mistake behind most failed checks, as its name; or empty.
        traversals: requested, as the budget counts them; None if not counted.
        is_within: whether that keeps to the budget.
        fraction_of_copy: of the copy's speed; None if not timed.
        outcome: a sentence.
        score_line: score and medal in words.
        override: who set the score, when and why; empty where nobody did.
        fault: what kept the file from being graded; or empty.
        failed: the checks that ran and did not pass.
        skipped: the titles of those that did not run.
        passed: the titles of those that did.
        facts: name and value: file, times, attempt.
        measured: traffic and speed in words.
        submitted: to the minute, UTC; or empty.
        is_late: as the platform marked it.
    """

    number: int
    name: str
    group: tuple[str, ...]
    score: float | None
    most: float
    verdict: str
    medal: str
    diagnosis: str
    traversals: float | None
    is_within: bool
    fraction_of_copy: float | None
    outcome: str
    score_line: str
    override: str
    fault: str
    failed: tuple[CheckLine, ...]
    skipped: tuple[str, ...]
    passed: tuple[str, ...]
    facts: tuple[tuple[str, str], ...]
    measured: tuple[str, ...]
    submitted: str
    is_late: bool


@dataclass(frozen=True)
class CheckRate:
    """How one check went in the class. What was skipped, or spoilt by the grader, did not run."""

    title: str
    failed: int
    ran: int
    skipped: int

    @property
    def rate(self) -> float:
        """The share that failed of those that ran."""
        return self.failed / self.ran if self.ran else 0.0


@dataclass(frozen=True)
class Mistake:
    """One mistake: its name, what it is, and the numbers of the parts that have it."""

    name: str
    description: str
    parts: tuple[int, ...]


Failure = Verdict | Literal["unreadable_file"]
"""How a submission failed: `unreadable_file` where nothing of it was ever run."""


@dataclass(frozen=True)
class Unnamed:
    """Failed checks for which no mistake was recognised, by verdict, and files that no check could be run on."""

    verdict: Failure
    parts: tuple[int, ...]


@dataclass(frozen=True)
class Left:
    """Something in the download that was not graded."""

    path: str
    student: str
    reason: str


@dataclass(frozen=True)
class Gathered:
    """Everything of one kata's records.

    Args:
        parts: by name; the first has number 1.
        students: how many people handed something in.
        checks: those that most submissions fail first.
        mistakes: the most frequent first.
        unnamed: failures for which no mistake was recognised.
        engines: which ran.
        graded: the first and the last time of grading, to the minute, UTC.
        absent: what could not be run or measured, the most frequent first.
    """

    parts: tuple[Part, ...]
    students: int
    checks: tuple[CheckRate, ...]
    mistakes: tuple[Mistake, ...]
    unnamed: tuple[Unnamed, ...]
    engines: tuple[str, ...]
    graded: tuple[str, str]
    absent: tuple[str, ...]
