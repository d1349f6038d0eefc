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
        (("",), "is empty"),
        (("kernel.py", "--kata", ""), "there is no kata ''"),
        (("kernel.py", "--kata", "safe_softmax", "--report", ""), "is empty"),
        (("kernel.py", "--kata", "safe_softmax", "--junit", "/proc/x.xml"), "--junit: /proc/x.xml cannot be written"),
        (("kernel.py", "--kata", "safe_softmax", "--report", "/proc/x"), "--report: /proc/x cannot be written"),
        (("kernel.py", "--kata", "safe_softmax", "--junit", "folder"), "--junit: folder cannot be written (Is a"),
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
    (tmp_path / "folder").mkdir()
    done = kata("check", *arguments)
    assert done.returncode == 2
    assert words in done.stderr
    assert done.stdout == ""


@pytest.mark.parametrize("name", ["safe_softmax.py", "kernel.py"])
@pytest.mark.parametrize("make", [Path.mkdir, os.mkfifo])
def test_what_cannot_be_read_has_one_wording_and_one_code(kata: Any, tmp_path: Path, name: str, make: Any) -> None:
    make(tmp_path / name)
    unnamed = kata("check", name)
    named = kata("check", name, "--kata", "safe_softmax", "--json")
    assert (unnamed.returncode, named.returncode) == (1, 1)
    fault = report_of(named.stdout).fault
    assert fault is not None
    assert fault.operation == "read"
    assert f"{name}: cannot be read: " in fault.message
    assert fault.message in " ".join((unnamed.stdout + unnamed.stderr).split())


@pytest.mark.parametrize("arguments", [(), ("--kata", "safe_softmax"), ("--json", "--junit", "out.xml")])
@pytest.mark.parametrize("name", ["safe_softmax.py", "kernel.py"])
def test_a_missing_file_is_wrong_usage_in_one_line(
    kata: Any, tmp_path: Path, name: str, arguments: tuple[str, ...]
) -> None:
    done = kata("check", name, *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert len(done.stderr.splitlines()) == 1
    assert f"{name}: there is no such file; begin with `kata start " in done.stderr
    assert list(tmp_path.iterdir()) == []


def checked_while_removed(
    course_root: Path, cwd: Path, gone: Path, *, late: bool = False
) -> subprocess.CompletedProcess[str]:
    """`kata check` of a file while the folder `gone` is removed: by a hidden test, or late, when all tests have run."""
    remove = f"import shutil\nshutil.rmtree({str(gone)!r})\n"
    folder = course_root / "katas" / "first_one"
    test = "import pytest\n\n\n@pytest.mark.check('it')\ndef test_it(candidate):\n    "
    (folder / "hidden").mkdir()
    (folder / "hidden" / "test_it.py").write_text(test + ("pass" if late else f"exec({remove!r})"))
    (folder / "mistakes.py").write_text(remove if late else "")
    cwd.mkdir(exist_ok=True)
    (cwd / "first_one.py").write_text("def f(x):\n    return x\n")
    command = [sys.executable, "-m", "tritonkata", "--course", str(course_root), "check", "first_one.py"]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=300, check=False)


def test_a_course_that_goes_away_is_nobodys_failure(course_root: Path, tmp_path: Path) -> None:
    done = checked_while_removed(course_root, tmp_path, course_root)
    assert (done.returncode, done.stdout) == (2, "")
    (line,) = done.stderr.splitlines()
    assert "the course was removed during the check; put it back and check again" in line


def test_a_working_directory_that_goes_away_is_said_in_one_line(course_root: Path, tmp_path: Path) -> None:
    done = checked_while_removed(course_root, tmp_path / "work", tmp_path / "work")
    assert (done.returncode, done.stdout) == (2, "")
    (line,) = done.stderr.splitlines()
    assert "the working directory cannot be used" in line


def test_a_workspace_that_goes_away_at_the_end_costs_the_record_and_not_the_verdict(
    course_root: Path, tmp_path: Path
) -> None:
    work = tmp_path / "work"
    done = checked_while_removed(course_root, work, work, late=True)
    assert done.returncode == 0, done.stderr
    assert done.stderr.splitlines() == [f"The result was not recorded: {work} was removed during the check"]


@pytest.mark.parametrize(
    "name", [b"safe_softmax_\xff.py", "safe_softmax_\u00f6.py".encode(), b"safe_softmax_\n\x1b.py"]
)
def test_a_file_may_have_any_name(kata: Any, tmp_path: Path, name: bytes) -> None:
    kata("start", "safe_softmax")
    (tmp_path / os.fsdecode(name)).write_text(BROKEN)
    done = kata("check", os.fsdecode(name), "--json", "--junit", "out.xml", "--report", os.fsdecode(b"\xff.json"))
    assert done.returncode == 1, done.stderr
    escaped = name.decode(errors="backslashreplace")
    assert report_of(done.stdout).submission.path == escaped
    assert ElementTree.parse(tmp_path / "out.xml").getroot().tag == "testsuites"
    text = kata("check", os.fsdecode(name))
    assert text.returncode == 1
    assert "\x1b" not in text.stdout + text.stderr
    missing = kata("check", os.fsdecode(b"missing" + name))
    assert missing.returncode == 2
    assert "there is no such file" in missing.stderr
    assert len(missing.stderr.splitlines()) == 1


