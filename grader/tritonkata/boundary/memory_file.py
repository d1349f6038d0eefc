"""Large blobs in memory of their own, which another process maps instead of reading them from a pipe.

They are filled before the other process has to wait for them, and sealed: neither side can change or shrink what
the other one has mapped.
"""

from __future__ import annotations

import fcntl
import mmap
import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

LARGE_BYTES = 1 << 20
"""From this size on, mapping what lies there already is faster than reading it (benchmarks/channel_speed.py)."""

_LEAST_TIMES_AVAILABLE = 64
"""Many graders may wait for one GPU, each with its inputs in memory once more."""

# Of linux/fcntl.h; some builds of Python know no names for them.
_ADD_SEALS, _GET_SEALS = 1033, 1034
_SEALS = 2 | 4 | 8  # against shrinking, growing and writing


class NotSealed(ValueError):
    """A descriptor is not one of a memory file of the announced size that nobody can change."""


@dataclass(frozen=True)
class MemoryFile:
    """A sealed memory file: its descriptor, which whoever made it closes, and its size in bytes."""

    descriptor: int
    nbytes: int


@contextmanager
def in_memory_files(blobs: Sequence[Any], *, at_least: int = LARGE_BYTES) -> Iterator[list[Any]]:
    """The blobs, those of at least so many bytes in memory files until the end.

    As they are where the system has no memory files, or not much memory left.
    """
    large = [not isinstance(blob, MemoryFile) and memoryview(blob).nbytes >= at_least for blob in blobs]
    needed = sum(memoryview(blob).nbytes for blob, is_large in zip(blobs, large, strict=True) if is_large)
    if not needed or needed * _LEAST_TIMES_AVAILABLE > available_bytes():
        yield list(blobs)
        return
    with ExitStack() as stack:
        packed: list[Any] = []
        for blob, is_large in zip(blobs, large, strict=True):
            file = _filled(memoryview(blob).cast("B")) if is_large else None
            if file is not None:
                stack.callback(os.close, file.descriptor)
            packed.append(blob if file is None else file)
        yield packed


def available_bytes() -> int:
    """Memory that can be had without swapping, by the kernel's estimate; 0 where it makes none."""
    with suppress(OSError, ValueError, IndexError):
        for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) << 10
    return 0


def mapped(descriptor: int, nbytes: int) -> mmap.mmap:
    """The bytes of a memory file that came from another process, to be read only.

    Raises:
        NotSealed: it could change or end while it is read.
    """
    try:
        seals = fcntl.fcntl(descriptor, _GET_SEALS)
    except OSError as error:
        raise NotSealed("a descriptor is not one of a memory file") from error
    if seals & _SEALS != _SEALS or os.fstat(descriptor).st_size != nbytes or not nbytes:
        raise NotSealed(f"a memory file is not sealed, or has not the {nbytes} bytes that were announced")
    # Private: older kernels refuse to share what is sealed against writing.
    return mmap.mmap(descriptor, nbytes, flags=mmap.MAP_PRIVATE | mmap.MAP_POPULATE, prot=mmap.PROT_READ)


def _filled(view: memoryview) -> MemoryFile | None:
    """A memory file with these bytes; None where there can be none."""
    with ExitStack() as on_error, suppress(OSError, AttributeError):
        descriptor = os.memfd_create("tensor", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        on_error.callback(os.close, descriptor)
        _write_all(descriptor, view)
        fcntl.fcntl(descriptor, _ADD_SEALS, _SEALS)
        on_error.pop_all()
        return MemoryFile(descriptor, view.nbytes)
    return None


def _write_all(descriptor: int, view: memoryview) -> None:
    written = 0
    while written < view.nbytes:
        written += os.write(descriptor, view[written:])
