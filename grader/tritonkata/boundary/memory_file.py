"""Large blobs in memory of their own, which another process maps instead of reading them from a pipe.

They are filled before the other process has to wait for them, and sealed: neither side can change or shrink what
the other one has mapped.
"""

from __future__ import annotations

import fcntl
import mmap
import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

LARGE_BYTES = 1 << 20
"""From this size on, mapping is faster than a pipe (benchmarks/channel_speed.py)."""

_SEALS = fcntl.F_SEAL_WRITE | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SHRINK


class NotSealed(ValueError):
    """A descriptor is not one of a memory file of the announced size that nobody can change."""


@dataclass(frozen=True)
class MemoryFile:
    """A sealed memory file: its descriptor, which whoever made it closes, and its size in bytes."""

    descriptor: int
    nbytes: int


@contextmanager
def in_memory_files(blobs: Sequence[Any]) -> Iterator[list[Any]]:
    """The blobs, with the large ones in memory files until the end; as they are where there is no memory for that."""
    with ExitStack() as stack:
        packed: list[Any] = []
        for blob in blobs:
            file = blob if isinstance(blob, MemoryFile) else _filled(blob)
            if file is not None and file is not blob:
                stack.callback(os.close, file.descriptor)
            packed.append(blob if file is None else file)
        yield packed


def mapped(descriptor: int, nbytes: int) -> mmap.mmap:
    """The bytes of a memory file that came from another process, to be read only.

    Raises:
        NotSealed: it could change or end while it is read.
    """
    try:
        seals = fcntl.fcntl(descriptor, fcntl.F_GET_SEALS)
    except OSError as error:
        raise NotSealed("a descriptor is not one of a memory file") from error
    if seals & _SEALS != _SEALS or os.fstat(descriptor).st_size != nbytes or not nbytes:
        raise NotSealed(f"a memory file is not sealed, or has not the {nbytes} bytes that were announced")
    # Private: older kernels refuse to share what is sealed against writing.
    return mmap.mmap(descriptor, nbytes, flags=mmap.MAP_PRIVATE | mmap.MAP_POPULATE, prot=mmap.PROT_READ)


def _filled(blob: Any) -> MemoryFile | None:
    """A memory file with these bytes; None for few bytes, or where there is no memory."""
    view = memoryview(blob)
    if view.nbytes < LARGE_BYTES:
        return None
    try:
        descriptor = os.memfd_create("tensor", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    except OSError:
        return None
    try:
        _write_all(descriptor, view.cast("B"))
        fcntl.fcntl(descriptor, fcntl.F_ADD_SEALS, _SEALS)
    except OSError:
        os.close(descriptor)
        return None
    return MemoryFile(descriptor, view.nbytes)


def _write_all(descriptor: int, view: memoryview) -> None:
    written = 0
    while written < view.nbytes:
        written += os.write(descriptor, view[written:])
