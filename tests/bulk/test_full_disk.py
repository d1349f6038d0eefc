"""What a command writes for a user is there whole or not at all, on a full disk too, where what was there stays."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from class_of_files import COURSE, Kata, quick, write_class
from disks import on_a_full_disk

SHEET = b"Student,ID,SIS Login ID,Section,doubled (1)\nann,1,ann,A,\n"
PAGE_BYTES = 4096


@pytest.fixture(scope="module")
def grades(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A gradebook, not on the full disk, of enough people that no export fits into what a small file had."""
    folder = tmp_path_factory.mktemp("graded")
    sources = {f"{'s' * 40}{number}": quick(number) for number in range(50)} | {"ann": quick(99)}
    assert Kata(folder).grade(write_class(folder / "class", sources)).returncode == 0
    return folder / "grades"


def canvas_sheet() -> bytes:
    """A sheet that fills its page of the disk to the last byte, so that a score does not fit."""
    return SHEET.replace(b"ann,1", b"ann" + b" " * (PAGE_BYTES - len(SHEET)) + b",1")


EXPORT = ("export", "--out", "GRADES", "--to", "out", "--format")
TARGETS = [
    (*EXPORT, "csv"),
    (*EXPORT, "jsonl"),
    (*EXPORT, "junit"),
    (*EXPORT, "canvas"),
    ("report", "--out", "GRADES", "--to", "out"),
    ("package", "gradescope", "--kata", "doubled", "--to", "out"),
    ("check", "doubled.py", "--report", "out"),
    ("check", "doubled.py", "--junit", "out"),
    ("lab", "softmax", "--rows", "4", "--cols", "4", "--svg", "out"),
    ("export", "--out", "GRADES", "--format", "gradescope", "--to", "."),
    ("feedback", "--out", "GRADES", "--to", "."),
    ("start", "doubled"),
]


def run(tmp_path: Path, grades: Path, before: dict[str, bytes], words: tuple[str, ...]) -> tuple[int, dict[str, bytes]]:
    given = [str(grades) if word == "GRADES" else word for word in words]
    command = [sys.executable, "-B", "-m", "tritonkata", "--course", str(COURSE), *given]
    done, after = on_a_full_disk(tmp_path, before, *command, TMPDIR=str(tmp_path))
    assert done.stderr.count("\n") == 1, done.stderr
    assert "cannot be written" in done.stderr
    assert ".kata-" not in done.stderr
    return done.returncode, after


@pytest.mark.parametrize("words", TARGETS, ids=" ".join)
def test_nothing_is_left_where_nothing_can_be_written(tmp_path: Path, grades: Path, words: tuple[str, ...]) -> None:
    before = {} if "start" in words else {"doubled.py": quick(1)}
    code, after = run(tmp_path, grades, before, words)
    assert code in (2, 3)
    assert after == before


@pytest.mark.parametrize("target", ["sheet.csv", "link.csv"])
def test_the_sheet_of_an_instructor_stays_as_it_was(tmp_path: Path, grades: Path, target: str) -> None:
    before = {"sheet.csv": canvas_sheet()}
    words = ("export", "--out", "GRADES", "--format", "canvas", "--into", target, "--to", target)
    (tmp_path / "link.csv").symlink_to(tmp_path / "disk/sheet.csv")
    path = str(tmp_path / "link.csv")
    code, after = run(tmp_path, grades, before, tuple(path if word == "link.csv" else word for word in words))
    assert code == 2
    assert after == before


def test_an_earlier_export_stays_as_it_was(tmp_path: Path, grades: Path) -> None:
    earlier = Kata(tmp_path)("export", "--out", grades, "--format", "csv").stdout.partition("\n")[0].encode()
    code, after = run(tmp_path, grades, {"out": earlier}, (*EXPORT, "csv"))
    assert (code, after) == (2, {"out": earlier})


@pytest.mark.parametrize("words", [(*EXPORT, "csv"), ("report", "--out", "GRADES", "--to", "out")], ids=" ".join)
def test_permissions_stay_those_that_a_file_had(tmp_path: Path, grades: Path, words: tuple[str, ...]) -> None:
    kata = Kata(tmp_path)
    given = [str(grades) if word == "GRADES" else word for word in words]
    assert kata(*given).returncode == 0
    (tmp_path / "out").chmod(0o640)
    assert kata(*given).returncode == 0
    assert (tmp_path / "out").stat().st_mode & 0o777 == 0o640


def test_a_link_is_followed_to_the_file_that_is_written(tmp_path: Path, grades: Path) -> None:
    (tmp_path / "link").symlink_to("out")
    assert Kata(tmp_path)("export", "--out", grades, "--format", "csv", "--to", "link").returncode == 0
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "out").read_bytes()
