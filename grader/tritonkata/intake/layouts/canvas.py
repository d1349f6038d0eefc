"""Canvas's bulk download: every file beside the others, the student in its name.

`{sortable name without spaces}[_LATE]_{user id}_{file id}_{file}`, or where marking is anonymous
`[LATE_]anon_{anonymous id}_{file id}_{file}`. A text or a link that was handed in instead of a file ends in
`_text.html` or `_link.html`. Of a file that was handed in again Canvas renames the later ones to `{stem}-1`,
`{stem}-2`. It sets no times.
"""

from __future__ import annotations

import re

import msgspec

from tritonkata.intake.download import ARCHIVES, Download
from tritonkata.intake.layouts.common import (
    Layout,
    Parts,
    Work,
    attempt_of,
    no_attempt,
    pick,
    share,
    unmatched,
    wrappers,
)
from tritonkata.intake.members import Member
from tritonkata.intake.names import known_as
from tritonkata.intake.types import Attempt, Taken
from tritonkata.model.record import Student

_ANONYMOUS = re.compile(r"(?P<late>LATE_)?anon_(?P<id>[^_]+)_(?P<file>\d{1,20})_(?P<rest>.+)", re.DOTALL | re.ASCII)
_NAMED = re.compile(
    r"(?P<name>.+?)(?P<late>_LATE)?_(?P<id>\d{1,20})_(?P<file>\d{1,20})_(?P<rest>.+)", re.DOTALL | re.ASCII
)
_NO_FILE = re.compile(
    r"(?P<name>.+?)(?P<late>_LATE)?_(?P<id>\d{1,20})_(?P<rest>(?:text|link)\.html)", re.DOTALL | re.ASCII
)
_AGAIN = re.compile(r"(?P<stem>.+)-(?P<again>\d{1,4})(?P<ending>\.[^.]+)", re.DOTALL | re.ASCII)


class _Upload(msgspec.Struct, frozen=True):
    """One uploaded file, with what its name says."""

    student: Student
    late: bool
    file_id: int
    parts: Parts
    member: Member


def _upload(member: Member, depth: int) -> _Upload | None:
    head, *inside = member.parts[depth:]
    if not _fits((head, *inside)):
        return None
    if match := _ANONYMOUS.fullmatch(head):
        student = Student(f"anon_{known_as(match['id'])}", numbers={"canvas_anonymous": known_as(match["id"])})
    elif match := _NAMED.fullmatch(head) or _NO_FILE.fullmatch(head):
        student = Student(match["id"], known_as(match["name"]), numbers={"canvas": match["id"]})
    else:
        return None
    file_id = int(match.groupdict().get("file") or 0)
    return _Upload(student, match["late"] is not None, file_id, (match["rest"], *inside), member)


def _fits(parts: Parts) -> bool:
    """Whether the first part is a file of Canvas's, or an archive of a student's that lies opened here."""
    flat = len(parts) == 1 or parts[0].lower().endswith(ARCHIVES)
    return flat and any(pattern.fullmatch(parts[0]) for pattern in (_ANONYMOUS, _NAMED, _NO_FILE))


def _sure(download: Download) -> float:
    return share(download.members, _fits)


def _take(download: Download, slug: str) -> Taken:
    depth = wrappers(download.members, _fits)
    uploads: dict[str, list[_Upload]] = {}
    strays = []
    for member in download.members:
        if (upload := _upload(member, depth)) is None:
            strays.append(member)
        else:
            uploads.setdefault(upload.student.id, []).append(upload)
    taken = [_attempts(uploads[student], slug) for student in sorted(uploads)]
    attempts = tuple(attempt for one in taken for attempt in one.attempts)
    left_out = tuple(left for one in taken for left in one.left_out)
    return Taken(attempts, (*left_out, *unmatched(strays, LAYOUT.name)))


def _attempts(uploads: list[_Upload], slug: str) -> Taken:
    """Every upload of the kata's own file is an attempt; else whatever single Python file there is."""
    numbered = [(attempt, upload) for upload in uploads if (attempt := _number(upload.parts, slug))]
    if not numbered:
        picked = pick([Work(upload.parts, upload.member) for upload in uploads], slug)
        if picked.work is None:
            return Taken((), (no_attempt(uploads[0].member.name, uploads[0].student, picked.reason),))
        numbered = [(1, next(upload for upload in uploads if upload.member is picked.work.member))]
    # Two uploads of one name cannot be told apart by it, but Canvas counts its files upwards.
    numbered.sort(key=lambda pair: (pair[0], pair[1].file_id))
    clash = len({attempt for attempt, _ in numbered}) < len(numbered)
    ranked = enumerate(numbered, start=1)
    return Taken(tuple(_attempt(upload, place if clash else attempt) for place, (attempt, upload) in ranked))


def _attempt(upload: _Upload, number: int) -> Attempt:
    attempt = attempt_of((upload.student,), Work(upload.parts, upload.member))
    return msgspec.structs.replace(attempt, late=upload.late, attempt=number)


def _number(parts: Parts, slug: str) -> int:
    """Which attempt a file of the kata's own name is, from 1; 0 for any other file."""
    name = parts[-1].lower()
    again = 0
    if match := _AGAIN.fullmatch(name):
        name, again = f"{match['stem']}{match['ending']}", int(match["again"])
    return again + 1 if len(parts) == 1 and name == f"{slug}.py" else 0


LAYOUT = Layout("canvas", "leeann_LATE_4021_77120_safe_softmax.py", _sure, _take)
