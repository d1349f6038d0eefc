"""Gradescope's "Export Submissions": `assignment_N_export/submission_N/...`, and `submission_metadata.yml` beside."""

from __future__ import annotations

import re

import msgspec

from tritonkata.intake.download import Download
from tritonkata.intake.layouts.common import (
    Layout,
    Parts,
    Work,
    attempt_of,
    grouped,
    no_attempt,
    pick,
    share,
    unmatched,
    wrappers,
)
from tritonkata.intake.layouts.gradescope_metadata import Entry, entries
from tritonkata.intake.members import SEPARATOR, Member, MemberProblem
from tritonkata.intake.names import printable
from tritonkata.intake.types import Attempt, LeftOut, Taken
from tritonkata.model.record import Student

METADATA = "submission_metadata.yml"
MAX_METADATA_BYTES = 2 << 30
_FOLDER = re.compile(r"submission_\d+", re.ASCII)


def _in_folder(parts: Parts) -> bool:
    return len(parts) > 1 and _FOLDER.fullmatch(parts[0]) is not None


def _fits(parts: Parts) -> bool:
    return _in_folder(parts) or parts == (METADATA,)


def _sure(download: Download) -> float:
    return share(download.members, _fits)


def _take(download: Download, slug: str) -> Taken:
    depth = wrappers(download.members, _fits)
    place = SEPARATOR.join(download.members[0].parts[:depth]) if download.members else ""
    known, left_out = _metadata(download, depth)
    works = []
    strays: list[Member] = []
    for member in download.members:
        parts = member.parts[depth:]
        if _in_folder(parts):
            works.append((parts[0], Work(parts[1:], member)))
        elif not _fits(parts):
            strays.append(member)
    attempts: list[Attempt] = []
    folders = grouped(works)
    for folder, files in folders.items():
        entry = known.get(folder, Entry(folder))
        students = entry.students or (Student(folder),)
        picked = pick(files, slug)
        if picked.work is None:
            left_out.append(no_attempt(f"{place}{SEPARATOR}{folder}" if place else folder, students[0], picked.reason))
        else:
            attempt = attempt_of(students, picked.work)
            attempts.append(msgspec.structs.replace(attempt, submitted_at=entry.submitted_at))
    left_out += [
        LeftOut(printable(folder), entry.students[0] if entry.students else None, "has no files in the download")
        for folder, entry in known.items()
        if folder not in folders
    ]
    return Taken(tuple(attempts), (*left_out, *unmatched(strays, LAYOUT.name)))


def _metadata(download: Download, depth: int) -> tuple[dict[str, Entry], list[LeftOut]]:
    """Entries by folder, and what of the metadata cannot be used."""
    member = next((member for member in download.members if member.parts[depth:] == (METADATA,)), None)
    if member is None:
        reason = "is missing, so students are named after their folders; export again to have names and times"
        return {}, [LeftOut(METADATA, None, reason)]
    known: dict[str, Entry] = {}
    left_out = []
    try:
        for entry in entries(download.lines(member, MAX_METADATA_BYTES)):
            known[entry.folder] = entry
            if entry.problem:
                reason = f"{entry.problem}, so {printable(entry.folder)} is named after its folder"
                left_out.append(LeftOut(printable(member.name), None, reason))
    except MemberProblem as problem:
        left_out.append(LeftOut(printable(member.name), None, str(problem)))
    return known, left_out


LAYOUT = Layout("gradescope", "assignment_310_export/submission_4021/safe_softmax.py", _sure, _take)
