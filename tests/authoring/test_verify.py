"""`kata verify` as an author types it: what it prints, and the codes it ends with."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

Run = Callable[..., "subprocess.CompletedProcess[str]"]
KATA = Path("katas") / "doubled"


@pytest.fixture
def small(course_root: Path) -> Path:
    """The second course with one wrong example, so that there is little to grade."""
    for folder in (course_root / KATA / "wrong").iterdir():
        if folder.name != "tripled":
            shutil.rmtree(folder)
    return course_root


def add_broken_kata(root: Path) -> None:
    """A second kata with a misspelt key."""
    for folder in ("katas", "reference"):
        shutil.copytree(root / folder / "doubled", root / folder / "again")
    shutil.copyfile(root / "skeletons" / "doubled.py", root / "skeletons" / "again.py")
    toml = root / "katas" / "again" / "kata.toml"
    toml.write_text(toml.read_text().replace("summary", "sumary"))
    course = root / "katas" / "course.toml"
    course.write_text(course.read_text().replace('["doubled"]', '["again", "doubled"]'))


def test_a_broken_promise_is_told_and_ends_with_1(run: Run, small: Path) -> None:
    toml = small / KATA / "kata.toml"
    toml.write_text(toml.read_text().replace('"float16"]', '"bfloat16"]'))
    done = run("--course", str(small), "verify", "--jobs", "1")
    assert done.returncode == 1, done.stderr
    assert done.stderr == ""
    lines = done.stdout.splitlines()
    assert lines[0] == "doubled (Doubled): FAIL"
    assert any(line.split() == ["ok", "solution", ".", ".", ".", "."] for line in lines)
    assert any(line.split() == ["ok", "tripled/times_three", ".", "b", "s", "s"] for line in lines)
    failures = [line.strip() for line in lines if line.startswith("  FAIL ")]
    assert len(failures) == 4
    for check in ("compiles", "strided", "traffic"):
        assert f"FAIL katas/doubled/wrong: no example fails the check '{check}'; add one" in failures
    assert any("kata.toml: dtypes: no check calls bfloat16" in failure for failure in failures)
    assert lines[-1].endswith("; a promise is broken in doubled.")
    assert max(map(len, lines)) <= 100


def test_a_damaged_kata_is_one_line_and_ends_with_2_while_the_others_are_verified(run: Run, small: Path) -> None:
    add_broken_kata(small)
    done = run("--course", str(small), "verify", "--json")
    assert done.returncode == 2, done.stderr
    found = json.loads(done.stdout)
    assert (found["format_version"], found["passes"], found["damaged"]) == (1, False, True)
    again, doubled = found["katas"]
    (problem,) = again["problems"]
    assert "again/kata.toml" in problem
    assert "sumary" in problem
    assert again["examples"] == []
    assert [example["role"] for example in doubled["examples"]] == ["skeleton", "solution", "wrong"]
    assert all(example["problem"] == "" for example in doubled["examples"])
    assert doubled["uncovered"] == ["compiles", "strided", "traffic"]


def test_katas_are_verified_by_name_and_once(run: Run, small: Path) -> None:
    add_broken_kata(small)
    (small / KATA / "notes.txt").touch()
    done = run("--course", str(small), "verify", "again", "again")
    assert done.returncode == 2
    assert done.stdout.count("again: FAIL") == 1
    assert "doubled" not in done.stdout
    done = run("--course", str(small), "verify", "doubled")
    assert done.returncode == 2
    assert f"{small / KATA / 'notes.txt'}: is no part of a kata; remove it" in done.stdout
    assert "again" not in done.stdout


def test_a_stray_file_of_the_course_ends_with_2(run: Run, small: Path) -> None:
    (small / KATA / "notes.txt").touch()
    (small / "skeletons" / "old.py").touch()
    done = run("--course", str(small), "verify")
    assert done.returncode == 2
    assert f"{small / 'skeletons' / 'old.py'}: belongs to no kata" in done.stdout
    assert done.stdout.splitlines()[-1].endswith("; files must be put right in doubled, the course itself.")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("verify", "dubbled"), ("no kata 'dubbled'", "did you mean 'doubled'?")),
        (("verify", "--mutants", "some"), ("--mutants", "'some' is no number", "all")),
        (("verify", "--mutants", "-1"), ("--mutants",)),
        (("verify", "--jobs", "0"), ("--jobs",)),
        (("verify", "--engine", "abacus"), ("--engine",)),
    ],
)
def test_wrong_usage_ends_with_2(
    run: Run, course_root: Path, arguments: tuple[str, ...], words: tuple[str, ...]
) -> None:
    done = run("--course", str(course_root), *arguments)
    assert done.returncode == 2
    assert done.stdout == ""
    for word in words:
        assert word in done.stderr


def test_a_course_without_katas_is_told_how_to_get_one(run: Run, course_root: Path) -> None:
    (course_root / "katas" / "course.toml").write_text('format_version = 1\ntitle = "C"\nkatas = []\n')
    done = run("--course", str(course_root), "verify")
    assert done.returncode == 2
    assert f"kata --course {course_root} new SLUG" in done.stderr


@pytest.mark.parametrize("command", ["verify", "new"])
def test_help_has_an_example(run: Run, command: str) -> None:
    done = run(command, "--help")
    assert done.returncode == 0
    assert "Example: kata" in done.stdout
