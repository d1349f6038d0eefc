"""Frames between processes: what arrives is what was sent, and nothing else gets through."""

from __future__ import annotations

import os
import struct
import threading
import time
from collections.abc import Iterator

import msgspec
import numpy as np
import pytest

from tritonkata.boundary.channel import Channel, ChannelClosed, ChannelError, DeadlinePassed
from tritonkata.boundary.messages import Failed, InterpreterReply, Loaded, Ready
from tritonkata.model.faults import Fault


@pytest.fixture
def pipe() -> Iterator[tuple[Channel, int]]:
    """A channel and the raw descriptor that writes to it."""
    read_fd, write_fd = os.pipe()
    spare_read, spare_write = os.pipe()
    channel = Channel(read_fd, spare_write)
    yield channel, write_fd
    channel.close()
    for descriptor in (write_fd, spare_read):
        try:
            os.close(descriptor)
        except OSError:
            continue


def loopback() -> Channel:
    return Channel(*os.pipe())


def test_a_message_and_its_blobs_arrive_unchanged() -> None:
    channel = loopback()
    fault = Fault(verdict="timeout", phase="kernel", message="ä\x1b[31m", line=3)
    values = np.arange(6, dtype=np.float32).reshape(2, 3)
    channel.send(Failed(fault), [values, b"", b"xyz"], seconds=1)
    frame = channel.receive(InterpreterReply, seconds=1)
    assert frame.message == Failed(fault)
    assert [bytes(blob) for blob in frame.blobs] == [values.tobytes(), b"", b"xyz"]
    channel.close()


def test_a_blob_larger_than_the_pipe_arrives_while_the_other_side_reads() -> None:
    channel = loopback()
    blob = np.random.default_rng(0).bytes(5 << 20)
    sender = threading.Thread(target=channel.send, args=(Loaded(), [blob]))
    sender.start()
    frame = channel.receive(InterpreterReply, seconds=30)
    sender.join()
    assert bytes(frame.blobs[0]) == blob
    channel.close()


def test_silence_ends_at_the_deadline(pipe: tuple[Channel, int]) -> None:
    channel, _ = pipe
    with pytest.raises(DeadlinePassed):
        channel.receive(InterpreterReply, seconds=0.05)


def test_a_peer_that_drips_single_bytes_does_not_outlast_the_deadline(pipe: tuple[Channel, int]) -> None:
    channel, write_fd = pipe
    stop = threading.Event()

    def drip() -> None:
        body = struct.pack(">4sII", b"TKF1", 1 << 20, 0) + bytes(1 << 20)
        for byte in body:
            if stop.is_set():
                return
            os.write(write_fd, bytes([byte]))
            time.sleep(0.001)

    thread = threading.Thread(target=drip)
    thread.start()
    with pytest.raises(DeadlinePassed):
        channel.receive(InterpreterReply, seconds=0.2)
    stop.set()
    thread.join()


def test_a_peer_that_does_not_read_does_not_hold_the_sender() -> None:
    channel = loopback()
    with pytest.raises(DeadlinePassed):
        channel.send(Loaded(), [bytes(8 << 20)], seconds=0.1)
    channel.close()


@pytest.mark.parametrize("sent", [b"", b"TK", struct.pack(">4sII", b"TKF1", 10, 0) + b"short"])
def test_an_early_end_is_told_apart_from_an_answer(pipe: tuple[Channel, int], sent: bytes) -> None:
    channel, write_fd = pipe
    os.write(write_fd, sent)
    os.close(write_fd)
    with pytest.raises(ChannelClosed):
        channel.receive(InterpreterReply, seconds=1)


@pytest.mark.parametrize(
    "sent",
    [
        b"all tests passed, all of them!!",
        struct.pack(">4sII", b"TKF1", 0xFFFFFFFF, 0),
        struct.pack(">4sII", b"TKF1", 4, 0xFFFF),
        struct.pack(">4sIIQ", b"TKF1", 4, 1, 1 << 60),
        struct.pack(">4sII", b"TKF1", 4, 0) + b"\xff\xff\xff\xff",
        struct.pack(">4sII", b"TKF1", 100_000, 0) + b"\x91" * 100_000,
    ],
    ids=["text", "huge body", "many blobs", "huge blob", "no MessagePack", "deep nesting"],
)
def test_what_is_no_frame_is_refused_before_memory_is_taken(pipe: tuple[Channel, int], sent: bytes) -> None:
    channel, write_fd = pipe
    writer = threading.Thread(target=os.write, args=(write_fd, sent))
    writer.start()
    with pytest.raises(ChannelError):
        channel.receive(InterpreterReply, seconds=2)
    writer.join()


def test_a_message_of_another_kind_is_refused(pipe: tuple[Channel, int]) -> None:
    channel, write_fd = pipe
    body = msgspec.msgpack.encode(Ready("3.9.0", "2.13.0", "2.0"))
    os.write(write_fd, struct.pack(">4sII", b"TKF1", len(body), 0) + body)
    with pytest.raises(ChannelError):
        channel.receive(Failed, seconds=1)
