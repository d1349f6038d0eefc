"""What the launcher itself cannot do is never called a fault of the submission."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Iterator

import pytest

pytest.importorskip("cuda.bindings", reason="the launcher needs cuda-bindings")

from tritonkata.boundary.channel import Channel, ChannelClosed
from tritonkata.boundary.messages import Examine, Failed, LauncherReply, Loaded, Replay
from tritonkata.boundary.socket_channel import SocketChannel
from tritonkata.launcher import serve
from tritonkata.model.plan import Buffer, LaunchPlan

PLAN = LaunchPlan("sm_90", buffers=(Buffer(1 << 38, "y"),), n_inputs=0, kernels=(), steps=(), outputs=())


class Opened:
    """A GPU that nothing can be asked of."""

    def __init__(self) -> None:
        self.released = 0

    @property
    def device(self) -> object:
        raise RuntimeError("no driver for this")

    def release_counters(self) -> None:
        self.released += 1

    def release_counters_if_long(self) -> None:
        pass


@pytest.fixture
def opened() -> Opened:
    return Opened()


@pytest.fixture
def asked(opened: Opened) -> Iterator[Channel]:
    """A channel to a launcher's loop."""
    ours, theirs = socket.socketpair()
    channel, served = SocketChannel(ours), SocketChannel(theirs)

    def answer() -> None:
        try:
            serve.answer_all(served, opened)  # type: ignore[arg-type]
        except ChannelClosed:
            pass
        finally:
            served.close()

    thread = threading.Thread(target=answer)
    thread.start()
    yield channel
    channel.close()
    thread.join(10)
    assert not thread.is_alive()


def answered(channel: Channel) -> Failed:
    reply = channel.receive(LauncherReply, seconds=10).message
    assert isinstance(reply, Failed)
    assert reply.ends
    return reply


def test_an_error_of_the_launcher_is_its_own(asked: Channel) -> None:
    asked.send(Examine(), seconds=10)
    fault = answered(asked).fault
    assert fault.verdict == "grader_error"
    assert "no driver for this" in fault.message


def test_memory_that_a_call_wants_is_the_submissions(asked: Channel, monkeypatch: pytest.MonkeyPatch) -> None:
    def replay(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr(serve, "replay", replay)
    asked.send(Replay(PLAN, (), b"\xff"), seconds=10)
    fault = answered(asked).fault
    assert fault.verdict == "runtime_error", fault.message
    assert str(1 << 38) in fault.message


def test_a_request_that_cannot_be_read_is_told(asked: Channel) -> None:
    asked.send(Loaded(), [os.urandom(10)], seconds=10)
    assert answered(asked).fault.verdict == "grader_error"


@pytest.mark.parametrize(("request_sent", "released"), [(Examine(), 1), (Replay(PLAN, (), b"\xff"), 0)])
def test_what_takes_times_runs_without_a_profiler(
    asked: Channel, opened: Opened, request_sent: Examine | Replay, released: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(serve, "replay", lambda *_: 1 // 0)
    asked.send(request_sent, seconds=10)
    answered(asked)
    assert opened.released == released
