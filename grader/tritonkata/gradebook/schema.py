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

_THIRD = """
ALTER TABLE run ADD COLUMN turn INTEGER NOT NULL DEFAULT 0;
UPDATE run SET turn = id;
"""

_FOURTH = """
ALTER TABLE left_out ADD COLUMN name TEXT NOT NULL DEFAULT '';
ALTER TABLE report ADD COLUMN again INTEGER NOT NULL DEFAULT 0;
"""
"""`again` marks a report that counts until there is a new one, which was asked for."""

MIGRATIONS = (_FIRST, _SECOND, _THIRD, _FOURTH)
"""The step from each version to the next; version 0 is an empty file."""


class NewerSchema(Exception):
    """The file was written by a later release."""


def is_current(connection: sqlite3.Connection) -> bool:
    """Whether the file has the current version.

    Raises:
        NewerSchema: it is beyond that already.
    """
    return _version(connection) == len(MIGRATIONS)


def migrate(connection: sqlite3.Connection) -> None:
    """Bring the file to the current version, in one transaction.

    Raises:
        NewerSchema: it is beyond that already.
    """
    if is_current(connection):
        return
    connection.execute("BEGIN IMMEDIATE")
    try:
        # Asked again: somebody else may have done it since.
        steps = ";".join(MIGRATIONS[_version(connection) :])
        # Not `executescript`, which would end the transaction.
        for statement in steps.split(";"):
            connection.execute(statement)
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version = {len(MIGRATIONS)}")
    except BaseException:
        connection.rollback()
        raise
    connection.commit()


def _version(connection: sqlite3.Connection) -> int:
    version = int(connection.execute("PRAGMA user_version").fetchone()[0])
    if version > len(MIGRATIONS):
        raise NewerSchema(f"its version is {version}, this release knows {len(MIGRATIONS)}")
    return version