def test_a_file_with_an_odd_name_is_recorded_or_said_not_to_be(kata: Any, course_root: Path, tmp_path: Path) -> None:
    odd = tmp_path / os.fsdecode(b"first_one_\xff.py")
    odd.write_text("def f(:\n")
    course = ("--course", str(course_root))
    kata(*course, "start", "second_one")
    done = kata(*course, "check", odd.name)
    assert done.returncode == 1
    assert "The result was not recorded" in done.stderr
    assert kata(*course, "list").returncode == 0


@pytest.mark.parametrize("option", ["--junit", "--report"])
def test_looking_whether_a_target_can_be_written_leaves_it_as_it_is(
    kata: Any, tmp_path: Path, course_root: Path, option: str
) -> None:
    """The course's oracle ends the grader, so nothing is written in the end."""
    old = {"--junit": "<testsuites/>", "--report": "{}"}[option]
    (tmp_path / "old").write_text(old)
    (tmp_path / "link").symlink_to("new")
    (tmp_path / "nothing.py").touch()
    for name in ("old", "fresh", "link"):
        arguments = ("check", "nothing.py", "--kata", "first_one", option, name, "--seed", "1")
        done = kata("--course", str(course_root), *arguments, env={"PYTHONPATH": str(crashing(tmp_path))})
        assert done.returncode == 3, done.stderr
    assert (tmp_path / "old").read_text() == old
    assert not (tmp_path / "fresh").exists()
    assert not (tmp_path / "new").exists()


def crashing(folder: Path) -> Path:
    """A folder whose presence on the path makes the grading end with an error of the grader."""
    site = folder / "site"
    site.mkdir(exist_ok=True)
    code = "import tritonkata.submission as s\ndef fail(path): raise RuntimeError('crash')\ns.read_submission = fail\n"
    (site / "sitecustomize.py").write_text(code)
    return site


def test_a_target_that_becomes_unwritable_does_not_hide_the_verdict(kata: Any, tmp_path: Path) -> None:
    (tmp_path / "safe_softmax.py").write_text(BROKEN)
    done = kata("check", "--junit", "/dev/full", "--report", "out.json")
    assert done.returncode == 3
    assert "Nothing could be graded" in done.stdout
    (line,) = done.stderr.splitlines()
    assert "--junit: /dev/full cannot be written" in line
    assert "Nothing could be graded" in line
    assert (tmp_path / "out.json").exists()


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


def check_in_progress(folder: Path, before: str = "", **environment: str) -> tuple[subprocess.Popen[str], list[int]]:
    """`kata check` of a kernel that never ends, with its workers running; `before` is run first in its process."""
    (folder / "safe_softmax.py").write_text("def safe_softmax(x):\n    while True: pass\n")
    # A shell's background jobs ignore the signal; this one must not.
    code = f"import signal, sys\nsignal.signal(signal.SIGINT, signal.default_int_handler)\n{before}\n"
    process = subprocess.Popen(
        [sys.executable, "-P", "-c", code + "from tritonkata.cli import main; sys.exit(main())", "check"],
        cwd=folder,
        env={**os.environ, "TMPDIR": str(folder), **environment, "KATA_DEBUG": "1"},
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
    return process, workers


def assert_gone(workers: list[int]) -> None:
    deadline = time.monotonic() + 60
    while any(is_running(worker) for worker in workers) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert [worker for worker in workers if is_running(worker)] == []


@pytest.mark.parametrize("path", [os.environ["PATH"], "/nowhere"], ids=["sandbox", "no sandbox"])
@pytest.mark.parametrize(
    ("number", "code", "words"),
    [(signal.SIGINT, 130, "Interrupted."), (signal.SIGTERM, 143, "Terminated."), (signal.SIGHUP, 129, "Terminated.")],
)
def test_a_check_that_is_ended_says_so_and_leaves_nothing(
    tmp_path: Path, number: int, code: int, words: str, path: str
) -> None:
    process, workers = check_in_progress(tmp_path, PATH=path)
    os.kill(process.pid, number)
    _, said = process.communicate(timeout=60)
    assert process.returncode == code
    assert said.strip() == words
    assert_gone(workers)
    assert list(tmp_path.glob("kata-worker-*")) == []


@pytest.mark.parametrize("path", [os.environ["PATH"], "/nowhere"], ids=["sandbox", "no sandbox"])
def test_a_check_that_is_killed_leaves_nothing_running(tmp_path: Path, path: str) -> None:
    process, workers = check_in_progress(tmp_path, PATH=path)
    process.kill()
    process.communicate(timeout=60)
    assert_gone(workers)


def test_a_signal_that_is_ignored_stays_ignored(tmp_path: Path) -> None:
    process, workers = check_in_progress(tmp_path, "signal.signal(signal.SIGHUP, signal.SIG_IGN)")
    os.kill(process.pid, signal.SIGHUP)
    os.kill(process.pid, signal.SIGTERM)
    process.communicate(timeout=60)
    assert process.returncode == 143
    assert_gone(workers)
