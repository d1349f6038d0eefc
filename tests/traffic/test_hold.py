"""The counters are kept from one count to the next by whoever says so, and by nobody when others may want them."""

from __future__ import annotations

import os
import socket
import threading
from pathlib import Path
from typing import Any

import pytest
from fake_cupti import Library

pytest.importorskip("cuda.bindings", reason="the launcher needs cuda-bindings")

from tritonkata.launcher import driver, listening
from tritonkata.launcher.traffic import hold as module
from tritonkata.launcher.traffic import library, source
from tritonkata.launcher.traffic.cupti import RangeProfiler
from tritonkata.launcher.traffic.hold import Hold
from tritonkata.launcher.traffic.source import Counters, Untrusted

GPU = f"held, but no GPU, by {os.getpid()}"


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> Library:
    """CUPTI that always works."""
    made = Library()
    monkeypatch.setattr(library, "load", lambda: (made, 130000, Path("libcupti.so")))
    monkeypatch.setattr(driver, "bus_id", lambda: GPU)
    return made


@pytest.fixture
def hold(fake: Library) -> Hold:
    made = Hold()
    made.profiler = RangeProfiler(1, 0)
    return made


def count(hold: Hold) -> None:
    with hold:
        assert hold.profiler is not None
        hold.profiler.count(["metric"], lambda _: None, 1)


def others_can_count(fake: Library) -> bool:
    """Whether the lock is free and the profiler has let go."""
    with socket.socket(socket.AF_UNIX) as other:
        try:
            other.bind(f"\0tritonkata-counters-{GPU}")
        except OSError:
            return False
    return fake.calls.count("RangeProfilerEnable") == fake.calls.count("RangeProfilerDisable")


def test_a_count_gives_the_counters_back(hold: Hold, fake: Library) -> None:
    for number in (1, 2):
        count(hold)
        assert others_can_count(fake)
        assert fake.calls.count("RangeProfilerEnable") == number


def test_whoever_keeps_them_takes_them_once(hold: Hold, fake: Library) -> None:
    hold.keeps = True
    for _ in range(3):
        count(hold)
        assert not others_can_count(fake)
    assert fake.calls.count("RangeProfilerEnable") == 1
    hold.release()
    assert others_can_count(fake)
    count(hold)
    assert fake.calls.count("RangeProfilerEnable") == 2
    hold.release()


def test_nobody_keeps_them_for_long(hold: Hold, fake: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LONGEST_SECONDS", -1.0)
    hold.keeps = True
    count(hold)
    assert others_can_count(fake)


def test_what_goes_wrong_lets_them_go(hold: Hold, fake: Library) -> None:
    hold.keeps = True
    count(hold)
    with pytest.raises(ZeroDivisionError), hold:
        raise ZeroDivisionError
    assert others_can_count(fake)


def test_counters_that_cannot_be_trusted_are_let_go(fake: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nsight Compute wants them next."""

    def untrusted(profiler: RangeProfiler, *_: Any) -> None:
        profiler.count(["metric"], lambda _: None, 1)
        raise Untrusted("a copy measured 3 traversals")

    monkeypatch.delenv(source.SOURCE_VARIABLE, raising=False)
    monkeypatch.setattr(driver, "current_context", lambda: 1)
    monkeypatch.setattr(driver, "attribute", lambda *_: 1 << 20)
    monkeypatch.setattr(source, "_calibrated", untrusted)
    counters = Counters(None, 0)
    counters.keeps = True
    assert counters.cupti is None
    assert "3 traversals" in counters.reason
    assert others_can_count(fake)


@pytest.mark.parametrize("code", [700, 719])
def test_a_context_that_ends_at_the_calibration_is_no_reason_to_count_otherwise(
    code: int, fake: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    """This process can do nothing any more, and the next one can."""

    def broken(*_: Any) -> None:
        raise driver.CudaError(code, "CUDA_ERROR", "cuMemFree")

    monkeypatch.delenv(source.SOURCE_VARIABLE, raising=False)
    monkeypatch.setattr(driver, "current_context", lambda: 1)
    monkeypatch.setattr(driver, "attribute", lambda *_: 1 << 20)
    monkeypatch.setattr(source, "_calibrated", broken)
    with pytest.raises(driver.CudaError, match=str(code)):
        _ = Counters(None, 0).cupti
    assert others_can_count(fake)


class Opened:
    """What a listening launcher has, without a GPU."""

    released = threading.Event()

    def __init__(self, _: int) -> None:
        self.keeps = False

    def prepare(self, *, keep: bool) -> None:
        self.keeps = keep

    def release_counters(self) -> None:
        if self.keeps:
            self.released.set()

    def greet(self, _: Any) -> bool:
        return False


def test_a_launcher_that_nobody_asks_lets_them_go(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(listening, "Opened", Opened)
    with socket.socket(socket.AF_UNIX) as listener, socket.socket(socket.AF_UNIX) as client:
        listener.bind(str(tmp_path / "socket"))
        listener.listen(1)
        launcher = threading.Thread(target=listening.listen, args=(listener, os.getpid(), 0))
        launcher.start()
        assert Opened.released.wait(10)
        client.connect(str(tmp_path / "socket"))
        launcher.join(10)
        assert not launcher.is_alive()
