"""What an instructor downloaded: a folder, a zip or a tar, and the archives of students one level inside it.

Everything is read in place, so no name in an archive ever becomes a path on this machine. What cannot be used is left
out with its reason, and the rest still comes through.
"""

from __future__ import annotations

import contextlib
import io
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import IO

from tritonkata.boundary.messages import MAX_SOURCE_BYTES
from tritonkata.intake.folders import Folder
from tritonkata.intake.members import Container, ContainerProblem, Entry, Member, MemberProblem
from tritonkata.intake.names import is_noise, misleading, parts_of, printable
from tritonkata.intake.tars import Tar, is_tar
from tritonkata.intake.types import Attempt, IntakeProblem, LeftOut
from tritonkata.intake.zips import Zip
from tritonkata.submission import readable

MAX_MEMBERS = 100_000
MAX_UNPACKED_BYTES = 4 << 30
MAX_NESTED_MEMBERS = 2_000
MAX_NESTED_BYTES = 32 << 20
MAX_NESTED_UNPACKED_BYTES = 128 << 20

ARCHIVES = (".zip", ".tar", ".tar.gz", ".tgz", ".tar.xz", ".txz", ".tar.bz2", ".tbz2", ".tbz")
_ZIP_STARTS = (b"PK\3\4", b"PK\5\6")
_START_BYTES = 262
_LONGEST_LINE = 1 << 16
_SUBMISSIONS = (".py", ".ipynb")
_AGAIN = "download it again, or unpack it and name the folder"
_GRADEBOOK = "holds a gradebook, so nothing in it is a submission"


class Download:
    """A download that is open for reading; a context manager. `open_download` makes one.

    Attributes:
        where: the path as it was given, for messages.
        name: of the folder or archive, without the ending of an archive.
        members: every file by name, also those that cannot be read.
        left_out: what has no usable name, or a second member of one name.
        ignored: how many files of operating systems and editors were passed over.
        root: the folder itself, where it is one.
        repositories: folders below the root that hold a `.git` folder, as names with `/`.
    """

    def __init__(self, path: Path, container: Container, file: IO[bytes] | None = None) -> None:
        self._container = container
        self._file = file
        self._nested: tuple[Member, Container] | None = None
        self._found: dict[tuple[str, ...], Member] = {}
        self._left_out: list[LeftOut] = []
        self.where = readable(path)
        self.name = without_ending(path.resolve().name)
        self.ignored = 0
        try:
            self._list()
        except BaseException:
            self.close()
            raise
        self.members = tuple(self._found[parts] for parts in sorted(self._found))
        self.left_out = tuple(self._left_out)
        self.root = container.root if isinstance(container, Folder) else None
        self.repositories = frozenset(container.repositories if isinstance(container, Folder) else ())

    def __enter__(self) -> Download:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the archive and of what was unpacked from it."""
        self._close_nested()
        self._container.close()
        if self._file is not None:
            self._file.close()

    def source(self, attempt: Attempt) -> bytes:
        """The bytes of an attempt, one more than a submission may have where it is too large.

        Raises:
            MemberProblem: it cannot be read; the message is one line for the student.
        """
        if attempt.problem:
            raise MemberProblem(attempt.problem)
        try:
            return self.read(attempt.member, MAX_SOURCE_BYTES + 1)
        except MemberProblem as problem:
            raise MemberProblem(f"{attempt.path}: {problem}; hand it in again") from problem

    def read(self, member: Member, limit: int) -> bytes:
        """At most `limit` bytes of a member, whatever size it declares.

        Raises:
            MemberProblem: it cannot be read.
        """
        return b"".join(self._chunks(member, limit))

    def lines(self, member: Member, limit: int) -> Iterator[str]:
        """The lines in the first `limit` bytes of a text, without their ends; what is over 64 KiB of a line is dropped.

        Raises:
            MemberProblem: it cannot be read.
        """
        begun = b""
        for chunk in self._chunks(member, limit):
            *whole, begun = (begun + chunk).split(b"\n")
            yield from (_text(line) for line in whole)
            begun = begun[:_LONGEST_LINE]
        yield _text(begun)

    def _chunks(self, member: Member, limit: int) -> Iterator[bytes]:
        if member.problem:
            raise MemberProblem(member.problem)
        container = self._container if member.archive is None else self._opened(member.archive)
        return container.chunks(member.entry.key, limit)

    def _list(self) -> None:
        """Fill in what the container holds."""
        try:
            for number, entry in enumerate(self._container.entries()):
                if number >= MAX_MEMBERS:
                    raise IntakeProblem(f"{self.where}: holds more than {MAX_MEMBERS} files; grade it in parts")
                if (member := self._named(entry)) is not None:
                    self._add(member)
            if isinstance(self._container, Folder):
                # Named, since somebody may have handed in a file of that name.
                self._left_out += (LeftOut(printable(name), None, _GRADEBOOK) for name in self._container.gradebooks)
        except ContainerProblem as problem:
            if not self._found:
                raise
            self._left_out.append(LeftOut(printable(self.name), None, f"{problem}; what came before is used"))

    def _named(self, entry: Entry, archive: Member | None = None) -> Member | None:
        """The entry as a member, if its name can stand for a place."""
        parts = (archive.parts if archive else ()) + parts_of(entry.name)
        if is_noise(parts):
            self.ignored += 1
        elif reason := misleading(entry.name):
            shown = printable(entry.name)
            self._left_out.append(LeftOut(f"{printable(archive.name)}: {shown}" if archive else shown, None, reason))
        else:
            return Member(parts, entry.size, entry.problem, entry, archive)
        return None

    def _add(self, member: Member) -> None:
        if member.problem or not member.name.lower().endswith(ARCHIVES):
            self._keep(member)
            return
        inside = 0
        for child in self._inside(member):
            inside += child is not member
            self._keep(child)
        if not inside and member.parts not in self._found:
            self._keep(_with_problem(member, "holds no files"))

    def _keep(self, member: Member) -> None:
        if member.parts in self._found:
            reason = "is replaced by a later member of the same name, as in unpacking"
            self._left_out.append(LeftOut(printable(member.name), None, reason))
        self._found[member.parts] = member

    def _inside(self, archive: Member) -> Iterator[Member]:
        """The members of a student's own archive, and the archive itself if something is wrong with it."""
        try:
            for number, entry in enumerate(self._opened(archive).entries()):
                if number >= MAX_NESTED_MEMBERS:
                    raise ContainerProblem(f"holds more than {MAX_NESTED_MEMBERS} files")
                if (child := self._named(entry, archive)) is None:
                    continue
                too_deep = child.name.lower().endswith(ARCHIVES) and not child.problem
                yield _with_problem(child, "is an archive inside an archive") if too_deep else child
        except (ContainerProblem, MemberProblem) as problem:
            yield _with_problem(archive, str(problem))

    def _opened(self, archive: Member) -> Container:
        """The container in `archive`; only the last one stays open."""
        if self._nested is not None and self._nested[0] is archive:
            return self._nested[1]
        self._close_nested()
        packed = b"".join(self._container.chunks(archive.entry.key, MAX_NESTED_BYTES + 1))
        if len(packed) > MAX_NESTED_BYTES:
            raise MemberProblem(f"is larger than {MAX_NESTED_BYTES >> 20} MiB")
        container = _container(io.BytesIO(packed), MAX_NESTED_MEMBERS, MAX_NESTED_UNPACKED_BYTES)
        self._nested = (archive, container)
        return container

    def _close_nested(self) -> None:
        if self._nested is not None:
            self._nested[1].close()
            self._nested = None


