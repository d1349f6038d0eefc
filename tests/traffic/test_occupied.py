"""Counters that somebody else has: set-up and counts are begun again, and nothing is taken for broken."""

from __future__ import annotations

from pathlib import Path

import pytest
from fake_cupti import HARDWARE_BUSY, Library

from tritonkata.launcher import driver
from tritonkata.launcher.traffic import library, patience, source
from tritonkata.launcher.traffic.cupti import CuptiError, RangeProfiler
from tritonkata.launcher.traffic.hold import Hold
from tritonkata.launcher.traffic.patience import Patience
from tritonkata.launcher.traffic.source import Counters, Cupti

INVALID_KIND = 21
UNKNOWN = 999
"""How starts were refused among many graders whose launchers were killed by hostile kernels."""
START = "cuptiRangeProfilerStart"
SET_UP = "cuptiProfilerGetCounterAvailability"
"""Both are refused while another process counts, as an H200 showed."""


def installed(
    monkeypatch: pytest.MonkeyPatch, failures: int, code: int = HARDWARE_BUSY, refused: str = START
) -> Library:
    fake = Library(failures, code, refused)
    monkeypatch.setattr(library, "load", lambda: (fake, 130000, Path("libcupti.so")))
    monkeypatch.setattr(patience.time, "sleep", lambda _: None)
    return fake


@pytest.fixture
def counters(monkeypatch: pytest.MonkeyPatch) -> Counters:
    """Of a device that there is not; its copy measures as it should."""
    monkeypatch.delenv(source.SOURCE_VARIABLE, raising=False)
    monkeypatch.setattr(driver, "current_context", lambda: 1)
    monkeypatch.setattr(driver, "bus_id", lambda: "0000:fe:00.0")
    monkeypatch.setattr(driver, "attribute", lambda *_: 1 << 20)
    monkeypatch.setattr(
        source, "_calibrated", lambda profiler, hold, patience, _: Cupti(profiler, (), {}, hold, patience)
    )
    return Counters(None, 0)


@pytest.mark.parametrize("code", [HARDWARE_BUSY, UNKNOWN])
def test_a_count_begins_again_until_the_counters_are_free(monkeypatch: pytest.MonkeyPatch, code: int) -> None:
    fake = installed(monkeypatch, failures=3, code=code)
    profiler, runs = RangeProfiler(1, 0), list[int]()
    assert Patience().until_free(lambda: profiler.count(["metric"], lambda _: runs.append(1), 1)) == {}
    profiler.release()
    assert len(runs) == 1
    assert fake.calls.count("RangeProfilerEnable") == fake.calls.count("RangeProfilerDisable") == 4


def test_patience_ends_and_the_failure_is_told_from_a_broken_profiler(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patience, "PATIENCE_SECONDS", 0.0)
    fake = installed(monkeypatch, failures=10**9)
    profiler = RangeProfiler(1, 0)
    with pytest.raises(CuptiError, match="another profiler holds the counters") as caught:
        Patience().until_free(lambda: profiler.count(["metric"], lambda _: None, 1))
    assert not caught.value.is_broken
    assert fake.calls.count("RangeProfilerEnable") == fake.calls.count("RangeProfilerDisable")


def test_a_start_that_is_refused_again_and_again_is_a_broken_profiler(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patience, "PATIENCE_SECONDS", 0.01)
    installed(monkeypatch, failures=10**9, code=UNKNOWN)
    profiler = RangeProfiler(1, 0)
    with pytest.raises(CuptiError) as caught:
        Patience().until_free(lambda: profiler.count(["metric"], lambda _: None, 1))
    assert caught.value.is_broken


