"""Every command works on another course: by its folder, and by the name that an installed package gives it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from tritonkata.authoring.matrix import Verification

SECOND_COURSE = Path(__file__).resolve().parents[1] / "course"
Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def installed(tmp_path: Path) -> dict[str, str]:
    """The environment in which a package of this course is installed, with the name `tiny`."""
    site = tmp_path / "site"
    shutil.copytree(SECOND_COURSE, site / "tiny_course", ignore=shutil.ignore_patterns("__pycache__"))
    (site / "tiny_course" / "__init__.py").touch()
    info = site / "tiny_course-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: tiny-course\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[tritonkata.courses]\ntiny = tiny_course\n")
    return {"PYTHONPATH": f"{site}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"}


@pytest.fixture(params=["folder", "package"])
def learner(request: pytest.FixtureRequest, run: Run, installed: dict[str, str]) -> Run:
    """Run a command on the second course, named in one way or the other."""
    if request.param == "folder":
        return lambda *arguments: run("--course", str(SECOND_COURSE), *arguments)
    return lambda *arguments: run("--course", "tiny", *arguments, env=installed)


@pytest.mark.slow
def test_a_learner_works_through_it(learner: Run, tmp_path: Path) -> None:
    workspace = tmp_path / "workspace"
    listed = learner("list", "--json")
    assert [row["slug"] for row in json.loads(listed.stdout)] == ["doubled"]
    assert learner("start", "doubled").returncode == 0
    kernel = workspace / "doubled.py"
    assert kernel.read_bytes() == (SECOND_COURSE / "skeletons" / "doubled.py").read_bytes()
    kernel.write_text(kernel.read_text().replace("cols, x, mask=mask)", "cols, 3 * x, mask=mask)"))
    failed = learner("check", "--engine", "interpreter", "--seed", "1")
    assert failed.returncode == 1, failed.stderr
    assert "The values are multiplied by three" in failed.stdout
    assert "Next: multiply by 2." in failed.stdout
    assert "hint 1 of 3" in learner("hint").stdout
    assert learner("solution").returncode == 2
    solution = learner("solution", "doubled", "--spoil")
    assert solution.stdout == (SECOND_COURSE / "reference" / "doubled" / "solution.py").read_text()
    kernel.write_text(solution.stdout)
    passed = learner("check", "--engine", "interpreter", "--seed", "1", "--json")
    assert passed.returncode == 0, passed.stderr
    assert json.loads(passed.stdout)["medal"] == "gold"
    assert "gold 5/5" in learner("list").stdout
    assert learner("solution").returncode == 0
    assert learner("reset", "--yes").returncode == 0
    assert kernel.read_bytes() == (SECOND_COURSE / "skeletons" / "doubled.py").read_bytes()


@pytest.mark.slow
def test_it_passes_the_gate(learner: Run) -> None:
    done = learner("verify", "--json", "--mutants", "1")
    assert done.returncode == 0, done.stdout + done.stderr
    found = msgspec.json.decode(done.stdout, type=Verification)
    assert found.passes
    (kata,) = found.katas
    assert kata.checks == ("compiles", "values", "strided", "traffic")
    assert kata.uncovered == ()
    assert len(kata.mutants) == 1