def open_download(path: Path) -> Download:
    """Open a folder, a zip or a tar of submissions.

    Raises:
        IntakeProblem: there is none, or it cannot be read at all.
    """
    where = readable(path)
    try:
        if path.is_dir():
            return Download(path, Folder(path))
        if not path.is_file():
            raise IntakeProblem(f"{where}: there is no such folder or file; name what you downloaded")
        with contextlib.ExitStack() as opened:
            file = opened.enter_context(path.open("rb"))
            download = Download(path, _container(file, MAX_MEMBERS, MAX_UNPACKED_BYTES), file)
            opened.pop_all()
            return download
    except OSError as error:
        raise IntakeProblem(f"{where}: cannot be read: {error.strerror}; correct its permissions") from error
    except ContainerProblem as problem:
        one_file = path.suffix.lower() in _SUBMISSIONS
        do = "name the folder that holds all submissions" if one_file else _AGAIN
        raise IntakeProblem(f"{where}: {problem}; {do}") from problem


def without_ending(name: str) -> str:
    """The name of an archive without what says that it is one."""
    ending = max((ending for ending in ARCHIVES if name.lower().endswith(ending)), key=len, default="")
    return name[: len(name) - len(ending)]


def _container(file: IO[bytes], most: int, most_bytes: int) -> Container:
    start = file.read(_START_BYTES)
    file.seek(0)
    if start.startswith(_ZIP_STARTS):
        return Zip(file, most)
    if is_tar(start):
        return Tar(file, most_bytes)
    raise ContainerProblem("is neither a zip nor a tar archive")


def _text(line: bytes) -> str:
    return line[:_LONGEST_LINE].removesuffix(b"\r").decode("utf-8", errors="replace")


def _with_problem(member: Member, problem: str) -> Member:
    return Member(member.parts, member.size, problem, member.entry, member.archive)
