"""Frames between trusted processes: large blobs cross in sealed memory, and nothing else is mapped."""

from __future__ import annotations

import fcntl
import os
import socket
import struct
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from tritonkata.boundary import memory_file
from tritonkata.boundary.channel import Channel, ChannelClosed, ChannelError, DeadlinePassed
from tritonkata.boundary.memory_file import LARGE_BYTES, MemoryFile, in_memory_files, mapped
from tritonkata.boundary.messages import InterpreterReply, Loaded
from tritonkata.boundary.socket_channel import SocketChannel

LARGE = np.random.default_rng(5).bytes(LARGE_BYTES + 3)
ALL_SEALS = fcntl.F_SEAL_WRITE | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SHRINK


@pytest.fixture(autouse=True)
def much_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever else this machine does."""
    monkeypatch.setattr(memory_file, "available_bytes", lambda: 1 << 40)


@pytest.fixture
def ends() -> Iterator[tuple[SocketChannel, socket.socket]]:
    """A channel and the bare socket of its peer."""
    ours, theirs = socket.socketpair()
    channel = SocketChannel(ours)
    yield channel, theirs
    channel.close()
    theirs.close()


@pytest.fixture
def pair() -> Iterator[tuple[SocketChannel, SocketChannel]]:
    ours, theirs = map(SocketChannel, socket.socketpair())
    yield ours, theirs
    ours.close()
    theirs.close()


def descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def sealed(data: bytes, seals: int) -> int:
    descriptor = os.memfd_create("test", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    os.write(descriptor, data)
    fcntl.fcntl(descriptor, fcntl.F_ADD_SEALS, seals)
    return descriptor


def announced(*places: tuple[int, int]) -> bytes:
    return struct.pack(">B", len(places)) + b"".join(struct.pack(">BQ", *place) for place in places)


def test_small_and_large_blobs_arrive_unchanged_and_in_order(pair: tuple[SocketChannel, SocketChannel]) -> None:
    ours, theirs = pair
    values = np.arange(LARGE_BYTES, dtype=np.float32).reshape(2, -1)
    before = descriptors()
    with in_memory_files([b"small", LARGE, b"", values, b"last"]) as packed:
        ours.send(Loaded(), packed, seconds=1)
    frame = theirs.receive(InterpreterReply, seconds=1)
    assert frame.message == Loaded()
    assert [bytes(blob) for blob in frame.blobs] == [b"small", LARGE, b"", values.tobytes(), b"last"]
    assert descriptors() == before + 2  # a mapping of Python's holds its file
    del frame
    assert descriptors() == before


def test_many_frames_follow_each_other_both_ways(pair: tuple[SocketChannel, SocketChannel]) -> None:
    for number in range(5):
        for sender, reader in (pair, pair[::-1]):
            with in_memory_files([LARGE] * (number % 3) + [bytes([number])]) as packed:
                sender.send(Loaded(), packed, seconds=1)
            assert bytes(reader.receive(InterpreterReply, seconds=1).blobs[-1]) == bytes([number])


def test_large_blobs_cross_while_nobody_reads(pair: tuple[SocketChannel, SocketChannel]) -> None:
    ours, theirs = pair
    ours.send(Loaded(), [bytes(64 << 20)] * 4, seconds=10)
    assert [len(blob) for blob in theirs.receive(InterpreterReply, seconds=1).blobs] == [64 << 20] * 4


def test_blobs_are_packed_once_and_can_be_sent_again(pair: tuple[SocketChannel, SocketChannel]) -> None:
    ours, theirs = pair
    before = descriptors()
    with in_memory_files([LARGE, b"small"]) as packed:
        assert [isinstance(blob, MemoryFile) for blob in packed] == [True, False]
        for _ in range(2):
            ours.send(Loaded(), packed, seconds=1)
            assert [bytes(blob) for blob in theirs.receive(InterpreterReply, seconds=1).blobs] == [LARGE, b"small"]
    assert descriptors() == before


def test_what_arrived_cannot_be_changed_by_either_side(pair: tuple[SocketChannel, SocketChannel]) -> None:
    ours, theirs = pair
    with in_memory_files([LARGE]) as packed:
        ours.send(Loaded(), packed, seconds=1)
        blob = theirs.receive(InterpreterReply, seconds=1).blobs[0]
        with pytest.raises(PermissionError):
            os.pwrite(packed[0].descriptor, b"changed", 0)
        with pytest.raises(PermissionError):
            os.ftruncate(packed[0].descriptor, 0)
        with pytest.raises(TypeError):
            memoryview(blob)[0] = 0
    assert bytes(blob) == LARGE


def refused(*_: object) -> int:
    raise OSError("no memory")


def lacking(*_: object) -> int:
    raise AttributeError("this Python has no memfd_create")


@pytest.mark.parametrize(
    ("name", "replacement"),
    [
        ("os.memfd_create", refused),
        ("os.memfd_create", lacking),
        ("fcntl.fcntl", refused),
        ("tritonkata.boundary.memory_file.available_bytes", lambda: 63 * len(LARGE)),
    ],
    ids=["no memory", "no such call", "no seals", "little memory left"],
)
def test_where_there_can_be_no_memory_file_the_bytes_cross(
    monkeypatch: pytest.MonkeyPatch,
    pair: tuple[SocketChannel, SocketChannel],
    name: str,
    replacement: Callable[..., int],
) -> None:
    before = descriptors()
    with monkeypatch.context() as patch:
        patch.setattr(name, replacement)
        with in_memory_files([LARGE]) as packed:
            assert packed == [LARGE]
    assert descriptors() == before
    ours, theirs = pair
    sender = threading.Thread(target=ours.send, args=(Loaded(), packed))
    sender.start()
    assert bytes(theirs.receive(InterpreterReply, seconds=10).blobs[0]) == LARGE
    sender.join()


def test_an_interruption_while_a_file_is_filled_leaves_no_descriptor(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> int:
        raise KeyboardInterrupt

    before = descriptors()
    with monkeypatch.context() as patch:
        patch.setattr(os, "write", interrupted)
        with pytest.raises(KeyboardInterrupt), in_memory_files([LARGE]):
            pass
    assert descriptors() == before


@pytest.mark.parametrize("kind", [SocketChannel, lambda end: Channel(end.detach(), os.open(os.devnull, os.O_WRONLY))])
def test_more_blobs_than_a_frame_may_have_are_not_sent(kind: Callable[[socket.socket], Channel]) -> None:
    ours, theirs = socket.socketpair()
    channel = kind(ours)
    with pytest.raises(ChannelError, match="33 blobs"):
        channel.send(Loaded(), [b"x"] * 33, seconds=1)
    channel.close()
    theirs.close()


def test_silence_and_drips_end_at_the_deadline(ends: tuple[SocketChannel, socket.socket]) -> None:
    channel, peer = ends
    with pytest.raises(DeadlinePassed):
        channel.receive(InterpreterReply, seconds=0.05)
    peer.send(b"M\x00TK")
    with pytest.raises(DeadlinePassed):
        channel.receive(InterpreterReply, seconds=0.05)


@pytest.mark.parametrize("sent", [b"", b"M", b"M\x00", b"M\x01\x00", b"M\x00TKF1"])
def test_an_early_end_is_told_apart_from_an_answer(ends: tuple[SocketChannel, socket.socket], sent: bytes) -> None:
    channel, peer = ends
    peer.sendall(sent)
    peer.close()
    with pytest.raises(ChannelClosed):
        channel.receive(InterpreterReply, seconds=1)


@pytest.mark.parametrize("kind", [SocketChannel, lambda end: Channel(end.detach(), os.open(os.devnull, os.O_WRONLY))])
def test_a_peer_that_ends_with_frames_unread_is_one_that_is_gone(kind: type[SocketChannel]) -> None:
    """The kernel says "connection reset" then, and not the end of the stream."""
    ours, theirs = socket.socketpair()
    ours.sendall(b"a request that nobody reads")
    theirs.close()
    channel = kind(ours)
    with pytest.raises(ChannelClosed):
        channel.receive(InterpreterReply, seconds=1)
    channel.close()


def test_a_peer_that_is_gone_takes_no_frame(ends: tuple[SocketChannel, socket.socket]) -> None:
    channel, peer = ends
    peer.close()
    with pytest.raises(ChannelClosed):
        channel.send(Loaded(), [LARGE], seconds=1)


@pytest.mark.parametrize(
    ("seals", "length"),
    [(0, len(LARGE)), (fcntl.F_SEAL_WRITE, len(LARGE)), (ALL_SEALS, len(LARGE) + 1), (ALL_SEALS, 0)],
    ids=["not sealed", "may shrink", "shorter than said", "empty"],
)
def test_memory_that_could_change_is_not_mapped(
    ends: tuple[SocketChannel, socket.socket], seals: int, length: int
) -> None:
    channel, peer = ends
    before = descriptors()
    descriptor = sealed(LARGE, seals)
    socket.send_fds(peer, [b"M"], [descriptor])
    peer.sendall(announced((0, length)))
    with pytest.raises(ChannelError, match="not sealed"):
        channel.receive(InterpreterReply, seconds=1)
    os.close(descriptor)
    assert descriptors() == before


def test_what_is_no_memory_file_is_not_mapped(ends: tuple[SocketChannel, socket.socket], tmp_path: Path) -> None:
    channel, peer = ends
    path = tmp_path / "file"
    path.write_bytes(LARGE)
    with path.open("rb") as file:
        socket.send_fds(peer, [b"M"], [file.fileno()])
    peer.sendall(announced((0, len(LARGE))))
    with pytest.raises(ChannelError, match="not one of a memory file"):
        channel.receive(InterpreterReply, seconds=1)


@pytest.mark.parametrize(
    "head",
    [
        b"X",
        b"M" + announced((0, len(LARGE)), (1, len(LARGE))),
        b"M" + announced(),
        b"M" + announced((0, 1 << 60)),
        b"M" + announced((7, len(LARGE))) + struct.pack(">4sII", b"TKF1", 8, 0) + b"\x81\xa4type\xa6loaded",
    ],
    ids=["another mark", "more files than came", "fewer files than came", "a huge file", "a blob that is not there"],
)
def test_an_announcement_that_does_not_fit_is_refused(ends: tuple[SocketChannel, socket.socket], head: bytes) -> None:
    channel, peer = ends
    before = descriptors()
    descriptor = sealed(LARGE, ALL_SEALS)
    socket.send_fds(peer, [head[:1]], [descriptor])
    peer.sendall(head[1:])
    with pytest.raises(ChannelError):
        channel.receive(InterpreterReply, seconds=1)
    os.close(descriptor)
    assert descriptors() == before


def test_files_over_the_limit_are_refused(pair: tuple[SocketChannel, SocketChannel]) -> None:
    ours, theirs = pair
    with in_memory_files([LARGE, LARGE]) as packed:
        ours.send(Loaded(), packed, seconds=1)
    with pytest.raises(ChannelError, match="limit"):
        theirs.receive(InterpreterReply, seconds=1, max_blob_bytes=len(LARGE) + 1)


def test_a_mapping_outlives_the_descriptor() -> None:
    descriptor = sealed(LARGE, ALL_SEALS)
    blob = mapped(descriptor, len(LARGE))
    os.close(descriptor)
    assert bytes(blob) == LARGE
