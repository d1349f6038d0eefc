"""Moodle's "Download all submissions": a folder for each student, or one name that holds everything.

`{full name}_{participant id}_assignsubmission_file[_]/{path}`, or without folders `..._assignsubmission_file_{file}`.
The group of those who are in no group comes without an id. Text typed into the browser lies under
`assignsubmission_onlinetext`. Moodle puts the last attempt in, and the times in the archive are those of the download.
"""

from __future__ import annotations

import re

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
from tritonkata.intake.members import SEPARATOR
from tritonkata.intake.names import known_as
from tritonkata.intake.types import Attempt, LeftOut, Taken
from tritonkata.model.record import Student

_FOLDER = re.compile(
    r"(?P<name>.*?)(?:_(?P<id>\d{1,20}))?_assignsubmission_(?P<kind>[a-z]+)(?:_(?P<rest>.*))?", re.DOTALL | re.ASCII
)


def _fits(parts: Parts) -> bool:
    return _FOLDER.fullmatch(parts[0]) is not None


def _sure(download: Download) -> float:
    return share(download.members, _fits)


def _student(folder: str) -> Student:
    match = _FOLDER.fullmatch(folder)
    assert match is not None
    name = known_as(match["name"])
    return Student(match["id"] or name, name, numbers={"moodle": match["id"]} if match["id"] else {})


def _take(download: Download, slug: str) -> Taken:
    depth = wrappers(download.members, _fits)
    works: list[tuple[str, Work]] = []
    strays = []
    students: dict[str, Student] = {}
    for member in download.members:
        head, *inside = member.parts[depth:]
        if (match := _FOLDER.fullmatch(head)) is None:
            strays.append(member)
            continue
        student = _student(head)
        students[student.id] = student
        works.append((student.id, Work((*([match["rest"]] if match["rest"] else []), *inside) or (head,), member)))
    attempts: list[Attempt] = []
    left_out: list[LeftOut] = []
    for key, files in grouped(works).items():
        picked = pick(files, slug)
        if picked.work is None:
            left_out.append(
                no_attempt(SEPARATOR.join(files[0].member.parts[: depth + 1]), students[key], picked.reason)
            )
        else:
            attempts.append(attempt_of((students[key],), picked.work))
    return Taken(tuple(attempts), (*left_out, *unmatched(strays, LAYOUT.name)))


LAYOUT = Layout("moodle", "Ann Lee_4021_assignsubmission_file/safe_softmax.py", _sure, _take)
