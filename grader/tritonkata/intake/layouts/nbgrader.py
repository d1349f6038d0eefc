"""nbgrader's folders: `submitted/{student}/{assignment}/...`, with the time of submission in `timestamp.txt`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import msgspec

from tritonkata.feedback.numbers import few, joined
from tritonkata.intake.download import Download
from tritonkata.intake.layouts.common import (
    Layout,
    Parts,
    Work,
    attempt_of,
    grouped,
    no_attempt,
    pick,
    unmatched,
)
from tritonkata.intake.members import SEPARATOR, Member, MemberProblem
from tritonkata.intake.names import known_as, printable
from tritonkata.intake.times import in_utc
from tritonkata.intake.types import Attempt, LeftOut, Taken
from tritonkata.model.record import Student

SUBMITTED = "submitted"
TIMESTAMP = "timestamp.txt"
_MAX_TIMESTAMP_BYTES = 256
_DEPTH = 2


def _below(parts: Parts, is_submitted: bool) -> Parts:
    """`(student, assignment, ...)`, or nothing for a file that lies elsewhere."""
    start = parts.index(SUBMITTED) + 1 if SUBMITTED in parts[:-_DEPTH] else 0
    return parts[start:] if (start or is_submitted) and len(parts) - start > _DEPTH else ()


def _is_submitted(download: Download) -> bool:
    """Whether the download is itself what elsewhere lies in `submitted`."""
    if any(SUBMITTED in member.parts[:-_DEPTH] for member in download.members):
        return False
    stamped = any(len(member.parts) == _DEPTH + 1 and member.parts[-1] == TIMESTAMP for member in download.members)
    return stamped or download.name == SUBMITTED


def _sure(download: Download) -> float:
    is_submitted = _is_submitted(download)
    below = sum(bool(_below(member.parts, is_submitted)) for member in download.members)
    return below / len(download.members) if download.members else 0.0


def _take(download: Download, slug: str) -> Taken:
    works: list[tuple[str, Work]] = []
    strays: list[Member] = []
    is_submitted = _is_submitted(download)
    for member in download.members:
        if parts := _below(member.parts, is_submitted):
            works.append((parts[0], Work(parts[1:], member)))
        else:
            strays.append(member)
    attempts: list[Attempt] = []
    left_out: list[LeftOut] = []
    meant = _Meant.of({work.parts[0] for _, work in works}, slug)
    for student, files in grouped(works).items():
        found = _of_student(download, Student(known_as(student)), files, meant)
        attempts += found.attempts
        left_out += found.left_out
    return Taken(tuple(attempts), (*left_out, *unmatched(strays, LAYOUT.name)))


class _Meant(msgspec.Struct, frozen=True):
    """Which of the course's assignments is the kata: those of its name, or the only one of another.

    Args:
        slug: the kata.
        names: of the folders that are meant; none where nothing tells which of several is.
        all: every folder's name, of all students.
    """

    slug: str
    names: frozenset[str]
    all: frozenset[str]

    @staticmethod
    def of(names: Iterable[str], slug: str) -> _Meant:
        """`submitted/` holds all assignments of a course, so one student's folders say too little."""
        everything = frozenset(names)
        matching = frozenset(name for name in everything if _plain(name) == _plain(slug))
        only = everything if len({_plain(name) for name in everything}) == 1 else frozenset[str]()
        return _Meant(slug, matching or only, everything)

    def reason(self, own: Sequence[str]) -> str:
        """Why none of a student's own assignments is graded, or no single one."""
        chosen = [name for name in own if name in self.names]
        if not self.names:
            return (
                f"is in a course with several assignments ({_listed(self.all)}), none named {self.slug}; "
                f"rename the folder of the one that is meant to {self.slug}"
            )
        if chosen:
            return f"has several folders for {self.slug} ({_listed(chosen)}); keep the one to grade"
        return f"has no assignment {self.slug} ({_listed(own)})"


def _of_student(download: Download, student: Student, files: list[Work], meant: _Meant) -> Taken:
    assignments = grouped((work.parts[0], work) for work in files)
    names = [name for name in assignments if name in meant.names]
    place = files[0].member.parts[: -len(files[0].parts)]
    if len(names) != 1:
        return Taken((), (no_attempt(SEPARATOR.join(place), student, meant.reason(list(assignments))),))
    inside = [Work(work.parts[1:], work.member) for work in assignments[names[0]]]
    picked = pick([work for work in inside if work.parts != (TIMESTAMP,)], meant.slug)
    if picked.work is None:
        return Taken((), (no_attempt(SEPARATOR.join((*place, names[0])), student, picked.reason),))
    attempt = attempt_of((student,), picked.work)
    return Taken((msgspec.structs.replace(attempt, submitted_at=_time(download, inside)),))


def _listed(names: Iterable[str]) -> str:
    return joined(few(sorted(map(printable, names))))


def _plain(name: str) -> str:
    return re.sub(r"[^0-9a-z]+", "_", name.lower())


def _time(download: Download, files: list[Work]) -> str | None:
    """What the timestamp says; nbgrader means UTC where it names no zone."""
    for work in files:
        if work.parts == (TIMESTAMP,):
            try:
                text = download.read(work.member, _MAX_TIMESTAMP_BYTES)
            except MemberProblem:
                return None
            return in_utc(text.decode("utf-8", errors="replace"), without_zone_is_utc=True)
    return None


LAYOUT = Layout("nbgrader", "submitted/ann/safe_softmax/safe_softmax.py", _sure, _take)
