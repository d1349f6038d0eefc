"""A zip archive, read in place: nothing of it is ever written anywhere."""

from __future__ import annotations

import contextlib
import stat
import struct
import zipfile
import zlib
from collections.abc import Iterator
from typing import IO, Any

from tritonkata.intake.members import SEPARATOR, ContainerProblem, Entry, Folders, MemberProblem, pieces

_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_ENCRYPTED = 1 << 0
_UTF8 = 1 << 11
_MADE_ON_UNIX = 3
_LARGEST_COMMENT = 1 << 16
_END = struct.Struct("<4s4H2LH")
_END64 = struct.Struct("<4sQ2H2L4Q")
# What a name and its header take in the list of contents, at most: more than this is made to fill the memory.
_BYTES_FOR_ENTRY = 1 << 10
_DAMAGED = (
    zipfile.BadZipFile,
    EOFError,
    OSError,
    ValueError,
    OverflowError,
    NotImplementedError,
    struct.error,
    zlib.error,
)


class Zip:
    """The members of a zip.

    Raises:
        ContainerProblem: it cannot be read, or lists far more than `most` members.
    """

    def __init__(self, file: IO[bytes], most: int) -> None:
        if _directory_size(file) > most * _BYTES_FOR_ENTRY:
            raise ContainerProblem(f"holds more than {most} files")
        try:
            self._zip = zipfile.ZipFile(file)
        except UnicodeDecodeError:
            raise ContainerProblem("has names that claim to be UTF-8 and are not; pack it again") from None
        except (*_DAMAGED, RuntimeError) as error:
            raise ContainerProblem(f"is damaged, or was not downloaded to its end ({error})") from error

    def entries(self) -> Iterator[Entry]:
        """Everything but folders that hold something, in the order of the archive; empty ones come last."""
        folders = Folders()
        for info in self._zip.infolist():
            name = _name(info)
            folders.saw(name, is_folder=name.endswith(SEPARATOR))
            if not name.endswith(SEPARATOR):
                yield Entry(name, info.file_size, _problem(info), info)
        yield from folders.empty()

    def chunks(self, key: Any, limit: int) -> Iterator[bytes]:
        """At most `limit` bytes, whatever size the archive declares.

        Raises:
            MemberProblem: it cannot be read.
        """
        try:
            with self._zip.open(key) as file:
                yield from pieces(file, limit)
        except (*_DAMAGED, RuntimeError) as error:
            raise MemberProblem(f"is damaged in the archive ({error})") from error

    def close(self) -> None:
        """Close the archive."""
        self._zip.close()


def _name(info: zipfile.ZipInfo) -> str:
    """The name as stored, with `/` between its parts.

    Without the flag for UTF-8 a name counts as code page 437, but macOS and some platforms store UTF-8 all the same.
    Some tools on Windows separate with a backslash.
    """
    name = info.orig_filename
    if not info.flag_bits & _UTF8:
        with contextlib.suppress(UnicodeError):
            name = name.encode("cp437").decode("utf-8")
    return name.replace("\\", SEPARATOR)


def _problem(info: zipfile.ZipInfo) -> str:
    mode = info.external_attr >> 16 if info.create_system == _MADE_ON_UNIX else 0
    if stat.S_ISLNK(mode):
        return "is a symbolic link"
    if stat.S_IFMT(mode) and not stat.S_ISREG(mode):
        return "is not a regular file"
    if info.flag_bits & _ENCRYPTED:
        return "is encrypted"
    # Other methods unpack whole blocks at once, so what they give cannot be bounded.
    return "" if info.compress_type in _METHODS else "is compressed in a way other than deflate"


def _directory_size(file: IO[bytes]) -> int:
    """Bytes that the list of contents takes; known before it is read, which takes many times as much memory."""
    length = file.seek(0, 2)
    tail_at = max(length - _LARGEST_COMMENT - _END.size - _END64.size, 0)
    file.seek(tail_at)
    tail = file.read()
    file.seek(0)
    place, place64 = tail.rfind(b"PK\5\6"), tail.rfind(b"PK\6\6")
    size = 0
    if 0 <= place <= len(tail) - _END.size:
        size = int(_END.unpack_from(tail, place)[5])
    if 0 <= place64 <= len(tail) - _END64.size and size == 0xFFFFFFFF:
        size = int(_END64.unpack_from(tail, place64)[8])
    return min(size, length)
