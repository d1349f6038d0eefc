"""Copies of the second course, to be damaged, and real commands on them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tritonkata.courses import load_course
from tritonkata.model.course import Kata

SECOND_COURSE = Path(__file__).resolve().parents[1] / "course"
Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def course_root(tmp_path: Path) -> Path:
    """A copy of the second course."""
    root = tmp_path / "course"
    shutil.copytree(SECOND_COURSE, root, ignore=shutil.ignore_patterns("__pycache__"))
    return root


@pytest.fixture
def kata_of(course_root: Path) -> Callable[[], Kata]:
    """Read the kata of that copy, as it is by then."""
    return lambda: load_course(course_root).kata("doubled")


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Run `kata ARGUMENTS` in a folder of its own."""

    def run_kata(*arguments: str, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
        clean = {name: value for name, value in os.environ.items() if not name.startswith("KATA_")}
        folder = tmp_path / "workspace"
        folder.mkdir(exist_ok=True)
        return subprocess.run(
            [sys.executable, "-m", "tritonkata", *arguments],
            cwd=folder,
            env={**clean, **(env or {})},
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
        )

    return run_kata
