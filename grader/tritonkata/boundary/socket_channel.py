"""The channel between trusted processes on one machine: large blobs cross as memory files, not as bytes.

Before each frame comes one byte with the files' descriptors, then their number and, of each, which
blob it is and its size.
"""

from __future__ import annotations

import contextlib
import mmap
import os
import selectors
import socket
import struct
from collections.abc import Sequence
from typing import Any

import msgspec

from tritonkata.boundary.channel import (
    MAX_BLOB_BYTES,
    MAX_BLOBS,
    Channel,
    ChannelClosed,
    ChannelError,
    Frame,
    check_number,
    deadline_after,
    seconds_until,
    wait_for,
)
from tritonkata.boundary.memory_file import MemoryFile, NotSealed, in_memory_files, mapped

WHILE_SENDING_BYTES = 32 << 20
"""Smaller blobs that are in no memory file yet cross faster as bytes, which the other side reads meanwhile."""

_MARK = b"M"
_COUNT = struct.Struct(">B")
_PLACE = struct.Struct(">BQ")


class SocketChannel(Channel):
    """Typed frames over a connected Unix socket, which it takes over."""

    def __init__(self, connection: socket.socket) -> None:
        self._socket = connection
        super().__init__(os.dup(connection.fileno()), os.dup(connection.fileno()))

    def send(self, message: msgspec.Struct, blobs: Sequence[Any] = (), *, seconds: float | None = None) -> None:
        """Write one frame, as `Channel.send`. Blobs may be memory files; very large ones become such."""
        check_number(blobs)
        deadline = deadline_after(seconds)
        with in_memory_files(blobs, at_least=WHILE_SENDING_BYTES) as packed:
            files = [(index, blob) for index, blob in enumerate(packed) if isinstance(blob, MemoryFile)]
            self._send_descriptors([file.descriptor for _, file in files], deadline)
            places = b"".join(_PLACE.pack(index, file.nbytes) for index, file in files)
            self._write(memoryview(_COUNT.pack(len(files)) + places), deadline)
            rest = [blob for blob in packed if not isinstance(blob, MemoryFile)]
            super().send(message, rest, seconds=seconds_until(deadline))

    def receive(self, types: Any, *, seconds: float | None = None, max_blob_bytes: int | None = None) -> Frame[Any]:
        """Read one frame, as `Channel.receive`. Blobs that came as memory files are mapped, and can only be read."""
        deadline = deadline_after(seconds)
        limit = MAX_BLOB_BYTES if max_blob_bytes is None else max_blob_bytes
        descriptors = self._receive_descriptors(deadline)
        try:
            files = self._mapped(descriptors, limit, deadline)
        finally:
            for descriptor in descriptors:
                os.close(descriptor)
        left = limit - sum(map(len, files.values()))
        frame = super().receive(types, seconds=seconds_until(deadline), max_blob_bytes=left)
        rest = iter(frame.blobs)
        number = len(files) + len(frame.blobs)
        if any(index >= number for index in files):
            raise ChannelError("a memory file stands for a blob that the frame has not")
        return Frame(frame.message, tuple(files[index] if index in files else next(rest) for index in range(number)))

    def close(self) -> None:
        """Close the connection."""
        super().close()
        self._socket.close()

    def _send_descriptors(self, descriptors: list[int], deadline: float | None) -> None:
        while True:
            try:
                socket.send_fds(self._socket, [_MARK], descriptors)
                return
            except BlockingIOError:
                wait_for(self._socket.fileno(), selectors.EVENT_WRITE, deadline)
            except ConnectionError as error:
                raise ChannelClosed("the other process is gone") from error

    def _receive_descriptors(self, deadline: float | None) -> list[int]:
        while True:
            with contextlib.suppress(BlockingIOError):
                try:
                    mark, descriptors, flags, _ = socket.recv_fds(
                        self._socket, len(_MARK), MAX_BLOBS, socket.MSG_CMSG_CLOEXEC
                    )
                    break
                except ConnectionError as error:
                    raise ChannelClosed("the other process is gone") from error
            wait_for(self._socket.fileno(), selectors.EVENT_READ, deadline)
        if mark == _MARK and not flags & socket.MSG_CTRUNC:
            return descriptors
        for descriptor in descriptors:
            os.close(descriptor)
        if not mark:
            raise ChannelClosed("the other process ended before it answered")
        raise ChannelError("what came is not the beginning of a frame, or had more descriptors than may be open")

    def _mapped(self, descriptors: list[int], limit: int, deadline: float | None) -> dict[int, mmap.mmap]:
        """The files that were announced, by the index of the blob that each one is."""
        (count,) = _COUNT.unpack(self._read(_COUNT.size, deadline))
        places = [_PLACE.unpack(self._read(_PLACE.size, deadline)) for _ in range(count)]
        if count != len(descriptors) or len({index for index, _ in places}) != count:
            raise ChannelError(f"{len(descriptors)} descriptors came for {count} memory files")
        if sum(nbytes for _, nbytes in places) > limit:
            raise ChannelError(f"the memory files are larger than the limit of {limit} bytes")
        try:
            return {
                index: mapped(descriptor, nbytes)
                for descriptor, (index, nbytes) in zip(descriptors, places, strict=True)
            }
        except (NotSealed, OSError) as error:
            raise ChannelError(str(error)) from error
