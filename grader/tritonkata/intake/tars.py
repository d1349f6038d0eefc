"""A tar archive, compressed or not. It is unpacked as one stream into a nameless temporary file and read there."""

from __future__ import annotations

import bz2
import gzip
import lzma
import tarfile
import tempfile
import zlib
from collections.abc import Iterator
from typing import IO, Any, cast

from tritonkata.intake.members import ContainerProblem, Entry, Folders, MemberProblem, pieces

MAX_RATIO = 200
_RATIO_COUNTS_FROM = 16 << 20
_CHUNK = 1 << 16
_IN_MEMORY = 8 << 20
_MAGIC_AT = 257
_PACKINGS: tuple[tuple[bytes, Any], ...] = ((b"\x1f\x8b", gzip.open), (b"BZh", bz2.open), (b"\xfd7zXZ\0", lzma.open))
_DAMAGED = (tarfile.TarError, EOFError, OSError, ValueError, OverflowError, RecursionError, zlib.error, lzma.LZMAError)


def is_tar(start: bytes) -> bool:
    """Whether a file that starts so can be a tar: `start` has 262 bytes or more, or the whole file."""
    return start[_MAGIC_AT : _MAGIC_AT + 5] == b"ustar" or any(start.startswith(magic) for magic, _ in _PACKINGS)


class Tar:
    """The members of a tar.

    Args:
        file: the archive.
        most_bytes: what it may hold unpacked.

    Raises:
        ContainerProblem: it holds more, or cannot be read.
    """

    def __init__(self, file: IO[bytes], most_bytes: int) -> None:
        self._short = ""
        # Reading one member of a compressed tar after another would unpack it from the start each time.
        self._stream = cast(IO[bytes], tempfile.SpooledTemporaryFile(max_size=_IN_MEMORY))  # noqa: SIM115 - until close
        try:
            self._unpack(file, most_bytes)
            self._tar = tarfile.open(fileobj=self._stream, mode="r:", encoding="utf-8", errors="surrogateescape")  # noqa: SIM115
        except _DAMAGED as error:
            self._stream.close()
            raise ContainerProblem(f"is damaged, or was not downloaded to its end ({error})") from error
        except ContainerProblem:
            self._stream.close()
            raise

    def _unpack(self, file: IO[bytes], most: int) -> None:
        packed_bytes = file.seek(0, 2)
        file.seek(0)
        magic = file.read(6)
        file.seek(0)
        opener = next((opener for start, opener in _PACKINGS if magic.startswith(start)), None)
        source = file if opener is None else opener(file)
        written = 0
        try:
            while chunk := source.read(_CHUNK):
                written += self._stream.write(chunk)
                if written > most:
                    raise ContainerProblem(f"holds more than {most >> 20} MiB unpacked")
                if written > max(_RATIO_COUNTS_FROM, MAX_RATIO * packed_bytes):
                    raise ContainerProblem(f"unpacks to more than {MAX_RATIO} times its size")
        except (EOFError, zlib.error, lzma.LZMAError) as error:
            # What came before the damage can still be graded.
            self._short = f"is damaged, or was not downloaded to its end ({error})"
        self._stream.seek(0)

    def entries(self) -> Iterator[Entry]:
        """Everything but folders that hold something, in the order of the archive; empty ones come last.

        Raises:
            ContainerProblem: it is damaged further on.
        """
        end, folders = -1, Folders()
        while (info := self._next()) is not None:
            # A negative size would lead back to a member that was read before, for ever.
            if info.size < 0 or self._tar.offset <= end:
                raise ContainerProblem("is damaged: a member has an impossible size")
            end = self._tar.offset
            folders.saw(info.name, is_folder=info.isdir())
            if not info.isdir():
                yield Entry(info.name, info.size, _problem(info), info)
        if self._short:
            raise ContainerProblem(self._short)
        yield from folders.empty()

    def _next(self) -> tarfile.TarInfo | None:
        try:
            return self._tar.next()
        except _DAMAGED as error:
            raise ContainerProblem(f"is damaged, or was not downloaded to its end ({error})") from error

    def chunks(self, key: Any, limit: int) -> Iterator[bytes]:
        """At most `limit` bytes.

        Raises:
            MemberProblem: it cannot be read.
        """
        try:
            file = self._tar.extractfile(key)
            if file is None:
                raise MemberProblem("is not a regular file")
            yield from pieces(file, limit)
        except _DAMAGED as error:
            raise MemberProblem(f"is damaged in the archive ({error})") from error

    def close(self) -> None:
        """Close the archive and drop the temporary file."""
        self._tar.close()
        self._stream.close()


def _problem(info: tarfile.TarInfo) -> str:
    if info.isreg():
        return ""
    kinds = ((info.issym(), "is a symbolic link"), (info.islnk(), "is a link"), (info.isfifo(), "is a named pipe"))
    return next((words for holds, words in kinds if holds), "is a device" if info.isdev() else "is not a regular file")
