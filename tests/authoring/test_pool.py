"""Processes that grade: what one of them raises, its sudden end, and the end of the command."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tritonkata.authoring.pool import open_pool
from tritonkata.engine.client import GraderError


def test_results_come_back_from_other_processes() -> None:
    with open_pool(2) as pool:
        jobs = [pool.submit(pow, base, 2) for base in range(5)]
        assert [job.result() for job in jobs] == [0, 1, 4, 9, 16]
        assert pool.submit(os.getpid).result() != os.getpid()
    assert multiprocessing.active_children() == []


def test_what_a_call_raises_is_raised_and_the_others_go_on() -> None:
    with open_pool(1) as pool:
        bad, good = pool.submit(int, "x"), pool.submit(int, "3")
        with pytest.raises(ValueError, match="invalid literal"):
            bad.result()
        assert good.result() == 3


def test_a_process_that_ends_by_itself_is_the_graders_fault() -> None:
    with open_pool(1) as pool, pytest.raises(GraderError, match="--jobs 1"):
        pool.submit(os._exit, 9).result()


def test_what_a_call_prints_is_no_output_of_the_command(capfd: pytest.CaptureFixture[str]) -> None:
    with open_pool(1) as pool:
        pool.submit(os.write, 1, b"hidden test says hello").result()
    assert capfd.readouterr().out == ""


def interrupted_while_five_jobs_wait() -> None:
    with open_pool(1) as pool:
        pool.submit(os.getpid).result()
        for _ in range(5):
            pool.submit(time.sleep, 100)
        raise KeyboardInterrupt


def test_leaving_by_an_exception_ends_what_runs_and_what_waits() -> None:
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        interrupted_while_five_jobs_wait()
    assert multiprocessing.active_children() == []
    assert time.monotonic() - began < 100


def below(parent: int) -> set[int]:
    """All processes below one, those that ended and were not waited for left out."""
    parents: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                state, number = (entry / "stat").read_text().rpartition(")")[2].split()[:2]
            except OSError:
                continue
            if state != "Z":
                parents[int(entry.name)] = int(number)
    found: set[int] = set()
    frontier = {parent}
    while frontier:
        frontier = {child for child, number in parents.items() if number in frontier} - found
        found |= frontier
    return found


def command_line(number: int) -> bytes:
    """Empty for a process that ended."""
    try:
        return Path(f"/proc/{number}/cmdline").read_bytes()
    except OSError:
        return b""


def wait_for(condition: Callable[[], bool], seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not come"
        time.sleep(0.05)


@pytest.mark.parametrize(
    ("number", "group", "code"),
    [
        (signal.SIGINT, True, 128 + signal.SIGINT),
        (signal.SIGTERM, False, 128 + signal.SIGTERM),
        (signal.SIGKILL, False, -signal.SIGKILL),
    ],
)
def test_no_process_and_no_file_outlives_an_interrupted_command(
    course_root: Path, tmp_path: Path, number: int, group: bool, code: int
) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    command = subprocess.Popen(
        [sys.executable, "-m", "tritonkata", "--course", str(course_root), "verify", "--mutants", "2", "--jobs", "2"],
        env={**os.environ, "TMPDIR": str(temporary)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    # The command, two that grade, what tracks their semaphores, and at least one worker.
    wait_for(lambda: len(below(command.pid)) >= 4)
    started = below(command.pid)
    (os.killpg if group else os.kill)(command.pid, number)
    _, errors = command.communicate(timeout=60)
    assert command.returncode == code
    assert "Traceback" not in errors
    wait_for(lambda: not any(map(command_line, started)))
    if number != signal.SIGKILL:
        assert len(errors.strip().splitlines()) == 1
    assert [path.name for path in temporary.iterdir()] == []
