"""What a command writes never replaces something else that is there."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tritonkata.cli import outputs
from tritonkata.cli.common import Problem

Run = Callable[..., subprocess.CompletedProcess[str]]

KERNEL = "def safe_softmax(x:  # no Python, so that it is judged at once\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "safe_softmax.py").write_text(KERNEL)
    (tmp_path / "notes.md").write_text("# What I tried\n")
    return tmp_path


@pytest.mark.parametrize("name", ["safe_softmax.py", "./safe_softmax.py", "link.py", "notes.md"])
@pytest.mark.parametrize("option", ["--junit", "--report"])
def test_a_report_replaces_neither_the_kernel_nor_another_file(kata: Run, folder: Path, option: str, name: str) -> None:
    (folder / "link.py").symlink_to("safe_softmax.py")
    done = kata("check", "safe_softmax.py", option, name)
    assert (done.returncode, done.stdout) == (2, "")
    assert len(done.stderr.splitlines()) == 1
    assert f"{option}: " in done.stderr
    assert (folder / "safe_softmax.py").read_text() == KERNEL
    assert (folder / "notes.md").read_text() == "# What I tried\n"


def test_two_reports_need_two_files(kata: Run, folder: Path) -> None:
    done = kata("check", "safe_softmax.py", "--junit", "out", "--report", "./out")
    assert (done.returncode, done.stdout) == (2, "")
    assert "give each a file of its own" in done.stderr
    assert not (folder / "out").exists()


def test_an_earlier_report_and_an_empty_file_are_replaced(kata: Run, folder: Path) -> None:
    (folder / "out.json").touch()
    for _ in range(2):
        assert kata("check", "safe_softmax.py", "--junit", "out.xml", "--report", "out.json").returncode == 1
    assert (folder / "out.xml").read_text().startswith("<")
    assert (folder / "out.json").read_text().startswith("{")


@pytest.mark.parametrize("option", ["--svg", "--html"])
def test_a_lab_replaces_no_kernel(kata: Run, folder: Path, option: str) -> None:
    done = kata("lab", "softmax", "--rows", "4", "--cols", "4", option, "safe_softmax.py")
    assert (done.returncode, done.stdout) == (2, "")
    assert "holds something else" in done.stderr
    assert (folder / "safe_softmax.py").read_text() == KERNEL


def test_colours_are_left_out_where_nobody_wants_them(kata: Run, folder: Path) -> None:
    assert kata("start", "log_softmax").returncode == 0
    command = ["script", "-qec", f"{sys.executable} -m tritonkata list", "/dev/null"]
    for wanted, variables in ((True, {}), (False, {"NO_COLOR": "1"})):
        environment = {**{key: value for key, value in os.environ.items() if key != "NO_COLOR"}, **variables}
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=True)
        assert ("\x1b[" in done.stdout) == wanted


def test_what_will_be_empty_replaces_nothing_but_what_is_empty(tmp_path: Path) -> None:
    """As the JSON lines of a class of nobody."""
    path = tmp_path / "records.jsonl"
    outputs.refuse_foreign("--to", path, b"")
    path.touch()
    outputs.refuse_foreign("--to", path, b"")
    path.write_text("def softmax(x): ...\n", encoding="utf-8")
    with pytest.raises(Problem, match="holds something else"):
        outputs.refuse_foreign("--to", path, b"")