def test_whoever_waited_in_vain_does_not_wait_again_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    fake = installed(monkeypatch, failures=10**9, refused=SET_UP)
    left = Patience()
    monkeypatch.setattr(patience, "PATIENCE_SECONDS", 0.01)
    with pytest.raises(CuptiError):
        left.until_free(lambda: RangeProfiler(1, 0))
    monkeypatch.setattr(patience, "PATIENCE_SECONDS", 600.0)
    before = len(fake.calls)
    with pytest.raises(CuptiError):
        left.until_free(lambda: RangeProfiler(1, 0))
    assert fake.calls[before:].count(SET_UP.removeprefix("cupti")) == 1


@pytest.mark.parametrize(
    ("code", "refused"),
    [(INVALID_KIND, START), (UNKNOWN, "cuptiRangeProfilerStop"), (UNKNOWN, "cuptiRangeProfilerEnable")],
)
def test_what_is_broken_is_not_tried_again(monkeypatch: pytest.MonkeyPatch, code: int, refused: str) -> None:
    fake = installed(monkeypatch, failures=1, code=code, refused=refused)
    profiler = RangeProfiler(1, 0)
    with pytest.raises(CuptiError) as caught:
        Patience().until_free(lambda: profiler.count(["metric"], lambda _: None, 1))
    assert caught.value.is_broken
    assert fake.calls.count("RangeProfilerEnable") == 1


def test_set_up_ahead_of_need_is_tried_once_and_waited_for_by_the_first_count(
    monkeypatch: pytest.MonkeyPatch, counters: Counters
) -> None:
    """Launchers that start together take the counters from one another for a moment."""
    fake = installed(monkeypatch, failures=4, refused=SET_UP)
    counters.prepare()
    assert fake.failures == 3
    assert "another profiler holds" in counters.reason
    assert counters.cupti is not None
    assert counters.reason == ""


def test_set_up_that_fails_for_another_reason_is_not_tried_again(
    monkeypatch: pytest.MonkeyPatch, counters: Counters
) -> None:
    fake = installed(monkeypatch, failures=4, code=INVALID_KIND, refused=SET_UP)
    counters.prepare()
    assert counters.cupti is None
    assert fake.failures == 3
    assert f"({INVALID_KIND})" in counters.reason
    assert not counters.occupied


@pytest.mark.parametrize(("code", "occupied"), [(HARDWARE_BUSY, True), (UNKNOWN, False)])
def test_a_first_count_that_is_refused_is_tried_again_by_the_next(
    monkeypatch: pytest.MonkeyPatch, counters: Counters, code: int, occupied: bool
) -> None:
    """Else a launcher that was started among many others would have no counters for the rest of a class."""

    def calibrated(profiler: RangeProfiler, hold: Hold, left: Patience, _: int) -> Cupti:
        left.until_free(lambda: profiler.count(["metric"], lambda _: None, 1))
        return Cupti(profiler, (), {}, hold, left)

    monkeypatch.setattr(source, "_calibrated", calibrated)
    monkeypatch.setattr(patience, "PATIENCE_SECONDS", 0.01)
    fake = installed(monkeypatch, failures=10**9, code=code)
    assert counters.cupti is None
    assert counters.occupied is occupied
    assert f"({code})" in counters.reason
    fake.failures = 0
    assert counters.cupti is not None
    assert counters.reason == ""
    assert not counters.occupied


def test_what_is_set_up_ahead_is_not_set_up_again(monkeypatch: pytest.MonkeyPatch, counters: Counters) -> None:
    fake = installed(monkeypatch, failures=0)
    counters.prepare()
    counters.prepare()
    assert counters.cupti is not None
    assert fake.calls.count("ProfilerInitialize") == 1


def test_counters_that_are_switched_off_are_not_looked_for(monkeypatch: pytest.MonkeyPatch, counters: Counters) -> None:
    monkeypatch.setenv(source.SOURCE_VARIABLE, "interpreter")
    fake = installed(monkeypatch, failures=0)
    switched_off = Counters(None, 0)
    switched_off.prepare()
    assert switched_off.cupti is None
    assert source.SOURCE_VARIABLE in switched_off.reason
    assert not fake.calls
