"""What `kata check` says of files that it cannot read, and without a GPU: real runs of the command."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

NO_CARD = pytest.mark.skipif(Path("/dev/nvidiactl").exists(), reason="this machine has a GPU")


def said(path: Path, *options: str) -> str:
    command = [sys.executable, "-m", "tritonkata", "check", str(path), "--kata", "safe_softmax", *options]
    environment = {**os.environ, "COLUMNS": "80", "NO_COLOR": "1"}
    done = subprocess.run(command, capture_output=True, check=False, cwd=path.parent, env=environment)
    assert done.returncode in (1, 3), done.stderr.decode()
    return done.stdout.decode()


def folder(path: Path) -> None:
    path.mkdir()


def pipe(path: Path) -> None:
    os.mkfifo(path)


def loop(path: Path) -> None:
    path.symlink_to(path.name)


@pytest.mark.parametrize("make", [folder, pipe, loop], ids=lambda make: make.__name__)
def test_what_is_no_readable_file(make, tmp_path):
    make(tmp_path / "mine.py")
    text = said(tmp_path / "mine.py")
    assert "1. The file cannot be read" in text
    assert "import" not in text


@pytest.mark.parametrize(
    ("content", "title"),
    [
        (b"", "The file is empty"),
        (b"\n  \n", "The file is empty"),
        (b"#" * (257 << 10), "The file is too large"),
        (b"x = '\xff'\n", "The file is not UTF-8 text"),
        ("x = 1\n".encode("utf-16"), "The file is not UTF-8 text"),
        (b"def f(:\n", "Python cannot read the file: line 1"),
    ],
    ids=["empty", "blank", "large", "latin", "utf-16", "syntax"],
)
def test_what_is_no_python_text(content, title, tmp_path):
    path = tmp_path / "mine.py"
    path.write_bytes(content)
    text = said(path)
    assert f"1. {title}" in text
    assert "cannot be imported" not in text
    assert text.count("Next:") == 1


def test_a_long_line_is_shown_to_its_end(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text("value = some_function(" + "argument_with_a_long_name, " * 6 + "last_argument=)\n")
    assert "last_argument=)" in said(path)


@NO_CARD
def test_the_gpu_engine_without_a_gpu_names_another_engine(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text("def safe_softmax(x):\n    return x\n")
    text = " ".join(said(path, "--engine", "gpu").split())
    assert "--engine interpreter" in text.partition("Next:")[2]
    assert "--engine auto" in text
    assert "seed" not in text.partition("Next:")[2]
    assert "The grader failed" not in text
