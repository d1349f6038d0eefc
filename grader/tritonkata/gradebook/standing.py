"""How far a gradebook's reports are those of the last run."""

from __future__ import annotations

import sqlite3

import msgspec

from tritonkata.gradebook.types import Run, Settings, Standing


def standing_of(connection: sqlite3.Connection, kata: str, last: Run | None) -> Standing:
    """How the submissions of the last download stand to the last run."""
    sql = (
        "SELECT run.id, run.settings, coalesce(again, 0), count(*) FROM submission"
        " LEFT JOIN report ON report.submission = submission.id LEFT JOIN run ON run.id = report.run"
        " WHERE submission.kata = ? AND present = 1 GROUP BY run.id, again"
    )
    found = Standing()
    for number, settings, again, count in connection.execute(sql, (kata,)):
        which = "waiting" if again else _which(number, settings, last)
        counts = {"submissions": found.submissions + count}
        if which:
            counts[which] = getattr(found, which) + count
        found = msgspec.structs.replace(found, **counts)
    return found


def _which(number: int | None, settings: bytes | None, last: Run | None) -> str:
    """Which count of `Standing` a run's reports belong to; empty where they are those of the last."""
    if number is None or settings is None:
        return "ungraded"
    if last is None or number == last.id:
        return ""
    course = msgspec.json.decode(settings, type=Settings).course
    return "earlier" if course != last.settings.course else "other"
