"""A launcher that several processes share, where it cannot open a GPU, and what the canary makes of answers."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import msgspec
import pytest

from tritonkata.boundary.messages import DeviceFigures, Examined
from tritonkata.engine.client import GraderError
from tritonkata.engine.hosting import problem_of
from tritonkata.engine.sharing import GpuSetAside, SharedHost
from tritonkata.launcher.probe import probe

H200 = DeviceFigures()
WELL = Examined(right=True, bytes_per_second=4e12, free_bytes=100 << 30)


@pytest.fixture
def peak() -> float:
    return 2 * 1000 * H200.memory_clock_khz * H200.memory_bus_bits / 8


def test_a_canary_that_finds_everything_well_says_nothing() -> None:
    assert problem_of(WELL, H200, 100 << 30) == ""


@pytest.mark.parametrize(
    ("found", "words"),
    [
        (Examined(right=False, bytes_per_second=4e12, free_bytes=100 << 30), "does not hold"),
        (Examined(right=True, bytes_per_second=1e11, free_bytes=100 << 30), "GB/s"),
        (Examined(right=True, bytes_per_second=4e12, free_bytes=50 << 30), "MiB of memory are free"),
    ],
)
def test_a_canary_names_what_is_wrong(found: Examined, words: str) -> None:
    assert words in problem_of(found, H200, 100 << 30)


def test_a_driver_that_does_not_tell_the_clock_is_no_fault() -> None:
    unknown = msgspec.structs.replace(H200, memory_clock_khz=0)
    assert problem_of(WELL, unknown, 100 << 30) == ""


@pytest.mark.skipif("error" not in probe(), reason="there is a GPU here")
def test_without_a_gpu_a_turn_says_so_and_leaves_no_process(tmp_path: Path) -> None:
    host = SharedHost(tmp_path, 0, os.getpid())
    for _ in range(2):
        with pytest.raises(GraderError, match="no GPU can be used"), host.turn():
            pass
    assert not _launchers(tmp_path)


def test_a_gpu_that_was_set_aside_is_not_used_by_anyone(tmp_path: Path) -> None:
    (tmp_path / "gpu0.aside").write_text("a copy does not hold what was copied")
    with pytest.raises(GpuSetAside, match="does not hold"), SharedHost(tmp_path, 0, os.getpid()).turn():
        pass


def test_a_launcher_ends_with_its_owner() -> None:
    """Also when the owner is killed; the launcher watches it through a descriptor of the process."""
    owner = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    code = (
        "import sys; from tritonkata.launcher.listening import _end_with\n"
        f"print('watching', flush=True); _end_with({owner.pid})"
    )
    watcher = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
    assert watcher.stdout is not None
    assert watcher.stdout.readline() == b"watching\n"
    assert watcher.poll() is None
    owner.kill()
    owner.wait()
    assert watcher.wait(10) == 0
    watcher.stdout.close()


def _launchers(folder: Path) -> list[str]:
    deadline = time.monotonic() + 10
    while (folder / "gpu0.pid").exists():
        number = (folder / "gpu0.pid").read_text()
        state = Path(f"/proc/{number}/stat")
        if not state.exists() or state.read_text().rpartition(")")[2].split()[0] == "Z":
            return []
        if time.monotonic() > deadline:
            return [number]
        time.sleep(0.05)
    return []
