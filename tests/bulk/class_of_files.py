"""A class on disk, the command that grades it, and the processes below a command."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from processes import below, command_line, wait_for

from tritonkata.gradebook.opening import open_gradebook
from tritonkata.model.record import Record

COURSE = Path(__file__).resolve().parents[1] / "course"
SOLUTION = (COURSE / "reference/doubled/solution.py").read_bytes()
TRIPLED = (COURSE / "katas/doubled/wrong/tripled/times_three.py").read_bytes()


def quick(number: int, padding: int = 0) -> bytes:
    """A file that is graded in milliseconds: it is no Python."""
    return f"def doubled(x:  # {number}\n".encode() + b"# " + b"x" * padding + b"\n"


def write_class(folder: Path, sources: Mapping[str, bytes]) -> Path:
    """A folder for each student, with a file in it."""
    for student, source in sources.items():
        file = folder / student / "doubled.py"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(source)
    return folder


class Gate:
    """A copy of the course in which every grading process waits, in its first submission, until it may go on.

    A file that is no Python is graded without a worker, but its points are those of the hidden tests, which are
    imported then.
    """

    def __init__(self, folder: Path) -> None:
        self.course = folder / "gated_course"
        self._begun, self._open = folder / "begun", folder / "open"
        self._begun.mkdir()
        shutil.copytree(COURSE, self.course, ignore=shutil.ignore_patterns("__pycache__"))
        hidden = self.course / "katas/doubled/hidden/test_doubled.py"
        wait = _WAIT.format(begun=str(self._begun), open=str(self._open))
        hidden.write_text(wait + hidden.read_text())

    def wait_until_begun(self, submissions: int = 1) -> None:
        """Wait until so many processes have begun a submission."""
        wait_for(lambda: len(list(self._begun.iterdir())) >= submissions)

    def open(self) -> None:
        """Let all go on."""
        self._open.touch()


_WAIT = """
import os, pathlib, time
pathlib.Path({begun!r}, str(os.getpid())).touch()
while not os.path.exists({open!r}):
    time.sleep(0.01)
"""


class Kata:
    """The command `kata --course COURSE`, run in a folder of its own."""

    def __init__(self, folder: Path, course: Path = COURSE) -> None:
        self.folder = folder
        self.course = course
        self.temporary = folder / "temporary"
        self.temporary.mkdir(exist_ok=True)

    def __call__(self, *words: str | Path, **variables: str) -> subprocess.CompletedProcess[str]:
        """Run it to its end."""
        with self.start(*words, **variables) as process:
            output, errors = process.communicate(timeout=600)
        return subprocess.CompletedProcess(process.args, process.returncode, output, errors)

    def start(self, *words: str | Path, **variables: str) -> subprocess.Popen[str]:
        """Run it in a session of its own."""
        clean = {name: value for name, value in os.environ.items() if not name.startswith("KATA_")}
        return subprocess.Popen(
            [sys.executable, "-m", "tritonkata", "--course", str(self.course), *map(str, words)],
            cwd=self.folder,
            env={**clean, "TMPDIR": str(self.temporary), **variables},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def grade(self, submissions: Path, *words: str | Path, **variables: str) -> subprocess.CompletedProcess[str]:
        """`kata grade` with a fixed seed, in the interpreter."""
        return self(*grade_words(submissions), *words, **variables)


def grade_words(submissions: Path) -> tuple[str | Path, ...]:
    return ("grade", submissions, "--kata", "doubled", "--engine", "interpreter", "--seed", "7")


def lines(output: str) -> list[dict[str, Any]]:
    """What `--json` printed."""
    return [json.loads(line) for line in output.splitlines()]


def students(output: str) -> list[str]:
    """Whose submissions `--json` told of, in alphabetical order."""
    return sorted(line["student"] for line in lines(output))


def records(out: Path) -> dict[str, Record]:
    """A gradebook's records by student."""
    with open_gradebook(out) as book:
        return {record.student.id: record for record in book.records("doubled")}


def graders(command: int) -> list[int]:
    """The processes of a command that grade."""
    return [number for number in below(command) if "spawn_main" in command_line(number)]
