"""Modules of kernels stay in the driver while this process has the counters: CUPTI looks at them at each launch."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from fake_cupti import Library

pytest.importorskip("cuda.bindings", reason="the launcher needs cuda-bindings")

from tritonkata.launcher import driver, modules
from tritonkata.launcher.traffic import hold as hold_module
from tritonkata.launcher.traffic import library
from tritonkata.launcher.traffic.cupti import CuptiError, RangeProfiler
from tritonkata.launcher.traffic.hold import Hold

UNKNOWN = 999


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> Library:
    """CUPTI that works, unless a test says otherwise."""
    made = Library(code=UNKNOWN)
    monkeypatch.setattr(library, "load", lambda: (made, 130000, Path("libcupti.so")))
    return made


@pytest.fixture
def unloaded(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """What the driver was asked to unload."""
    gone: list[str] = []
    monkeypatch.setattr(driver, "unload_module", gone.append)
    yield gone
    modules.let_go()


@pytest.fixture
def profiler(fake: Library) -> RangeProfiler:
    return RangeProfiler(1, 0)


def count(profiler: RangeProfiler) -> None:
    profiler.count(["metric"], lambda _: None, 1)


def refuse(fake: Library, function: str) -> None:
    fake.refused, fake.failures = function, 1


def test_a_module_goes_at_once_while_nothing_is_counted(profiler: RangeProfiler, unloaded: list[str]) -> None:
    modules.unload("before")
    assert unloaded == ["before"]
    count(profiler)
    profiler.release()
    modules.unload("after")
    assert unloaded == ["before", "after"]


def test_none_goes_from_one_count_to_the_next(profiler: RangeProfiler, unloaded: list[str]) -> None:
    count(profiler)
    modules.unload("one")
    count(profiler)
    modules.unload("other")
    assert unloaded == []
    profiler.release()
    assert sorted(unloaded) == ["one", "other"]


@pytest.mark.parametrize("function", ["cuptiRangeProfilerStart", "cuptiRangeProfilerSetConfig"])
def test_after_a_count_that_failed_they_go(
    function: str, profiler: RangeProfiler, fake: Library, unloaded: list[str]
) -> None:
    refuse(fake, function)
    with pytest.raises(CuptiError):
        count(profiler)
    modules.unload("one")
    assert unloaded == ["one"]


def test_counters_that_were_not_given_keep_nothing(profiler: RangeProfiler, fake: Library, unloaded: list[str]) -> None:
    refuse(fake, "cuptiRangeProfilerEnable")
    with pytest.raises(CuptiError):
        count(profiler)
    modules.unload("one")
    assert unloaded == ["one"]


def test_counters_that_cannot_be_given_back_keep_nothing(
    profiler: RangeProfiler, fake: Library, unloaded: list[str]
) -> None:
    count(profiler)
    modules.unload("one")
    refuse(fake, "cuptiRangeProfilerDisable")
    with pytest.raises(CuptiError):
        profiler.release()
    assert unloaded == ["one"]
    modules.unload("other")
    assert unloaded == ["one", "other"]


def test_with_the_context_all_are_gone(
    profiler: RangeProfiler, unloaded: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def lost(_: object) -> None:
        raise driver.CudaError(700, "CUDA_ERROR_ILLEGAL_ADDRESS", "cuModuleUnload")

    count(profiler)
    modules.unload("one")
    modules.unload("other")
    with monkeypatch.context() as broken:
        broken.setattr(driver, "unload_module", lost)
        profiler.release()
    count(profiler)
    profiler.release()
    assert unloaded == []


def test_they_stay_for_a_while_and_not_for_ever(
    profiler: RangeProfiler, unloaded: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A class whose turns are all replays, after one count."""
    monkeypatch.setattr(driver, "bus_id", lambda: "no GPU, for modules")
    hold = Hold()
    hold.profiler, hold.keeps = profiler, True
    with hold:
        count(profiler)
    modules.unload("one")
    assert (hold.is_long, unloaded) == (False, [])
    monkeypatch.setattr(hold_module, "LONGEST_SECONDS", -1.0)
    assert hold.is_long
    hold.release()
    assert (hold.is_long, unloaded) == (False, ["one"])
