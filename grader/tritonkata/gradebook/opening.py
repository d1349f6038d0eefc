"""Opening a gradebook, and what can be wrong with its file."""

from __future__ import annotations

import fcntl
import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

from tritonkata.gradebook.problems import problems
from tritonkata.gradebook.schema import APPLICATION_ID, NewerSchema, is_current, migrate
from tritonkata.gradebook.store import Gradebook
from tritonkata.gradebook.types import GradebookProblem, NoGradebook

FILE_NAME = "gradebook.sqlite"
_LOCK_NAME = "gradebook.lock"
_KEPT = frozenset({_LOCK_NAME, *(f"{FILE_NAME}{end}" for end in ("", "-wal", "-shm", "-journal"))})

_LOCKED_SECONDS = 30.0
_PAUSE_SECONDS = 0.01


def is_kept(path: Path) -> bool:
    """Whether a path is that of a gradebook, or of a file that is kept beside one."""
    return path.name in _KEPT


@contextmanager
def open_gradebook(folder: Path, *, create: bool = False, grading: bool = False) -> Iterator[Gradebook]:
    """The gradebook of a folder.

    Args:
        folder: where it lies, or is to lie.
        create: make it where there is none.
        grading: nobody else may grade into it meanwhile.

    Raises:
        GradebookProblem: there is none, it cannot be read or written, is not ours or newer, or somebody grades into it.
    """
    path = folder / FILE_NAME
    if os.path.isfile(folder):
        which = f"; --out is the folder {folder.parent}" if is_kept(folder) else ", not a folder; choose one with --out"
        raise GradebookProblem(f"{folder}: is a file{which}")
    if not create and not path.is_file():
        raise NoGradebook(f"{path}: there is no gradebook; name another folder, or make one")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise GradebookProblem(
            f"{folder}: cannot be made: {error.strerror}; choose another folder with --out"
        ) from error
    with problems(path), _alone(path) if grading else nullcontext():
        with _one_at_a_time(folder):
            connection = _opened(path)
        try:
            yield Gradebook(path, connection)
        finally:
            connection.close()


def _opened(path: Path) -> sqlite3.Connection:
    can_write = os.access(path.parent, os.W_OK)
    connection = sqlite3.connect(path, timeout=_LOCKED_SECONDS) if can_write else _to_read(path)
    try:
        if _is_foreign(connection):
            raise GradebookProblem(f"{path}: is a database of another program; choose another folder with --out")
        if can_write:
            _write_ahead(connection)
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute("PRAGMA foreign_keys = ON")
            migrate(connection)
        elif not is_current(connection):
            raise GradebookProblem(f"{path}: comes from an earlier release; copy the folder to where it can be written")
    except NewerSchema as error:
        connection.close()
        raise GradebookProblem(f"{path}: comes from a newer release ({error}); update tritonkata") from error
    except BaseException:
        connection.close()
        raise
    return connection


def _to_read(path: Path) -> sqlite3.Connection:
    """Open it where nothing can be written beside it, as a write-ahead log would have to be."""
    log = path.with_name(f"{path.name}-wal")
    if log.exists() and log.stat().st_size:
        raise GradebookProblem(f"{path}: was left open; copy the folder to where it can be written")
    return sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro&immutable=1", uri=True)


def _is_foreign(connection: sqlite3.Connection) -> bool:
    # In one transaction: somebody else may be about to make the tables.
    connection.execute("BEGIN")
    application = int(connection.execute("PRAGMA application_id").fetchone()[0])
    tables = int(connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0])
    connection.rollback()
    return application != APPLICATION_ID and tables > 0


def _write_ahead(connection: sqlite3.Connection) -> None:
    """Switch to a write-ahead log. SQLite does not wait for others here, whatever its timeout is."""
    deadline = time.monotonic() + _LOCKED_SECONDS
    while connection.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > deadline:
                raise
            time.sleep(_PAUSE_SECONDS)


@contextmanager
def _one_at_a_time(folder: Path) -> Iterator[None]:
    """Nobody else opens a gradebook of this folder meanwhile: several that make one file would starve each other."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    lock = path.with_name(_LOCK_NAME)
    try:
        descriptor = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise GradebookProblem(f"{lock}: cannot be made: {error.strerror}; check the folder's permissions") from error
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise GradebookProblem(f"{path}: another `kata grade` is at work on it; wait until it is done") from None
        yield
    finally:
        os.close(descriptor)
