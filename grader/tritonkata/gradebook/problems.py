"""SQLite's errors as lines that say what to do."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tritonkata.gradebook.types import GradebookProblem


@contextmanager
def problems(path: Path) -> Iterator[None]:
    """Turn what SQLite raises into `GradebookProblem`."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        advice = {
            "file is not a database": "it is another kind of file; choose another folder with --out",
            "database or disk is full": "the disk is full; make room, and give the same command again",
            "attempt to write a readonly database": "it cannot be written; change its permissions or --out",
            "unable to open database file": "it cannot be opened; check the folder and its permissions",
            "database is locked": "another program has it open; wait until it is done",
        }.get(str(error), "give the same command again; what is graded is kept")
        raise GradebookProblem(f"{path}: {error}: {advice}") from error
