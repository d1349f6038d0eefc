"""The tables, and how older files come to have them."""

from __future__ import annotations

import sqlite3

APPLICATION_ID = 0x6B617461
"""`kata` in ASCII: marks the file as a gradebook, so that no other program's database is written to."""

_FIRST = """
CREATE TABLE run (
    id INTEGER PRIMARY KEY,
    kata TEXT NOT NULL,
    settings BLOB NOT NULL,
    seed INTEGER NOT NULL,
    started_at TEXT NOT NULL,
    UNIQUE (kata, settings, seed)
);
CREATE TABLE submission (
    id INTEGER PRIMARY KEY,
    kata TEXT NOT NULL,
    student TEXT NOT NULL,
    students BLOB NOT NULL,
    file TEXT NOT NULL,
    attempt INTEGER NOT NULL,
    sha256 TEXT NOT NULL,
    source BLOB,
    problem TEXT NOT NULL,
    submitted_at TEXT,
    late INTEGER,
    present INTEGER NOT NULL,
    UNIQUE (kata, student, file)
);
CREATE TABLE report (
    submission INTEGER PRIMARY KEY REFERENCES submission (id),
    run INTEGER NOT NULL REFERENCES run (id),
    report BLOB NOT NULL,
    verdict TEXT NOT NULL,
    score REAL NOT NULL,
    graded_at TEXT NOT NULL
);
CREATE TABLE earlier_report (
    submission INTEGER NOT NULL REFERENCES submission (id),
    run INTEGER NOT NULL,
    report BLOB NOT NULL,
    graded_at TEXT NOT NULL
);
CREATE TABLE override (
    id INTEGER PRIMARY KEY,
    kata TEXT NOT NULL,
    student TEXT NOT NULL,
    score REAL,
    reason TEXT NOT NULL,
    author TEXT NOT NULL,
    at TEXT NOT NULL
);
CREATE TABLE left_out (
    kata TEXT NOT NULL,
    path TEXT NOT NULL,
    student TEXT NOT NULL,
    reason TEXT NOT NULL
);
CREATE INDEX report_verdict ON report (verdict);
"""

_SECOND = """
ALTER TABLE run ADD COLUMN attempts TEXT NOT NULL DEFAULT 'latest';
"""

MIGRATIONS = (_FIRST, _SECOND)
"""The step from each version to the next; version 0 is an empty file."""


class NewerSchema(Exception):
    """The file was written by a later release."""


def migrate(connection: sqlite3.Connection) -> None:
    """Bring the file to the current version, in one transaction.

    Raises:
        NewerSchema: it is beyond that already.
    """
    version = int(connection.execute("PRAGMA user_version").fetchone()[0])
    if version > len(MIGRATIONS):
        raise NewerSchema(f"its version is {version}, this release knows {len(MIGRATIONS)}")
    if version == len(MIGRATIONS):
        return
    steps = "".join(MIGRATIONS[version:])
    connection.executescript(
        f"BEGIN IMMEDIATE; {steps} PRAGMA application_id = {APPLICATION_ID};"
        f" PRAGMA user_version = {len(MIGRATIONS)}; COMMIT;"
    )
