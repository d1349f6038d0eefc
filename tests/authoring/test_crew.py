"""Processes that grade: what one of them raises, its sudden end, and the end of the command."""

from __future__ import annotations

import errno
import importlib
import itertools
import multiprocessing
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from multiprocessing.context import SpawnProcess
from pathlib import Path
from pickle import PicklingError
from typing import Any

import pytest
from processes import below, command_line, running, wait_for

from tritonkata.boundary.sandbox import SandboxUnavailable, find_bubblewrap
from tritonkata.crew.crew import open_crew
from tritonkata.engine.client import GraderError


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    return importlib.import_module("crew_calls")


def has_sandbox() -> bool:
    try:
        find_bubblewrap()
    except SandboxUnavailable:
        return False
    return True


def test_results_come_back_from_other_processes() -> None:
    with open_crew(2) as crew:
        jobs = [crew.submit(pow, base, 2) for base in range(5)]
        assert [job.result() for job in jobs] == [0, 1, 4, 9, 16]
        assert crew.submit(os.getpid).result() != os.getpid()
    assert multiprocessing.active_children() == []


def test_what_a_call_raises_is_raised_and_the_others_go_on() -> None:
    with open_crew(1) as crew:
        bad, good = crew.submit(int, "x"), crew.submit(int, "3")
        with pytest.raises(ValueError, match="invalid literal"):
            bad.result()
        assert good.result() == 3


def test_what_cannot_be_sent_is_told_at_once_and_the_others_go_on() -> None:
    with open_crew(1) as crew:
        with pytest.raises((AttributeError, PicklingError)):
            crew.submit(lambda: None)
        assert crew.submit(int, "3").result() == 3


@pytest.mark.parametrize(
    ("code", "what", "words"),
    [
        (9, "f of a.py", ("ended with exit code 9 during f of a.py", "look there first")),
        (0, "", ("ended with exit code 0 during all of it", "look there first")),
        (-signal.SIGSEGV, "f of a.py", ("crashed (Segmentation fault) during f of a.py", "look there first")),
        (-signal.SIGABRT, "x" * 1000, ("crashed (Aborted) during xxx", "look there first")),
        (-signal.SIGKILL, "f of a.py", ("was killed during f of a.py, perhaps for want of memory", "--jobs 1")),
    ],
)
def test_how_a_process_ended_and_what_it_did_is_told_and_the_others_go_on(
    calls: Any, code: int, what: str, words: tuple[str, ...]
) -> None:
    with open_crew(1) as crew:
        bad, good = crew.submit(calls.end, code, what), crew.submit(int, "3")
        with pytest.raises(GraderError) as caught:
            bad.result()
        for word in words:
            assert word in str(caught.value)
        assert good.result() == 3


def test_a_process_that_ends_outside_all_that_is_noted_is_no_fault_of_the_course() -> None:
    with open_crew(1) as crew, pytest.raises(GraderError, match="ended with exit code 9; look at `kata doctor`"):
        crew.submit(os._exit, 9).result()


def test_a_call_whose_process_was_killed_is_made_again(calls: Any, tmp_path: Path) -> None:
    with open_crew(2) as crew:
        jobs = [crew.submit(calls.exit_the_first_time, tmp_path / str(number)) for number in range(4)]
        assert all(job.result() for job in jobs)


@pytest.fixture
def refusing(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[int], bool]], None]:
    """Have the system refuse to start some processes, by their number."""
    start, numbers = SpawnProcess.start, itertools.count()

    def set_up(refused: Callable[[int], bool]) -> None:
        def perhaps(process: SpawnProcess) -> None:
            if refused(next(numbers)):
                raise BlockingIOError(errno.EAGAIN, "Resource temporarily unavailable")
            start(process)

        monkeypatch.setattr(SpawnProcess, "start", perhaps)

    return set_up


@pytest.mark.parametrize("refused", [0, 1, 2])
def test_where_not_every_process_can_be_started_the_others_do_all(refusing: Any, refused: int) -> None:
    refusing(lambda number: number == refused)
    before = len(os.listdir("/proc/self/fd"))
    with open_crew(3) as crew:
        jobs = [crew.submit(pow, base, 2) for base in range(9)]
        assert [job.result() for job in jobs] == [base**2 for base in range(9)]
    assert len(os.listdir("/proc/self/fd")) <= before


def test_where_no_process_can_be_started_every_call_says_so(refusing: Any) -> None:
    refusing(lambda _: True)
    with open_crew(2) as crew:
        for job in [crew.submit(pow, base, 2) for base in range(3)]:
            with pytest.raises(GraderError, match=r"no process can be started .* temporarily unavailable"):
                job.result()


