"""Nsight Compute's log, as recorded on an H200, and what it says when it cannot count."""

from __future__ import annotations

from pathlib import Path

import pytest

from tritonkata.launcher.traffic import metrics, ncu

LOG = (Path(__file__).parent / "recorded_ncu_h200.csv").read_text()
COPIED = 64 << 20
WANTED = [metrics.LOADED, metrics.STORED, metrics.ASYNC_COPIED, metrics.SPILLED, metrics.DURATION]


def test_a_recorded_log_gives_each_launch_with_its_sums() -> None:
    launches = ncu.parse(LOG, WANTED)
    assert [launch.kernel for launch in launches] == ["copy", "copy"]
    for launch in launches:
        assert set(launch.values) == set(WANTED)
        assert launch.values[metrics.LOADED] == launch.values[metrics.STORED] == COPIED
        assert launch.values[metrics.SPILLED] == 0
        assert 20_000 < launch.values[metrics.DURATION] < 100_000


def test_a_metric_that_ncu_does_not_have_is_left_out() -> None:
    (first, _) = ncu.parse(LOG.replace(metrics.LOADED, "something.else"), WANTED)
    assert metrics.LOADED not in first.values
    (first, _) = ncu.parse(LOG.replace('"67,108,864"', '"n/a"'), WANTED)
    assert metrics.LOADED not in first.values
    assert metrics.SPILLED in first.values


def test_no_launch_is_an_empty_table() -> None:
    assert ncu.parse("\n".join(line for line in LOG.splitlines() if not line.startswith(('"0"', '"1"'))), WANTED) == ()


def test_missing_permission_names_the_next_command() -> None:
    log = (
        "==PROF== Connected to process 7\n"
        "==ERROR== ERR_NVGPUCTRPERM - The user does not have permission to access NVIDIA GPU Performance Counters\n"
    )
    with pytest.raises(ncu.NcuError, match="kata doctor"):
        ncu.parse(log, WANTED, 1)


def test_another_error_is_repeated_with_the_exit_code() -> None:
    with pytest.raises(ncu.NcuError, match=r"exit code 9.*driver resource was unavailable"):
        ncu.parse("==ERROR== The driver resource was unavailable\n", WANTED, 9, "traceback\nlast line\n")


def test_without_ncu_the_message_says_where_it_comes_from(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(ncu, "find", lambda: None)
    with pytest.raises(ncu.NcuError, match="CUDA toolkit"):
        ncu.count(["tritonkata.launcher.once", "copy", "0"], WANTED)


def test_a_program_that_is_no_profiler_gives_no_values(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    program = tmp_path / "ncu"
    program.write_text("#!/bin/sh\necho 'no such option' >&2\nexit 3\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    assert ncu.find() == str(program)
    with pytest.raises(ncu.NcuError, match=r"exit code 3.*no such option"):
        ncu.count(["tritonkata.launcher.once", "copy", "0"], WANTED)


def test_neither_clocks_nor_caches_are_touched(tmp_path: Path) -> None:
    options = ncu.options(WANTED, tmp_path / "log")
    assert "--clock-control=none" in options
    assert "--cache-control=none" in options
