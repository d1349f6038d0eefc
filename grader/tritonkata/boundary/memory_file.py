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
from typing import Any

from tritonkata.boundary.available import available_bytes

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
    sizes = [0 if isinstance(blob, MemoryFile) else memoryview(blob).nbytes for blob in blobs]
    needed = sum(size for size in sizes if size >= at_least)
    may_pack = needed and needed * _LEAST_TIMES_AVAILABLE <= (available_bytes() or 0)
    with ExitStack() as stack:
        packed = list(blobs)
        for index, size in enumerate(sizes):
            file = _sealed(memoryview(packed[index]).cast("B")) if may_pack and size >= at_least else None
            if file is not None:
                stack.callback(os.close, file.descriptor)
                packed[index] = file
        yield packed


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


def filled(name: str, content: bytes | memoryview, flags: int = 0) -> int:
    """A descriptor of memory with this content, at its end; `name` is for whoever looks at open files.

    Raises:
        OSError: there is no memory for it, or no descriptor.
    """
    with ExitStack() as on_error, memoryview(content) as view:
        descriptor = os.memfd_create(name, os.MFD_CLOEXEC | flags)
        on_error.callback(os.close, descriptor)
        written = 0
        while written < view.nbytes:
            written += os.write(descriptor, view[written:])
        on_error.pop_all()
        return descriptor


def _sealed(view: memoryview) -> MemoryFile | None:
    """A memory file with these bytes; None where there can be none."""
    with ExitStack() as on_error, suppress(OSError, AttributeError):
        descriptor = filled("tensor", view, os.MFD_ALLOW_SEALING)
        on_error.callback(os.close, descriptor)
        fcntl.fcntl(descriptor, _ADD_SEALS, _SEALS)
        on_error.pop_all()
        return MemoryFile(descriptor, view.nbytes)
    return None
