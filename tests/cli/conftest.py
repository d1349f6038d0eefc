"""Real commands in temporary folders."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

Run = Callable[..., subprocess.CompletedProcess[str]]

COURSE_TOML = """
format_version = 1
title = "Tiny"
katas = ["first_one", "second_one"]
"""
KATA_TOML = """
title = "One"
summary = "The first."
hints = ["look", "look again"]

[[entry_points]]
name = "f"
parameters = ["x"]
results = ["y"]

[traffic]
unit = "x"
budget = 4.0
par = 2.0
"""


@pytest.fixture
def kata(tmp_path: Path) -> Run:
    """Run `kata ARGUMENTS` in a folder of its own; `cwd`, `stdin` and `env` may be given."""

    def run(
        *arguments: str, cwd: Path = tmp_path, stdin: str = "", env: dict[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        clean = {name: value for name, value in os.environ.items() if not name.startswith("KATA_")}
        return subprocess.run(
            [sys.executable, "-m", "tritonkata", *arguments],
            cwd=cwd,
            input=stdin,
            env={**clean, **(env or {})},
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )

    return run


@pytest.fixture
def course_root(tmp_path: Path) -> Path:
    """A small course of two katas, complete on disk."""
    root = tmp_path / "course"
    (root / "katas").mkdir(parents=True)
    (root / "skeletons").mkdir()
    (root / "katas" / "course.toml").write_text(COURSE_TOML)
    for slug in ("first_one", "second_one"):
        (root / "katas" / slug).mkdir()
        (root / "reference" / slug).mkdir(parents=True)
        (root / "katas" / slug / "kata.toml").write_text(KATA_TOML)
        (root / "katas" / slug / "brief.md").write_text("# One\n")
        (root / "skeletons" / f"{slug}.py").write_text("def f(x):\n    ...  # TODO\n")
        for name in ("oracle.py", "solution.py"):
            (root / "reference" / slug / name).write_text("def f(x):\n    return x\n")
    return root
