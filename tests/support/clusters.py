"""A real scheduler and real workers of dask on this machine, and a small class for them."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from tritonkata.gradebook.types import Submitted
from tritonkata.model.course import Kata
from tritonkata.model.record import Student

WAIT_SECONDS = 120.0


@contextlib.contextmanager
def process(*words: str, log: Path, **variables: str) -> Iterator[subprocess.Popen[bytes]]:
    """A command of dask with everything below it, ended in the end."""
    with log.open("wb") as output:
        started = subprocess.Popen(
            [sys.executable, "-m", "distributed.cli." + words[0], *words[1:]],
            stdout=output,
            stderr=output,
            start_new_session=True,
            cwd=log.parent,
            env={**os.environ, **variables},
        )
    try:
        yield started
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(started.pid, signal.SIGTERM)
        try:
            started.wait(30)
        except subprocess.TimeoutExpired:
            os.killpg(started.pid, signal.SIGKILL)
            started.wait()


@contextlib.contextmanager
def scheduler(folder: Path, port: int = 0) -> Iterator[str]:
    file = folder / "scheduler.json"
    file.unlink(missing_ok=True)
    words = [
        "dask_scheduler",
        "--port",
        str(port),
        "--no-dashboard",
        "--scheduler-file",
        str(file),
        "--host",
        "127.0.0.1",
    ]
    with process(*words, log=folder / "scheduler.log"):
        wait_for(file.exists, folder)
        yield str(file)


def worker(
    folder: Path, name: str, *more: str, **variables: str
) -> contextlib.AbstractContextManager[subprocess.Popen[bytes]]:
    words = ["dask_worker", "--scheduler-file", str(folder / "scheduler.json"), "--nthreads", "1", "--no-dashboard"]
    words += ["--name", name, "--local-directory", str(folder), "--death-timeout", "60", *more]
    return process(*words, log=folder / f"{name}.log", **variables)


def wait_for(condition: object, folder: Path) -> None:
    deadline = time.monotonic() + WAIT_SECONDS
    while not condition():  # type: ignore[operator]
        logs = "\n".join(path.read_text(errors="replace")[-800:] for path in folder.glob("*.log"))
        assert time.monotonic() < deadline, logs
        time.sleep(0.1)


def class_of(kata: Kata, count: int) -> list[Submitted]:
    files = [kata.solution, kata.skeleton, *sorted_wrong(kata)]
    return [
        Submitted((Student(f"student{number}"),), f"{number}.py", files[number % len(files)].read_bytes())
        for number in range(count)
    ]


def sorted_wrong(kata: Kata) -> list[Path]:
    """The kata's wrong examples, in the order in which a class repeats them."""
    return sorted((kata.folder / "wrong").glob("*/*.py"))
