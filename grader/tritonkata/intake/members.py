"""One entry of a folder or an archive, before anybody looks into it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO, Any, Protocol

import msgspec

SEPARATOR = "/"
EMPTY = "is an empty folder"
_PIECE = 1 << 16
_MOST_FOLDERS = 100_000


class MemberProblem(Exception):
    """One member cannot be read, for the reason in the message; the others can."""


class ContainerProblem(Exception):
    """A folder or an archive as a whole cannot be read, for the reason in the message."""


class Entry(msgspec.Struct, frozen=True):
    """What a container says of one thing in it.

    Args:
        name: as stored, parts separated by `/`; it may hold anything.
        size: in bytes, as declared.
        problem: why it cannot be read, such as "is a symbolic link"; empty for a regular file.
        key: what the container needs to open it.
    """

    name: str
    size: int
    problem: str = ""
    key: Any = None


class Folders:
    """The folders that an archive names, to find those that hold nothing: a student who handed in nothing."""

    def __init__(self) -> None:
        self._named: dict[str, None] = {}
        self._hold_something: set[str] = set()

    def saw(self, name: str, *, is_folder: bool) -> None:
        """Note one name of the archive.

        Raises:
            ContainerProblem: there are more than anybody packs.
        """
        name = name.rstrip(SEPARATOR)
        if is_folder and name.strip("./"):  # the top itself is nobody's
            self._named[name] = None
        if len(self._named) > _MOST_FOLDERS:
            raise ContainerProblem(f"holds more than {_MOST_FOLDERS} folders")
        self._hold_something.add(name.rpartition(SEPARATOR)[0])

    def empty(self) -> Iterator[Entry]:
        """Those without anything below them, in the order of the archive."""
        return (Entry(name, 0, EMPTY) for name in self._named if name not in self._hold_something)


class Container(Protocol):
    """A folder, a zip or a tar: it lists its files and opens one at a time."""

    def entries(self) -> Iterator[Entry]:
        """Everything but folders that hold something.

        Raises:
            ContainerProblem: the list ends early; what came before holds.
        """

    def chunks(self, key: Any, limit: int) -> Iterator[bytes]:
        """The first `limit` bytes of a regular file, in pieces.

        Raises:
            MemberProblem: it cannot be read.
        """

    def close(self) -> None:
        """Let go of what is open."""


def pieces(file: IO[bytes], limit: int) -> Iterator[bytes]:
    """At most `limit` bytes of an open file, a piece at a time."""
    while limit > 0 and (piece := file.read(min(limit, _PIECE))):
        limit -= len(piece)
        yield piece


class Member(msgspec.Struct, frozen=True):
    """A file of the download under a name that is safe to take apart.

    Args:
        parts: the name, without empty parts, `.` and `..`.
        size: in bytes, as declared; what is read may differ.
        problem: why it cannot be read.
        entry: what its container knows of it.
        archive: the member that it lies in, where that is an archive itself.
    """

    parts: tuple[str, ...]
    size: int
    problem: str
    entry: Entry
    archive: Member | None = None

    @property
    def name(self) -> str:
        """The whole name. It may hold anything but NUL; print `names.printable` of it."""
        return SEPARATOR.join(self.parts)
