"""NVML's reasons for lowered clocks, by the library's own enumeration."""

from __future__ import annotations

import pytest

from tritonkata.launcher.health import reasons


def test_every_reason_that_slows_a_gpu_has_a_sentence_and_idleness_has_none() -> None:
    nvml = pytest.importorskip("cuda.bindings.nvml", exc_type=ImportError)
    flags = {member.name: int(member) for member in nvml.ClocksEventReasons}
    told = reasons(nvml)
    slowing = [name for name in flags if "SLOWDOWN" in name or "POWER_CAP" in name]
    assert len(slowing) >= 5
    assert set(told) == {flags[name] for name in slowing}
    assert not any(flag == value for name, value in flags.items() if "IDLE" in name for flag in told)
