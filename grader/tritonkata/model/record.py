"""One line of a gradebook: whose work it is, when it came, its report, and what an instructor decided about it.

Every export, page and list reads records and nothing else.
"""

from __future__ import annotations

import msgspec

from tritonkata.model.report import Medal, Report, main_diagnosis

FORMAT_VERSION = 1


class Student(msgspec.Struct, frozen=True, order=True):
    """A person as the download names them. `id` is what grades are filed under.

    `numbers` are identifiers of the platform that the download came from, such as `canvas`, `moodle`, `sid`, `github`.
    """

    id: str
    name: str = ""
    email: str = ""
    numbers: dict[str, str] = {}


class Override(msgspec.Struct, frozen=True):
    """A score that an instructor set by hand. `at` is a time in ISO 8601, UTC."""

    score: float
    reason: str
    author: str
    at: str


class Record(msgspec.Struct, frozen=True):
    """One graded submission.

    Args:
        students: everyone who gets this grade.
        file: where the submission lies in the download.
        report: what the grader said, whole and never edited.
        graded_at: time of grading, ISO 8601 in UTC.
        submitted_at: time of submission, likewise, where the download tells it. Grading again never changes it.
        late: whether the platform marked it late, where it says.
        attempt: which attempt of the student this is, from 1.
        override: set by hand; the report keeps the original.
    """

    students: tuple[Student, ...]
    file: str
    report: Report
    graded_at: str
    submitted_at: str | None = None
    late: bool | None = None
    attempt: int = 1
    override: Override | None = None
    format_version: int = FORMAT_VERSION

    @property
    def student(self) -> Student:
        """The one that the record is filed under."""
        return self.students[0]

    @property
    def score(self) -> float:
        """The score that counts."""
        return self.report.score if self.override is None else self.override.score

    @property
    def max_score(self) -> float:
        """The most that the checks which ran could give; 0 where nothing could be graded."""
        return self.report.max_score

    @property
    def medal(self) -> Medal:
        """The report's medal."""
        return self.report.medal

    @property
    def diagnosis(self) -> str | None:
        """The mistake that explains most failed checks."""
        return main_diagnosis(self.report)
