"""Classroom 50's `scores.csv`, which lies beside the repositories: who each username is, and when they handed in."""

from __future__ import annotations

import csv
from collections.abc import Iterable

import msgspec

from tritonkata.intake.names import known_as
from tritonkata.intake.times import in_utc
from tritonkata.model.record import Student

SCORES = "scores.csv"
MAX_SCORES_BYTES = 64 << 20
_LATE = {"true": True, "false": False}


class Scored(msgspec.Struct, frozen=True):
    """The latest submission of one username."""

    student: Student
    submitted_at: str | None
    late: bool | None


def read_scores(lines: Iterable[str]) -> dict[str, Scored]:
    """The latest row of each username, by username in small letters; nothing where the text is no such table."""
    found: dict[str, Scored] = {}
    try:
        for row in csv.DictReader(lines, restval=""):
            username = (row.get("username") or "").strip().lower()
            scored = _scored(username, row)
            known = found.get(username)
            if username and (known is None or (scored.submitted_at or "") > (known.submitted_at or "")):
                found[username] = scored
    except csv.Error:
        return {}
    return found


def _scored(username: str, row: dict[str, str]) -> Scored:
    name = " ".join(word for column in ("first_name", "last_name") if (word := (row.get(column) or "").strip()))
    shown = known_as(username)
    student = Student(shown, known_as(name), known_as((row.get("email") or "").strip()), {"github": shown})
    late = _LATE.get((row.get("late") or "").strip().lower())
    return Scored(student, in_utc(row.get("datetime") or ""), late)
