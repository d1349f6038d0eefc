"""Frames over a pair of pipes, with a deadline and a size limit on every read and write.

A frame is a fixed header (magic, length of the body, number of blobs), the
blobs' lengths, the body (MessagePack of one message) and the blobs. The peer may be hostile:
nothing is allocated before its length has been checked against the limits.
"""

from __future__ import annotations

import contextlib
import fcntl
import mmap
import os
import selectors
import struct
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import msgspec

Message = TypeVar("Message")

Blob = bytearray | mmap.mmap
"""What came beside a message; mapped memory can only be read."""

_MAGIC = b"TKF1"
_HEADER = struct.Struct(">4sII")
_LENGTH = struct.Struct(">Q")
_CHUNK = 1 << 20
_GROWTH = 64 << 20

PIPE_BYTES = 1 << 20
"""What a pipe holds: Linux gives so much to everybody. With its usual 64 KiB the two sides wait for each other more."""

MAX_BODY_BYTES = 64 << 20
MAX_BLOBS = 32
MAX_BLOB_BYTES = 8 << 30


class ChannelError(Exception):
    """The peer did not keep to the protocol. The message says how."""


class ChannelClosed(ChannelError):
    """The peer closed its end, or ended, before a whole frame."""


class DeadlinePassed(ChannelError):
    """The peer did not answer (or did not read) in time."""


@dataclass(frozen=True)
class Frame(Generic[Message]):
    """One decoded message with the blobs that came beside it."""

    message: Message
    blobs: tuple[Blob, ...]


class Channel:
    """Typed frames out of `read_fd` and into `write_fd`; both are made non-blocking, and to hold `pipe_bytes`."""

    def __init__(
        self, read_fd: int, write_fd: int, *, max_blob_bytes: int = MAX_BLOB_BYTES, pipe_bytes: int = PIPE_BYTES
    ) -> None:
        self._read_fd = read_fd
        self._write_fd = write_fd
        self._max_blob_bytes = max_blob_bytes
        self._encoder = msgspec.msgpack.Encoder()
        for descriptor in (read_fd, write_fd):
            os.set_blocking(descriptor, False)
            # No pipe, or the user has too many large ones.
            with contextlib.suppress(OSError):
                fcntl.fcntl(descriptor, fcntl.F_SETPIPE_SZ, pipe_bytes)

    def send(self, message: msgspec.Struct, blobs: Sequence[Any] = (), *, seconds: float | None = None) -> None:
        """Write one frame. `blobs` are bytes-like and contiguous.

        Raises:
            ChannelClosed: the peer is gone.
            DeadlinePassed: the peer did not read within `seconds`.
            ChannelError: more blobs than a frame may have.
        """
        check_number(blobs)
        deadline = deadline_after(seconds)
        body = self._encoder.encode(message)
        views = [memoryview(blob).cast("B") if memoryview(blob).nbytes else memoryview(b"") for blob in blobs]
        head = _HEADER.pack(_MAGIC, len(body), len(views))
        lengths = b"".join(_LENGTH.pack(view.nbytes) for view in views)
        for view in (memoryview(head + lengths + body), *views):
            self._write(view, deadline)

    def receive(self, types: Any, *, seconds: float | None = None, max_blob_bytes: int | None = None) -> Frame[Any]:
        """Read one frame whose message must be one of `types` (a union of tagged structs).

        Raises:
            ChannelClosed: the stream ended.
            DeadlinePassed: no whole frame within `seconds`.
            ChannelError: the frame is malformed, over a limit or not of these types.
        """
        deadline = deadline_after(seconds)
        limit = self._max_blob_bytes if max_blob_bytes is None else max_blob_bytes
        magic, body_length, count = _HEADER.unpack(self._read(_HEADER.size, deadline))
        if magic != _MAGIC or body_length > MAX_BODY_BYTES or count > MAX_BLOBS:
            raise ChannelError("the frame's header is not one of this protocol")
        lengths = [_LENGTH.unpack(self._read(_LENGTH.size, deadline))[0] for _ in range(count)]
        if sum(lengths) > limit:
            raise ChannelError(f"the frame carries {sum(lengths)} bytes, the limit is {limit}")
        body = self._read(body_length, deadline)
        blobs = tuple(self._read(length, deadline) for length in lengths)
        try:
            message = msgspec.msgpack.decode(body, type=types)
        except (msgspec.MsgspecError, RecursionError) as error:
            raise ChannelError(f"the message could not be decoded: {error}") from error
        return Frame(message, blobs)

    def close(self) -> None:
        """Close both descriptors."""
        for descriptor in (self._read_fd, self._write_fd):
            with contextlib.suppress(OSError):
                os.close(descriptor)

    def _write(self, view: memoryview, deadline: float | None) -> None:
        sent = 0
        while sent < view.nbytes:
            try:
                sent += os.write(self._write_fd, view[sent : sent + _CHUNK])
            except BlockingIOError:
                wait_for(self._write_fd, selectors.EVENT_WRITE, deadline)
            except ConnectionError as error:
                raise ChannelClosed("the other process is gone") from error
            if deadline is not None and time.monotonic() > deadline:
                raise DeadlinePassed("the other process does not read")

    def _read(self, length: int, deadline: float | None) -> bytearray:
        # Memory for what has come, and not for what was announced.
        data = bytearray(min(length, _GROWTH))
        got = 0
        while got < length:
            if got == len(data):
                data.extend(bytes(min(length - got, _GROWTH)))
            try:
                with memoryview(data) as view:
                    count = os.readv(self._read_fd, [view[got : got + _CHUNK]])
            except BlockingIOError:
                wait_for(self._read_fd, selectors.EVENT_READ, deadline)
                continue
            except ConnectionError as error:
                # A socket whose other end was closed before it had read everything.
                raise ChannelClosed("the other process is gone") from error
            if count == 0:
                raise ChannelClosed("the other process ended before it answered")
            got += count
            # A peer that drips bytes is always readable, so the clock is looked at here too.
            if got < length and deadline is not None and time.monotonic() > deadline:
                raise DeadlinePassed("the other process did not answer in time")
        return data


def check_number(blobs: Sequence[Any]) -> None:
    """Raise ChannelError for more blobs than a frame may have."""
    if len(blobs) > MAX_BLOBS:
        raise ChannelError(f"a frame cannot carry {len(blobs)} blobs, the limit is {MAX_BLOBS}")


def deadline_after(seconds: float | None) -> float | None:
    """The monotonic clock's time in so many seconds; None, as given, for no deadline."""
    return None if seconds is None else time.monotonic() + seconds


def seconds_until(deadline: float | None) -> float | None:
    """What is left until a deadline, less than 0 if it has passed; None for no deadline."""
    return None if deadline is None else deadline - time.monotonic()


def wait_for(descriptor: int, event: int, deadline: float | None) -> None:
    """Wait until a descriptor can be read or written.

    Raises:
        DeadlinePassed: it cannot be, in time.
    """
    timeout = seconds_until(deadline)
    if timeout is not None and timeout <= 0:
        raise DeadlinePassed("the other process did not answer in time")
    with selectors.DefaultSelector() as selector:
        selector.register(descriptor, event)
        if not selector.select(timeout):
            raise DeadlinePassed("the other process did not answer in time")
