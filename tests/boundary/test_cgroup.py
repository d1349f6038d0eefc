"""Control groups of workers, with real ones: where this machine lets us make them."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tritonkata.boundary.cgroup import MEMORY_BYTES, PROCESSES, Group, make_group
from tritonkata.boundary.process import start_untrusted

DAEMON = """
import os, sys, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        print("out of sight", flush=True)
        time.sleep(600)
    os._exit(0)
time.sleep(600)
"""


@pytest.fixture
def group() -> Iterator[Group]:
    made = make_group()
    if made is None:
        pytest.skip("control groups of version 2 cannot be made here")
    yield made
    made.end()


def started(group: Group, code: str) -> subprocess.Popen[str]:
    command = [*group.command(), sys.executable, "-c", code]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True)


def test_a_command_runs_inside_from_its_first_moment(group: Group) -> None:
    with started(group, "print(open('/proc/self/cgroup').read())") as process:
        assert process.stdout is not None
        assert group.path.name in process.stdout.read()


def test_the_end_of_a_group_ends_daemons_too_and_leaves_nothing(group: Group) -> None:
    with started(group, DAEMON) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "out of sight\n"
        inside = (group.path / "cgroup.procs").read_text().split()
        assert len(inside) == 2
        group.end()
        process.wait()
    assert not group.path.exists()
    assert not [number for number in inside if Path(f"/proc/{number}/cmdline").exists() and alive(number)]


def alive(number: str) -> bool:
    return Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0] != "Z"


@pytest.fixture
def bounded(group: Group) -> Group:
    if not group.bounded:
        pytest.skip("no controller of memory is enabled here")
    return group


def test_memory_of_all_processes_together_is_bounded(bounded: Group) -> None:
    each = MEMORY_BYTES // 4
    code = (
        "import os, time\n"
        f"for _ in range(6):\n    if os.fork() == 0:\n        x = bytearray({each})\n        time.sleep(600)\n"
        "time.sleep(600)\n"
    )
    with started(bounded, code) as process:
        assert process.wait(120) != 0
    deadline = time.monotonic() + 30
    while (bounded.path / "cgroup.procs").read_text() != "":
        assert time.monotonic() < deadline, "something outlived the end of the memory"
        time.sleep(0.05)


def test_processes_are_bounded(bounded: Group) -> None:
    code = (
        "import os, time\nmade = 0\ntry:\n    while made < 2000:\n"
        "        if os.fork() == 0:\n            time.sleep(600)\n"
        "        made += 1\nexcept OSError:\n    pass\nprint(made, flush=True)\n"
    )
    with started(bounded, code) as process:
        assert process.stdout is not None
        assert int(process.stdout.readline()) <= PROCESSES
        bounded.end()
        process.wait()


def test_a_worker_is_in_a_group_that_goes_with_it(group: Group) -> None:
    before = set(group.path.parent.glob("kata-*"))
    worker = start_untrusted("tritonkata.worker.interpreter", bubblewrap=None)
    made = set(group.path.parent.glob("kata-*")) - before
    assert [path.name.split("-")[1] for path in made] == [str(os.getpid())]
    deadline = time.monotonic() + 30
    while str(worker.pid) not in (next(iter(made)) / "cgroup.procs").read_text().split():
        assert time.monotonic() < deadline
        time.sleep(0.01)
    worker.end()
    assert not [path for path in made if path.exists()]
