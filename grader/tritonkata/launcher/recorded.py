"""A request to count in a file, for a process of its own that a profiler watches."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from tritonkata.boundary.messages import Count


class Recorded(msgspec.Struct, frozen=True):
    """The request, the configurations chosen, and the arguments' bytes."""

    request: Count
    blobs: tuple[bytes, ...]
    chosen: tuple[int, ...] = ()


def write(path: Path, request: Count, blobs: Sequence[Any], chosen: tuple[int, ...]) -> None:
    """Put a request into a file."""
    path.write_bytes(msgspec.msgpack.encode(Recorded(request, tuple(bytes(blob) for blob in blobs), chosen)))


def read(path: Path) -> Recorded:
    """What was put into a file."""
    return msgspec.msgpack.decode(path.read_bytes(), type=Recorded)
