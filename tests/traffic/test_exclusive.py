"""Processes that count take turns on a GPU."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tritonkata.launcher.traffic import exclusive as module
from tritonkata.launcher.traffic.exclusive import exclusive

HOLDER = """
import sys
from tritonkata.launcher.traffic.exclusive import exclusive
with exclusive("0000:00:00.0"):
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def holder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> subprocess.Popen[str]:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(module.tempfile, "tempdir", str(tmp_path))
    process = subprocess.Popen([sys.executable, "-c", HOLDER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    return process


def test_a_second_process_gets_the_lock_once_the_first_lets_go(
    holder: subprocess.Popen[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module.time, "sleep", lambda _: holder.communicate())
    with exclusive("0000:00:00.0"):
        assert holder.returncode == 0


def test_another_gpu_has_a_lock_of_its_own(holder: subprocess.Popen[str]) -> None:
    with exclusive("0000:01:00.0"):
        assert holder.poll() is None
    holder.communicate()


def test_a_holder_that_hangs_costs_time_and_no_more(
    holder: subprocess.Popen[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "PATIENCE_SECONDS", 0.1)
    with exclusive("0000:00:00.0"):
        assert holder.poll() is None
    holder.communicate()


def test_a_link_in_its_place_is_not_followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module.tempfile, "tempdir", str(tmp_path))
    target = tmp_path / "elsewhere"
    (tmp_path / "tritonkata-0000-02-00.0.lock").symlink_to(target)
    with exclusive("0000:02:00.0"):
        assert not target.exists()
