"""Without a sandbox: what a submission started, and its files, are gone when its worker or the controller is."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from processes import running, wait_for

from tritonkata.boundary import leftovers
from tritonkata.boundary import process as processes
from tritonkata.boundary.prctl import adopt_orphans

PRELUDE = """
import ctypes, os, subprocess, sys, time
from tritonkata.worker import bootstrap
bootstrap.enter()
libc = ctypes.PyDLL(None)
name = sys.argv[0]
SLEEP = [sys.executable, "-c", "import time; time.sleep(600)", os.path.basename(name)[:-3]]
def ready():
    with open(os.path.join(os.path.dirname(name), "ready.new"), "w") as file:
        file.write(str(os.getpgrp()))
    os.rename(file.name, file.name[:-4])
def leave():
    os.setsid()
    for descriptor in range(256):
        try: os.close(descriptor)
        except OSError: pass
"""
WAYS_TO_STAY = {
    "in a session of its own": "subprocess.Popen(SLEEP, start_new_session=True); ready(); time.sleep(600)",
    "orphan": """
code = "import subprocess, sys; subprocess.Popen(sys.argv[1:], start_new_session=True)"
subprocess.run([sys.executable, "-c", code, *SLEEP], start_new_session=True); ready(); time.sleep(600)
""",
    "native daemon": """
if libc.fork() == 0:
    leave()
    if libc.fork() == 0:
        ready(); time.sleep(600)
    os._exit(0)
time.sleep(600)
""",
    "orphan of a worker that ended": "subprocess.Popen(SLEEP, start_new_session=True); ready(); os._exit(0)",
    "orphan that the worker refuses": """
libc.prctl(36, 0, 0, 0, 0)
code = "import subprocess, sys; subprocess.Popen(sys.argv[1:], start_new_session=True)"
subprocess.run([sys.executable, "-c", code, *SLEEP], start_new_session=True); ready(); time.sleep(600)
""",
    "forks and ends all the time": """
if libc.fork() == 0:
    leave(); ready()
    while True:
        if libc.fork(): os._exit(0)
time.sleep(600)
""",
    "stopped": """
import signal
if libc.fork() == 0:
    leave(); ready(); os.kill(os.getpid(), signal.SIGSTOP); time.sleep(600)
time.sleep(600)
""",
}


def worker_that(code: str, monkeypatch: pytest.MonkeyPatch, folder: Path) -> tuple[processes.WorkerProcess, str]:
    """A worker without a sandbox that runs `code` after its first steps, and a word of its command line."""
    module = f"misbehaving_{os.getpid()}_{abs(hash(code))}"
    folder.mkdir()
    (folder / f"{module}.py").write_text(PRELUDE + code)
    monkeypatch.setattr(processes, "make_folder", lambda: folder)
    return processes.start_untrusted(module, bubblewrap=None), module


def group_is_gone(group: int) -> bool:
    """Whether no process of the group lives; unlike a list of processes, this misses none that forks and ends."""
    try:
        os.killpg(group, signal.SIGCONT)
    except ProcessLookupError:
        return True
    return False


# Whether one that forks all the time is caught in a list is chance, so it is tried several times.
@pytest.mark.parametrize("way", [*WAYS_TO_STAY, *3 * ["forks and ends all the time"]])
def test_ending_a_worker_ends_whatever_it_started(way: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    worker, word = worker_that(WAYS_TO_STAY[way], monkeypatch, tmp_path / "worker")
    wait_for((tmp_path / "worker" / "ready").exists, worker.output())
    group = int((tmp_path / "worker" / "ready").read_text())
    worker.end()
    wait_for(lambda: group_is_gone(group), "a process of the group outlived the worker", seconds=5)
    assert running(word) == []
    assert not (tmp_path / "worker").exists()


def test_other_processes_and_workers_are_left_alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    code = "ready(); time.sleep(600)"
    other, _ = worker_that(code, monkeypatch, tmp_path / "other")
    own = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    kept = in_a_session_of_its_own()
    worker, _ = worker_that(code, monkeypatch, tmp_path / "worker")
    for name in ("worker", "other"):
        wait_for((tmp_path / name / "ready").exists, worker.output() + other.output())
    try:
        worker.end()
        assert own.poll() is None
        assert other.is_running
        assert os.waitpid(kept, os.WNOHANG) == (0, 0)
    finally:
        other.end()
        own.kill()
        own.wait()
        os.kill(kept, signal.SIGKILL)
        os.waitpid(kept, 0)
        leftovers.ADOPTION.forget(kept)


def in_a_session_of_its_own() -> int:
    """The number of a process as a shared launcher is: the grader's own, in a session of its own."""
    command = [sys.executable, "-c", "import time; time.sleep(600)"]
    return leftovers.ADOPTION.start_own(lambda: os.posix_spawn(sys.executable, command, os.environ, setsid=True))