def test_a_process_that_cannot_be_replaced_is_the_end_of_its_work_alone(
    refusing: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tritonkata.crew.crew.CALLS_A_MEMBER", 2)
    refusing(lambda number: number > 0)
    with open_crew(1) as crew:
        jobs = [crew.submit(pow, base, 2) for base in range(3)]
        assert [job.result() for job in jobs[:2]] == [0, 1]
        with pytest.raises(GraderError, match="no process can be started"):
            jobs[2].result()


def test_a_fault_of_the_crew_itself_leaves_nobody_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(*_: object) -> None:
        raise RuntimeError("no more files")

    with open_crew(2) as crew:
        assert crew.submit(int, "3").result() == 3
        monkeypatch.setattr("tritonkata.crew.crew.wait", failing)
        jobs = [crew.submit(time.sleep, 0) for _ in range(5)]
        for job in jobs:
            with pytest.raises(GraderError, match="RuntimeError: no more files"):
                job.result()
        monkeypatch.undo()
        with pytest.raises(GraderError, match="no more files"):
            crew.submit(int, "3").result()
    assert multiprocessing.active_children() == []


def test_a_process_is_replaced_after_its_share_of_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tritonkata.crew.crew.CALLS_A_MEMBER", 3)
    with open_crew(1) as crew:
        numbers = [crew.submit(os.getpid).result() for _ in range(7)]
    assert [numbers.count(one) for one in dict.fromkeys(numbers)] == [3, 3, 1]


def test_when_a_gpu_is_set_aside_its_last_calls_are_made_again_on_another(calls: Any) -> None:
    with open_crew(2, gpus=[0, 1]) as crew:
        first = [crew.submit(calls.gpu_of_this_process) for _ in range(8)]
        assert all(job.result() in (0, 1) for job in first)
        crew.submit(calls.gpu_of_this_process, 0)
        crew.submit(calls.gpu_of_this_process, 0)
        doubtful = sum(job.result() == 0 for job in first)
        for _ in range(len(first) + 2 + doubtful):
            crew.completed()
        assert [job.result() for job in first] == [1] * 8


def test_without_a_gpu_left_every_call_says_so(calls: Any) -> None:
    with open_crew(2, gpus=[0]) as crew:
        jobs = [crew.submit(calls.gpu_of_this_process, 0) for _ in range(5)]
        for job in jobs:
            with pytest.raises(GraderError, match=r"no GPU is left .* does not hold"):
                job.result()


def test_what_a_call_prints_is_no_output_of_the_command(capfd: pytest.CaptureFixture[str]) -> None:
    with open_crew(1) as crew:
        crew.submit(os.write, 1, b"hidden test says hello").result()
    assert capfd.readouterr().out == ""


def interrupted_while_five_jobs_wait() -> None:
    with open_crew(1) as crew:
        crew.submit(os.getpid).result()
        for _ in range(5):
            crew.submit(time.sleep, 100)
        raise KeyboardInterrupt


def test_leaving_by_an_exception_ends_what_runs_and_what_waits() -> None:
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        interrupted_while_five_jobs_wait()
    assert multiprocessing.active_children() == []
    assert time.monotonic() - began < 100


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
    # Two that grade, what tracks their semaphores, and at least one worker; of a sandbox, also two templates with two
    # processes of bubblewrap each, and three processes for a worker.
    wait_for(lambda: len(below(command.pid)) >= (12 if has_sandbox() else 4))
    started = below(command.pid)
    (os.killpg if group else os.kill)(command.pid, number)
    _, errors = command.communicate(timeout=60)
    assert command.returncode == code
    assert "Traceback" not in errors
    wait_for(lambda: not any(map(command_line, started)))
    if number != signal.SIGKILL:
        assert len(errors.strip().splitlines()) == 1
    assert [path.name for path in temporary.iterdir()] == []


def test_ctrl_c_while_a_grading_process_starts_shows_no_traceback(course_root: Path) -> None:
    """It reaches the whole group, and for a moment such a process is nothing but Python."""
    for _ in range(3):
        command = subprocess.Popen(
            [sys.executable, "-m", "tritonkata", "--course", str(course_root), "verify", "--jobs", "2"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        wait_for(lambda number=command.pid: any("spawn_main" in command_line(child) for child in below(number)))  # type: ignore[misc]
        os.killpg(command.pid, signal.SIGINT)
        _, errors = command.communicate(timeout=60)
        assert (command.returncode, errors.strip()) == (130, "Interrupted.")


@pytest.fixture
def sandbox() -> None:
    if not has_sandbox():
        pytest.skip("there is no sandbox here")


def templates() -> set[int]:
    """The processes of templates below this one, with bubblewrap's and those of forks."""
    return {number for number in below(os.getpid()) if "-m tritonkata.worker.template" in command_line(number)}


@pytest.mark.usefixtures("sandbox")
def test_torch_and_triton_are_imported_once_for_all_members(calls: Any, tmp_path: Path) -> None:
    hidden, before = (tmp_path,), templates()
    with open_crew(3, hidden=hidden) as crew:
        jobs = [crew.submit(calls.answered, hidden, str(number)) for number in range(6)]
        assert [job.result() for job in jobs] == [(True, str(number)) for number in range(6)]
        # Of each of the two kinds one, and two processes of bubblewrap.
        wait_for(lambda: len(templates() - before) == 2 * 3, "there are more templates, or fewer", seconds=20)
    assert templates() == before


@pytest.mark.usefixtures("sandbox")
def test_a_member_that_ends_takes_its_workers_along_and_no_others(calls: Any, tmp_path: Path) -> None:
    hidden, marker = (tmp_path / "hidden",), f"kata-crew-{os.getpid()}"
    with open_crew(2, hidden=hidden) as crew:
        assert crew.submit(calls.answered, hidden, "before").result() == (True, "before")
        before = templates()
        lost = crew.submit(calls.end_beside_a_worker, tmp_path / "mark", hidden, marker)
        others = [crew.submit(calls.answered, hidden, str(number)) for number in range(3)]
        assert lost.result() == "once more"
        assert [job.result() for job in others] == [(True, str(number)) for number in range(3)]
        # Long before the worker's own limit.
        wait_for(lambda: not running(marker), "a worker outlived the process that had it", seconds=20)
        wait_for(lambda: templates() == before, "more is left than there was")
