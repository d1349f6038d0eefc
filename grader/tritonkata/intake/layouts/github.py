"""Repositories cloned for one assignment, by GitHub Classroom's command line, Classroom 50 or by hand.

GitHub Classroom makes `{assignment}-submissions/{assignment}-{username}/`, Classroom 50
`{classroom}-{assignment}_submissions_{time}/{classroom}-{assignment}-{username}/`. The username is what follows the
assignment in a repository's name; where that cannot be told, the student is named after the whole repository. The time
is that of Classroom 50's `scores.csv`, else that of the last commit.
"""

from __future__ import annotations

import contextlib
import re

import msgspec

from tritonkata.intake.download import Download
from tritonkata.intake.git_times import CommitTimes
from tritonkata.intake.layouts.classroom50 import MAX_SCORES_BYTES, SCORES, Scored, read_scores
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
from tritonkata.intake.names import known_as
from tritonkata.intake.types import Attempt, LeftOut, Taken
from tritonkata.model.record import Student

_FOLDER = re.compile(r"(?P<assignment>.+?)(?:-submissions|_submissions(?:_[0-9T_]+)?)(?: ?\(\d+\)|-\d+)?", re.DOTALL)


class _Place(msgspec.Struct, frozen=True):
    """Where the repositories lie: below `depth` folders, of which the last one names the assignment, if any does."""

    depth: int
    assignment: str
    sure: float


def _place(download: Download) -> _Place:
    """Where most repositories are."""
    files = [member.parts for member in download.members if member.parts[-1] != SCORES]
    places = [_named(files, depth, folder) for depth, folder in _folders(download, files)]
    cloned = {folder for folder in download.repositories if folder and SEPARATOR not in folder}
    if cloned:
        inside = sum(parts[0] in cloned for parts in files)
        places.append(_Place(0, "", inside / len(files) if files else 0.0))
    return max(places, key=lambda place: place.sure, default=_Place(0, "", 0.0))


def _folders(download: Download, files: list[Parts]) -> set[tuple[int, str]]:
    """Depth below which repositories would lie, and the name of the folder around them."""
    return {(0, download.name), *((1, parts[0]) for parts in files if len(parts) > 2)}


def _named(files: list[Parts], depth: int, folder: str) -> _Place:
    match = _FOLDER.fullmatch(folder)
    if match is None or not files:
        return _Place(depth, "", 0.0)
    assignment = match["assignment"]
    fits = [parts for parts in files if (depth == 0 or parts[0] == folder) and len(parts) > depth + 1]
    named = sum(_username(parts[depth], assignment) is not None for parts in fits)
    return _Place(depth, assignment, named / len(files))


def _username(repository: str, assignment: str) -> str | None:
    """What follows the assignment in a repository's name, which may have the classroom before it."""
    wanted = f"-{assignment.lower().replace('_', '-')}-"
    start = f"-{repository.lower().replace('_', '-')}".find(wanted) if assignment else -1
    return repository[start + len(wanted) - 1 :] or None if start >= 0 else None


def _sure(download: Download) -> float:
    return _place(download).sure


def _take(download: Download, slug: str) -> Taken:
    place = _place(download)
    scores = _scores(download, place.depth)
    works: list[tuple[str, Work]] = []
    strays: list[Member] = []
    for member in download.members:
        inside = member.parts[place.depth :]
        if len(inside) > 1:
            works.append((inside[0], Work(inside[1:], member)))
        elif member.parts[-1] != SCORES:
            strays.append(member)
    attempts: list[Attempt] = []
    left_out: list[LeftOut] = []
    with CommitTimes() as times:
        for repository, files in grouped(works).items():
            username = _username(repository, place.assignment) or _username(repository, slug)
            known = scores.get((username or "").lower()) or _unscored(known_as(username or repository), username)
            folder = SEPARATOR.join(files[0].member.parts[: place.depth + 1])
            picked = pick(files, slug)
            if picked.work is None:
                left_out.append(no_attempt(folder, known.student, picked.reason))
                continue
            at = known.submitted_at or _committed(download, folder, times)
            attempt = attempt_of((known.student,), picked.work)
            attempts.append(msgspec.structs.replace(attempt, submitted_at=at, late=known.late))
    return Taken(tuple(attempts), (*left_out, *unmatched(strays, LAYOUT.name)))


def _scores(download: Download, depth: int) -> dict[str, Scored]:
    """What Classroom 50 says of each username, if the table is there."""
    for member in download.members:
        if member.parts[depth:] == (SCORES,) and not member.problem:
            with contextlib.suppress(MemberProblem):
                return read_scores(download.lines(member, MAX_SCORES_BYTES))
    return {}


def _unscored(shown: str, username: str | None) -> Scored:
    return Scored(Student(shown, numbers={"github": shown} if username else {}), None, None)


def _committed(download: Download, folder: str, times: CommitTimes) -> str | None:
    if download.root is None or folder not in download.repositories:
        return None
    return times.of(download.root / folder)


LAYOUT = Layout("github", "safe-softmax-submissions/safe-softmax-annlee/safe_softmax.py", _sure, _take)
