"""`kata check`: what it takes a file for, its codes, and what it leaves behind."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import msgspec
import pytest

from tritonkata.courses import load_course
from tritonkata.model.report import Report

BROKEN = "def safe_softmax(:\n"


def report_of(text: str) -> Report:
    return msgspec.json.decode(text, type=Report)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "kata start"),
        (("nothing.py",), "no such file"),
        (("kernel.py",), "--kata SLUG"),
        (("--kata", "safe_softmax"), "kata start safe_softmax"),
        (("--kata", "safe_sofmax"), "did you mean 'safe_softmax'"),
        (("kernel.py", "--kata", "safe_softmax", "--seed", "-1"), "--seed"),
        (("kernel.py", "--kata", "safe_softmax", "--seed", "x"), "--seed"),
        (("kernel.py", "--kata", "safe_softmax", "--engine", "cpu"), "--engine"),
        (("kernel.py", "--kata", "safe_softmax", "--target", "sm_1"), "--target"),
        (("kernel.py", "--kata", "safe_softmax", "--junit", "no/where.xml"), "no is no directory"),
        (("kernel.py", "--kata", "safe_softmax", "--report", "no/where.json"), "no is no directory"),
        (("--bogus",), "--bogus"),
    ],
)
def test_wrong_usage_says_what_to_do(kata: Any, tmp_path: Path, arguments: tuple[str, ...], words: str) -> None:
    (tmp_path / "kernel.py").write_text(BROKEN)
    done = kata("check", *arguments)
    assert done.returncode == 2
    assert words in done.stderr
    assert done.stdout == ""


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("safe_softmax.py", ()),
        ("safe_softmax.py", ("safe_softmax.py",)),
        ("safe_softmax_try2.py", ("safe_softmax_try2.py",)),
        ("kernel.py", ("kernel.py", "--kata", "safe_softmax")),
        ("safe_softmax.py", ("--kata", "safe_softmax")),
    ],
)
def test_the_kata_is_found_from_what_there_is(kata: Any, tmp_path: Path, name: str, arguments: tuple[str, ...]) -> None:
    (tmp_path / name).write_text(BROKEN)
    done = kata("check", *arguments, "--json", "--seed", "5")
    assert done.returncode == 1, done.stderr
    report = report_of(done.stdout)
    assert (report.kata, report.submission.path, report.seed) == ("safe_softmax", name, 5)
    assert report.verdict == "error"
    assert not (tmp_path / ".kata").exists()


def test_the_started_file_may_have_any_name(kata: Any, tmp_path: Path) -> None:
    kata("start", "safe_softmax")
    path = tmp_path / ".kata" / "progress.json"
    path.write_text(path.read_text().replace("safe_softmax.py", "mine.py"))
    (tmp_path / "mine.py").write_text(BROKEN)
    assert report_of(kata("check", "mine.py", "--json").stdout).kata == "safe_softmax"


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (None, "is a directory"),
        (b"", "is empty"),
        (b"\xff", "not UTF-8"),
        (b"#" * 300_000, "larger than 256 KiB"),
        (BROKEN.encode(), "SyntaxError, line 1"),
    ],
)
def test_bad_input_is_a_failed_submission_with_a_whole_report(
    kata: Any, tmp_path: Path, content: bytes | None, words: str
) -> None:
    path = tmp_path / "safe_softmax.py"
    path.mkdir() if content is None else path.write_bytes(content)
    done = kata("check", path.name, "--json", "--junit", "out.xml", "--report", "out.json")
    assert done.returncode == 1, done.stderr
    report = report_of(done.stdout)
    assert report.verdict == "error"
    assert report.fault is not None
    assert words in report.fault.message
    assert json.loads((tmp_path / "out.json").read_text()) == json.loads(done.stdout)
    assert ElementTree.parse(tmp_path / "out.xml").getroot().tag == "testsuites"
    text = kata("check", path.name)
    assert text.returncode == 1
    assert words in " ".join(text.stdout.split())
    assert "\x1b" not in text.stdout + text.stderr


def test_an_attempt_is_counted_in_the_workspace_and_nowhere_else(kata: Any, tmp_path: Path) -> None:
    kata("start", "safe_softmax")
    (tmp_path / "safe_softmax.py").write_text(BROKEN)
    outside = tmp_path / "outside"
    outside.mkdir()
    kata("check", "../safe_softmax.py", cwd=outside)
    assert list(outside.iterdir()) == []
    kata("check")
    row = json.loads(kata("list", "--json").stdout)[0]
    assert row["progress"]["attempts"] == 1


@pytest.mark.slow
def test_a_right_kernel_passes_and_opens_the_solution(kata: Any, tmp_path: Path) -> None:
    kata("start", "safe_softmax")
    shutil.copyfile(load_course().kata("safe_softmax").solution, tmp_path / "safe_softmax.py")
    done = kata("check", "--engine", "interpreter", "--report", "report.json")
    assert done.returncode == 0, done.stdout + done.stderr
    report = report_of((tmp_path / "report.json").read_text())
    assert report.verdict == "pass"
    assert report.score == report.max_score
    row = json.loads(kata("list", "--json").stdout)[0]
    assert row["state"] == "passed"
    assert row["progress"]["medal"] == report.medal != "none"
    assert kata("solution").returncode == 0


@pytest.mark.slow
def test_a_broken_course_is_the_graders_fault(kata: Any, tmp_path: Path) -> None:
    built_in = load_course()
    shutil.copytree(built_in.root / "katas", tmp_path / "course" / "katas")
    for folder in ("skeletons", "reference"):
        shutil.copytree(built_in.root / folder, tmp_path / "course" / folder)
    oracle = tmp_path / "course" / "reference" / "safe_softmax" / "oracle.py"
    oracle.write_text("raise RuntimeError('the oracle is broken')\n")
    kernel = tmp_path / "safe_softmax.py"
    shutil.copyfile(built_in.kata("safe_softmax").solution, kernel)
    done = kata("--course", "course", "check", kernel.name, "--engine", "interpreter")
    assert done.returncode == 3
    assert "the oracle is broken" in " ".join((done.stdout + done.stderr).split())


def descendants(process: int) -> list[int]:
    try:
        children = [int(text) for text in Path(f"/proc/{process}/task/{process}/children").read_text().split()]
    except OSError:
        return []
    return children + [below for child in children for below in descendants(child)]


def is_running(process: int) -> bool:
    try:
        return ") Z " not in Path(f"/proc/{process}/stat").read_text()
    except OSError:
        return False


def test_an_interrupted_check_says_so_and_leaves_nothing_running(tmp_path: Path) -> None:
    shutil.copyfile(load_course().kata("safe_softmax").solution, tmp_path / "safe_softmax.py")
    # A shell's background jobs ignore the signal; this one must not.
    code = (
        "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler); "
        "from tritonkata.cli import main; sys.exit(main())"
    )
    process = subprocess.Popen(
        [sys.executable, "-P", "-c", code, "check", "--engine", "interpreter"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    deadline = time.monotonic() + 60
    workers: list[int] = []
    while len(workers) < 2 and time.monotonic() < deadline and process.poll() is None:
        workers = descendants(process.pid)
        time.sleep(0.05)
    assert len(workers) >= 2
    os.kill(process.pid, signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert said.strip() == "Interrupted."
    while any(is_running(worker) for worker in workers) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert [worker for worker in workers if is_running(worker)] == []