def controller(code: str, folder: Path) -> subprocess.Popen[str]:
    """Another controller, whose temporary files lie in `folder`; it has said a line when this returns."""
    prelude = "import time, sys\nfrom pathlib import Path\nfrom tritonkata.boundary import process\n"
    started = subprocess.Popen(
        [sys.executable, "-c", prelude + code],
        env={**os.environ, "TMPDIR": str(folder)},
        stdout=subprocess.PIPE,
        text=True,
    )
    assert started.stdout is not None
    assert started.stdout.readline().strip() == "started"
    return started


def test_killing_the_controller_ends_the_worker_and_what_it_forked(tmp_path: Path) -> None:
    word = f"misbehaving_{os.getpid()}_killed"
    folder = tmp_path / "worker"
    folder.mkdir()
    (folder / f"{word}.py").write_text(PRELUDE + "if os.fork() == 0: ready()\ntime.sleep(600)\n")
    code = (
        f"folder = Path({str(folder)!r})\nprocess.make_folder = lambda: folder\n"
        f"worker = process.start_untrusted({word!r}, bubblewrap=None)\n"
        "while not (folder / 'ready').exists(): time.sleep(0.01)\n"
        "print('started', flush=True); time.sleep(600)"
    )
    with controller(code, tmp_path) as started:
        assert len(running(f"-m\0{word}")) == 2
        started.kill()
    wait_for(lambda: running(f"-m\0{word}") == [], "a process outlived the controller")


def test_the_folder_of_a_killed_controller_is_removed_by_the_next_one(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    code = (
        "worker = process.start_untrusted('tritonkata.worker.interpreter', bubblewrap=None)\n"
        "print('started', flush=True); time.sleep(600)"
    )
    (tmp_path / "kata-worker-notes").mkdir()
    with controller(code, tmp_path) as killed, controller(code, tmp_path) as alive:
        killed.send_signal(signal.SIGKILL)
        killed.wait()
        assert len(list(tmp_path.glob("kata-worker-*-*-*"))) == 2
        monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
        leftovers.remove_stale_folders()
        (left,) = tmp_path.glob("kata-worker-*-*-*")
        assert f"-{alive.pid}-" in left.name
        alive.kill()
    assert (tmp_path / "kata-worker-notes").is_dir()


def test_a_worker_that_nobody_ended_goes_when_the_controller_ends(tmp_path: Path) -> None:
    code = (
        "worker = process.start_untrusted('tritonkata.worker.interpreter', bubblewrap=None)\n"
        "print('started', flush=True); sys.exit(print(worker.pid))"
    )
    with controller(code, tmp_path) as started:
        assert started.stdout is not None
        pid = int(started.stdout.read())
    assert not Path(f"/proc/{pid}").exists()
    assert list(tmp_path.glob("kata-worker-*")) == []


def made_deep(folder: Path) -> None:
    """More levels than Python has frames, and than a path has characters."""
    here = os.open(folder, os.O_RDONLY)
    for _ in range(3000):
        os.mkdir("inner", dir_fd=here)
        inner = os.open("inner", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = inner
    os.close(here)


def made_unreadable(folder: Path) -> None:
    (folder / "locked" / "inner").mkdir(parents=True)
    (folder / "locked" / "inner" / "file").touch()
    (folder / "locked" / "inner").chmod(0)
    (folder / "locked").chmod(0)


@pytest.mark.parametrize("make", [made_deep, made_unreadable])
def test_a_folder_is_removed_whatever_a_submission_made_of_it(make: Callable[[Path], None], tmp_path: Path) -> None:
    folder = tmp_path / "worker"
    folder.mkdir()
    make(folder)
    leftovers.remove_folder(folder)
    assert not folder.exists()


ONE_WORKER = """
import sys, time
from tritonkata.boundary.process import start_untrusted
from tritonkata.boundary.sandbox import SandboxUnavailable, find_bubblewrap
try:
    found = find_bubblewrap()
except SandboxUnavailable:
    found = None
worker = start_untrusted("tritonkata.worker.interpreter", bubblewrap=found)
from tritonkata.boundary.messages import InterpreterReply
if sys.argv[1] == "ready":
    worker.channel.receive(InterpreterReply, seconds=60)
worker.end()
"""


@pytest.mark.parametrize("when", ["at once", "ready"])
def test_an_ended_worker_leaves_no_zombie_to_process_1(when: str) -> None:
    """In a container process 1 often waits for nobody, and ended processes count against its limit."""
    adopt_orphans(True)
    try:
        before = set(children_of(os.getpid()))
        subprocess.run([sys.executable, "-c", ONE_WORKER, when], check=True, timeout=120)
        assert set(children_of(os.getpid())) <= before
    finally:
        adopt_orphans(False)


def children_of(number: int) -> list[str]:
    return Path(f"/proc/{number}/task/{number}/children").read_text().split()
