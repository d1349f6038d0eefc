"""Processes that count take turns on a GPU."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tritonkata.launcher.traffic import exclusive as module
from tritonkata.launcher.traffic.exclusive import exclusive

GPU = f"no GPU, but process {os.getpid()}"
HOLDER = f"""
import sys
from tritonkata.launcher.traffic.exclusive import exclusive
with exclusive("{GPU}"):
    print("held", flush=True)
    sys.stdin.read()
"""
ADDER = f"""
import pathlib, sys, time
from tritonkata.launcher.traffic.exclusive import exclusive
path = pathlib.Path(sys.argv[1])
for _ in range(20):
    with exclusive("{GPU}"):
        number = int(path.read_text())
        time.sleep(0.002)
        path.write_text(str(number + 1))
"""


@pytest.fixture
def holder(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """A process that has the lock, and a folder of its own for temporary files."""
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    yield process
    process.kill()
    process.communicate()


def test_a_second_process_gets_the_lock_once_the_first_lets_go(
    holder: subprocess.Popen[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module.time, "sleep", lambda _: holder.communicate())
    with exclusive(GPU):
        assert holder.returncode == 0


def test_a_holder_that_is_killed_holds_it_no_longer(
    holder: subprocess.Popen[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(_: float) -> None:
        holder.kill()
        holder.wait()

    monkeypatch.setattr(module.time, "sleep", killed)
    with exclusive(GPU):
        assert holder.returncode == -9


def test_many_processes_take_turns(tmp_path: Path) -> None:
    path = tmp_path / "number"
    path.write_text("0")
    adders = [subprocess.Popen([sys.executable, "-c", ADDER, str(path)]) for _ in range(4)]
    assert [adder.wait(60) for adder in adders] == [0] * 4
    assert path.read_text() == "80"


def test_another_gpu_has_a_lock_of_its_own(holder: subprocess.Popen[str]) -> None:
    with exclusive("0000:fd:00.0"):
        assert holder.poll() is None


def test_a_holder_that_hangs_costs_time_and_no_more(
    holder: subprocess.Popen[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "PATIENCE_SECONDS", 0.1)
    with exclusive(GPU):
        assert holder.poll() is None


def test_a_lock_leaves_no_file(holder: subprocess.Popen[str], tmp_path: Path) -> None:
    holder.communicate()
    assert list(tmp_path.iterdir()) == []
