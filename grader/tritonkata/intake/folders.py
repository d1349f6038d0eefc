"""A download that lies unpacked in a folder. Links are named and never followed."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tritonkata.gradebook.opening import FILE_NAME
from tritonkata.intake.members import EMPTY, SEPARATOR, ContainerProblem, Entry, MemberProblem, pieces
from tritonkata.intake.names import MAX_DEPTH, is_noise

_KINDS = (
    (stat.S_ISLNK, "is a symbolic link"),
    (stat.S_ISFIFO, "is a named pipe"),
    (stat.S_ISSOCK, "is a socket"),
    (stat.S_ISCHR, "is a device"),
    (stat.S_ISBLK, "is a device"),
)
REPOSITORY = ".git"


class Folder:
    """The files below `root`, but for those of gradebooks.

    Once they were listed, `repositories` has the folders found to hold a `.git` folder, and `gradebooks` those that
    were passed over because they hold a gradebook.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self.repositories: set[str] = set()
        self.gradebooks: list[str] = []

    def entries(self) -> Iterator[Entry]:
        """Everything but folders that hold something, in the order of their names.

        Raises:
            ContainerProblem: the root cannot be listed.
        """
        yield from self._below("", 0)

    def _below(self, folder: str, depth: int) -> Iterator[Entry]:
        try:
            with os.scandir(self.root / folder) as scan:
                found = sorted(scan, key=lambda entry: entry.name)
        except OSError as error:
            if not folder:
                raise ContainerProblem(f"cannot be listed: {error.strerror}") from error
            yield Entry(folder, 0, f"cannot be listed: {error.strerror}")
            return
        if folder and any(entry.name == FILE_NAME for entry in found):
            self.gradebooks.append(folder)
            return
        if folder and not found:
            yield Entry(folder, 0, EMPTY)
        for entry in found:
            name = f"{folder}{SEPARATOR}{entry.name}" if folder else entry.name
            if not entry.is_dir(follow_symlinks=False):
                yield self._entry(name, entry)
            elif entry.name == REPOSITORY:
                self.repositories.add(folder)
            elif depth >= MAX_DEPTH:
                yield Entry(name, 0, f"lies more than {MAX_DEPTH} folders deep")
            elif not is_noise((entry.name,)):
                yield from self._below(name, depth + 1)

    def _entry(self, name: str, entry: os.DirEntry[str]) -> Entry:
        try:
            status = entry.stat(follow_symlinks=False)
        except OSError as error:
            return Entry(name, 0, f"cannot be read: {error.strerror}", name)
        return Entry(name, status.st_size, _problem(status.st_mode), name)

    def chunks(self, key: Any, limit: int) -> Iterator[bytes]:
        """At most `limit` bytes of the file at `key` below the root.

        Raises:
            MemberProblem: it is no regular file, or cannot be read.
        """
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        try:
            with os.fdopen(os.open(self.root / str(key), flags), "rb") as file:
                if problem := _problem(os.fstat(file.fileno()).st_mode):
                    raise MemberProblem(problem)
                yield from pieces(file, limit)
        except OSError as error:
            raise MemberProblem(f"cannot be read: {error.strerror}") from error

    def close(self) -> None:
        """Nothing stays open."""


def _problem(mode: int) -> str:
    """Why something of this mode is not read; empty for a regular file."""
    if stat.S_ISREG(mode):
        return ""
    return next((words for matches, words in _KINDS if matches(mode)), "is not a regular file")
