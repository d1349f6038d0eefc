"""Counters that somebody else has: the count is begun again, and nothing is taken for broken."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tritonkata.launcher.traffic import cupti, library
from tritonkata.launcher.traffic.cupti import CuptiError, RangeProfiler

HARDWARE_BUSY = 26
INVALID_KIND = 21


class Library:
    """Answers every function of CUPTI as one that works, but for the first `failures` starts of a pass."""

    def __init__(self, failures: int, code: int) -> None:
        self.failures, self.code = failures, code
        self.calls: list[str] = []

    def __getattr__(self, name: str) -> Any:
        def answered(reference: Any, *_: Any) -> int:
            self.calls.append(name.removeprefix("cupti"))
            if name == "cuptiRangeProfilerStart" and self.failures:
                self.failures -= 1
                return self.code
            for field, value in {
                "pChipName": b"gh100",
                "pHostObject": 1,
                "pRangeProfilerObject": 1,
                "counterAvailabilityImageSize": 8,
                "configImageSize": 8,
                "counterDataSize": 8,
                "numOfPasses": 1,
                "isAllPassSubmitted": 1,
            }.items():
                if hasattr(getattr(reference, "_obj", None), field):
                    setattr(reference._obj, field, value)
            return 1 if name == "cuptiGetResultString" else 0

        return answered


def opened(monkeypatch: pytest.MonkeyPatch, failures: int, code: int = HARDWARE_BUSY) -> tuple[RangeProfiler, Library]:
    fake = Library(failures, code)
    monkeypatch.setattr(library, "load", lambda: (fake, 130000, Path("libcupti.so")))
    monkeypatch.setattr(cupti.time, "sleep", lambda _: None)
    return RangeProfiler(1, 0), fake


def test_a_count_begins_again_until_the_counters_are_free(monkeypatch: pytest.MonkeyPatch) -> None:
    profiler, fake = opened(monkeypatch, failures=3)
    runs: list[int] = []
    assert profiler.count(["metric"], lambda _: runs.append(1), 1) == {}
    assert len(runs) == 1
    assert fake.calls.count("RangeProfilerEnable") == fake.calls.count("RangeProfilerDisable") == 4


def test_patience_ends_and_the_failure_is_told_from_a_broken_profiler(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cupti, "PATIENCE_SECONDS", 0.0)
    profiler, fake = opened(monkeypatch, failures=1000)
    with pytest.raises(CuptiError, match="another profiler holds the counters") as caught:
        profiler.count(["metric"], lambda _: None, 1)
    assert not caught.value.is_broken
    assert fake.calls.count("RangeProfilerEnable") == fake.calls.count("RangeProfilerDisable")


def test_what_is_broken_is_not_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    profiler, fake = opened(monkeypatch, failures=1, code=INVALID_KIND)
    with pytest.raises(CuptiError) as caught:
        profiler.count(["metric"], lambda _: None, 1)
    assert caught.value.is_broken
    assert fake.calls.count("RangeProfilerEnable") == 1
