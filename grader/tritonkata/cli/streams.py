"""The three standard streams, in whatever state the process got them."""

from __future__ import annotations

import errno
import io
import os
import sys
from typing import Any, TextIO


class OutputLost(Exception):
    """Standard output takes no more. `reason` is None where its reader (head, less) went away.

    No OSError: libraries that print have own ideas of what to do with one.
    """

    def __init__(self, reason: str | None) -> None:
        super().__init__(reason or "its reader went away")
        self.reason = reason


class OutputClosed(OutputLost):
    """There was no standard output from the beginning."""


class _Output(io.FileIO):
    def write(self, data: Any, /) -> int:
        try:
            return super().write(data) or 0
        except BrokenPipeError:
            raise OutputLost(None) from None
        except OSError as error:
            if error.errno == errno.EBADF:
                raise OutputClosed("it is closed") from error
            raise OutputLost(error.strerror) from error


class _Messages(io.FileIO):
    """Standard error: where it takes no more, there is nobody left to tell."""

    def write(self, data: Any, /) -> int:
        try:
            return super().write(data) or 0
        except OSError:
            return memoryview(data).nbytes


def prepare() -> None:
    """Open what is missing of the descriptors 0 to 2, and make `sys.stdout` raise `OutputLost`.

    A missing one would be given to the next pipe or file, and so to a worker's standard stream. Standard output
    then takes nothing, as when it is closed: what is printed must not vanish without a word.
    """
    missing = [descriptor for descriptor in range(3) if not _is_open(descriptor)]
    for descriptor in missing:
        # The lowest free number is the one that is given out.
        os.open(os.devnull, os.O_WRONLY if descriptor == 2 else os.O_RDONLY)
    if sys.stdin is None:
        sys.stdin = open(0, closefd=False)  # noqa: SIM115 - it lives as long as the process
    if sys.stdout is sys.__stdout__:
        sys.stdout = _text(_Output(1, "wb", closefd=False), sys.stdout)
    if sys.stderr is sys.__stderr__:
        sys.stderr = _text(_Messages(2, "wb", closefd=False), sys.stderr, errors="backslashreplace")


def abandon_output() -> None:
    """Let go of what standard output did not take, which Python would complain about at its own end."""
    descriptor = os.open(os.devnull, os.O_WRONLY)
    os.dup2(descriptor, 1)
    os.close(descriptor)


def _is_open(descriptor: int) -> bool:
    try:
        os.fstat(descriptor)
    except OSError:
        return False
    return True


def _text(raw: io.FileIO, old: TextIO | None, errors: str | None = None) -> io.TextIOWrapper:
    if not isinstance(old, io.TextIOWrapper):
        return io.TextIOWrapper(io.BufferedWriter(raw), encoding="utf-8", errors=errors)
    return io.TextIOWrapper(
        io.BufferedWriter(raw),
        encoding=old.encoding,
        errors=errors or old.errors,
        newline="\n",
        line_buffering=old.line_buffering or errors is not None,
        write_through=old.write_through,
    )
