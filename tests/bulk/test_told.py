"""What an instructor is told so that nobody is missed: who is not graded, not in this download, or not named."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from class_of_files import Kata, quick, records, students, write_class

from tritonkata.boundary.sandbox import find_bubblewrap
from tritonkata.model.record import Record


@pytest.fixture(scope="module")
def once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a class and its gradebook, graded once for all tests of this module."""
    folder = tmp_path_factory.mktemp("graded")
    sources = {name: quick(number) for number, name in enumerate(("ann", "ben", "cem"))}
    assert Kata(folder).grade(write_class(folder / "class", sources)).returncode == 0
    return folder


@pytest.fixture
def graded(once: Path, kata: Kata, tmp_path: Path) -> Kata:
    shutil.copytree(once, tmp_path, dirs_exist_ok=True)
    return kata


@pytest.fixture
def stopped(graded: Kata, tmp_path: Path) -> Kata:
    """As if the run had been stopped before the last two."""
    connection = sqlite3.connect(tmp_path / "grades/gradebook.sqlite")
    connection.execute("DELETE FROM report WHERE submission > 1")
    connection.commit()
    connection.close()
    return graded


@pytest.mark.parametrize(
    "words", [("export", "--format", "csv"), ("export", "--format", "jsonl"), ("report",), ("feedback",)]
)
def test_what_is_written_of_an_unfinished_gradebook_says_so(stopped: Kata, words: tuple[str, ...]) -> None:
    done = stopped(*words)
    assert done.returncode == 0
    assert "2 of 3 submissions are not graded yet" in done.stderr
    assert f"kata --course {stopped.course} regrade --out grades --ungraded" in done.stderr


def pasted(kata: Kata, command: str) -> subprocess.CompletedProcess[str]:
    """A command as it was told, given to a shell that knows no course."""
    first, *words = shlex.split(command)
    assert first == "kata"
    return subprocess.run(
        [sys.executable, "-m", "tritonkata", *words], cwd=kata.folder, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize("several", [False, True])
def test_commands_that_are_told_can_be_pasted(stopped: Kata, tmp_path: Path, several: bool) -> None:
    out = (tmp_path / "grades").rename(tmp_path / "all my grades")
    if several:
        connection = sqlite3.connect(out / "gradebook.sqlite")
        columns = "student, students, file, attempt, sha256, source, problem, submitted_at, late, present"
        connection.execute(f"INSERT INTO submission (kata, {columns}) SELECT 'other', {columns} FROM submission")
        connection.commit()
        connection.close()
    which = ("--out", out.name, "--kata", "doubled")
    (command,) = re.findall("`(.*)`", stopped("export", *which, "--format", "csv").stderr)
    summary = pasted(stopped, command)
    assert summary.returncode == 0, summary.stderr
    following = summary.stdout.partition("Next: ")[2].split(", ")
    assert len(following) == 3
    for done in (pasted(stopped, one) for one in following):
        assert (done.returncode, done.stderr) == (0, "")


def test_a_gradebook_of_another_course_is_told_with_how_to_name_the_course(graded: Kata) -> None:
    done = pasted(graded, "kata export --format csv")
    assert (done.returncode, done.stdout) == (2, "")
    for words in ("grades/gradebook.sqlite: is of the kata doubled", "kata --course DIR|NAME"):
        assert words in done.stderr


def change_points(kata: Kata) -> None:
    """Work with a copy of the course in which the kata's points are others."""
    copy = kata.folder / "changed"
    shutil.copytree(kata.course, copy)
    hidden = copy / "katas/doubled/hidden/test_doubled.py"
    hidden.write_text(hidden.read_text().replace("points=2", "points=4"))
    kata.course = copy


@pytest.mark.parametrize("words", [("export", "--format", "csv"), ("report",), ("feedback",)])
def test_reports_of_two_states_of_the_kata_are_told(graded: Kata, words: tuple[str, ...]) -> None:
    change_points(graded)
    again = graded("regrade", "--student", "ben")
    note = f"Note: 2 of 3 reports are of an earlier state of the kata; `kata --course {graded.course} regrade"
    assert (again.returncode, "not changed since" in again.stdout) == (0, False)
    assert "2 were graded before; 1 was graded now." in again.stdout
    assert note in again.stderr
    assert note in graded(*words).stderr
    assert "earlier state" not in graded("regrade", "--all").stderr
    assert graded(*words).stderr.count("Note:") == 0


def test_the_rest_alone_can_be_graded(stopped: Kata, tmp_path: Path) -> None:
    done = stopped("regrade", "--ungraded", "--json")
    assert (done.returncode, students(done.stdout)) == (0, ["ben", "cem"])
    assert stopped("export", "--format", "csv").stderr == ""
    assert len(records(tmp_path / "grades")) == 3


def test_who_is_not_in_the_next_download_is_told(graded: Kata, tmp_path: Path) -> None:
    part = write_class(tmp_path / "part", {"dia": quick(9)})
    for words in ((), ("--quiet",), ("--json",)):
        done = graded.grade(part, *words)
        assert done.returncode == 0
        assert "3 students of earlier downloads not in this one (ann, ben, cem)" in done.stderr
    everyone = write_class(tmp_path / "class", {"dia": quick(9)})
    assert "earlier downloads" not in graded.grade(everyone).stderr


@pytest.mark.parametrize("words", [("--quiet",), ("--json",)])
def test_who_has_nothing_to_grade_is_told_without_the_table(kata: Kata, tmp_path: Path, words: tuple[str, ...]) -> None:
    folder = write_class(tmp_path / "class", {"ann": quick(1)})
    for name in ("ben", "cem"):
        (folder / name).mkdir()
    done = kata.grade(folder, *words)
    assert done.returncode == 0
    assert "2 students have handed in nothing that can be graded (ben, cem)" in done.stderr


def test_a_dry_run_can_be_read_by_a_program(kata: Kata, tmp_path: Path) -> None:
    folder = write_class(tmp_path / "class", {"ann": quick(1)})
    (folder / "ben").mkdir()
    done = kata.grade(folder, "--dry-run", "--json")
    ann, ben = map(json.loads, done.stdout.splitlines())
    assert (ann["students"], ann["file"], ann["attempt"]) == (["ann"], "ann/doubled.py", 1)
    assert (ben["students"], ben["left_out"]) == (
        ["ben"],
        "has no Python file: ben is an empty folder; hand in doubled.py",
    )
    assert not (tmp_path / "grades").exists()


def test_who_is_to_be_looked_at_has_a_name_where_one_is_known(kata: Kata, tmp_path: Path) -> None:
    write_class(tmp_path / "class", {"Ann Lee_203_assignsubmission_file": quick(1)})
    for name in ("Cy Lee_204", "Di Poe_206"):
        text = tmp_path / f"class/{name}_assignsubmission_onlinetext/onlinetext.html"
        text.parent.mkdir()
        text.write_bytes(b"<p>")
    roster = tmp_path / "roster.csv"
    roster.write_text("203,Ann Lee\n204,Cy Lee\n205,Bo Roe\n206,Di Poe\n")
    words = (tmp_path / "class", "--roster", str(roster))
    lines = [json.loads(line) for line in kata.grade(*words, "--dry-run", "--json").stdout.splitlines()]
    told = sorted((line["students"], line["names"]) for line in lines)
    assert told == [(["203"], ["Ann Lee"]), (["204"], ["Cy Lee"]), (["205"], ["Bo Roe"]), (["206"], ["Di Poe"])]
    done = kata.grade(*words, "--quiet")
    assert "3 students have handed in nothing that can be graded" in done.stderr
    assert "(204 (Cy Lee), 205 (Bo Roe), 206 (Di Poe))" in done.stderr
    assert kata("report", "--to", str(tmp_path / "page.html")).returncode == 0
    assert "<td>Bo Roe (205)</td>" in (tmp_path / "page.html").read_text()


@pytest.mark.parametrize(
    "words",
    [
        ("regrade", "--student", "ann", "--student", "zoe"),
        ("override", "ann", "zoe", "--score", "1", "--reason", "x", "--author", "y"),
    ],
)
def test_names_of_nobody_are_refused_and_nothing_is_done(graded: Kata, tmp_path: Path, words: tuple[str, ...]) -> None:
    before = records(tmp_path / "grades")
    done = graded(*words)
    assert (done.returncode, done.stdout) == (2, "")
    assert "zoe has no submission to doubled in the last download" in done.stderr
    assert records(tmp_path / "grades") == before


@pytest.mark.parametrize(
    "more", [("--all", "--student", "ann"), ("--all", "--ungraded"), ("--ungraded", "--verdict", "fail")]
)
def test_those_to_grade_again_are_said_in_one_way(graded: Kata, more: tuple[str, ...]) -> None:
    done = graded("regrade", *more)
    assert (done.returncode, done.stdout) == (2, "")


@pytest.mark.parametrize("words", [("--reason", "  ", "--author", "T. A."), ("--reason", "copied", "--author", "")])
def test_a_decision_without_a_reason_or_an_author_is_refused(graded: Kata, words: tuple[str, ...]) -> None:
    done = graded("override", "ann", "--score", "1", *words)
    assert done.returncode == 2
    assert "is empty" in done.stderr


def test_a_score_that_no_submission_can_get_is_noted(graded: Kata) -> None:
    done = graded("override", "ann", "--score", "150", "--reason", "typed wrongly", "--author", "T. A.")
    assert done.returncode == 0
    assert "150 is not between 0 and the" in done.stderr


def test_several_can_be_decided_at_once(graded: Kata, tmp_path: Path) -> None:
    done = graded("override", "ann", "cem", "--score", "2", "--reason", "together", "--author", "T. A.")
    assert "ann, cem, Doubled: 2 counts from now on." in done.stdout

    def decided(record: Record) -> bool:
        return record.override is not None

    assert {name: decided(one) for name, one in records(tmp_path / "grades").items()} == {
        "ann": True,
        "ben": False,
        "cem": True,
    }


def test_a_sheet_is_filled_in_by_formats_that_have_one(graded: Kata, tmp_path: Path) -> None:
    (tmp_path / "sheet.csv").write_text("Student,ID\n")
    done = graded("export", "--format", "csv", "--into", "sheet.csv")
    assert (done.returncode, done.stdout) == (2, "")
    assert "canvas and moodle" in done.stderr


WRITERS = [
    ("report",),
    ("export", "--format", "csv"),
    ("export", "--format", "jsonl"),
    ("export", "--format", "junit"),
    ("package", "gradescope", "--kata", "doubled"),
]


@pytest.mark.parametrize("words", WRITERS)
@pytest.mark.parametrize(
    ("name", "why"),
    [
        *((f"grades/gradebook.{end}", "part of a gradebook") for end in ("sqlite", "sqlite-wal", "sqlite-shm", "lock")),
        ("grades/../grades/gradebook.sqlite", "part of a gradebook"),
        ("class/ann/doubled.py", "holds something else"),
        ("copy.db", "holds something else"),
        (".kata/progress.json", "keeps its progress"),
    ],
)
def test_nothing_that_is_kept_or_handed_in_is_replaced(
    graded: Kata, tmp_path: Path, words: tuple[str, ...], name: str, why: str
) -> None:
    (tmp_path / ".kata").mkdir()
    (tmp_path / ".kata/progress.json").write_text("{}\n")
    (tmp_path / "copy.db").hardlink_to(tmp_path / "grades/gradebook.sqlite")
    path = tmp_path / name
    before = path.read_bytes() if path.exists() else None
    done = graded(*words, "--to", name)
    assert (done.returncode, done.stdout) == (2, "")
    assert len(done.stderr.splitlines()) == 1
    assert why in done.stderr
    assert (path.read_bytes() if path.exists() else None) == before
    assert len(records(tmp_path / "grades")) == 3


@pytest.mark.parametrize("words", WRITERS)
def test_what_was_written_before_is_replaced(graded: Kata, tmp_path: Path, words: tuple[str, ...]) -> None:
    (tmp_path / "out").touch()
    for _ in range(2):
        assert graded(*words, "--to", "out").returncode == 0
    assert (tmp_path / "out").stat().st_size > 0


@pytest.mark.parametrize(
    ("words", "content"),
    [
        (("export", "--format", "csv"), b"student,name,email\nann,Ann,ann@example.org\n"),
        (("export", "--format", "jsonl"), b'{"students": 3}\n'),
        (("export", "--format", "junit"), b"<?xml version='1.0' encoding='utf-8'?>\n<project/>\n"),
        (("report",), b"<!doctype html>\n<html>my own page</html>\n"),
        (("package", "gradescope", "--kata", "doubled"), b"PK\x05\x06" + bytes(18)),
    ],
)
def test_another_file_of_the_same_kind_is_not_replaced(
    graded: Kata, tmp_path: Path, words: tuple[str, ...], content: bytes
) -> None:
    (tmp_path / "mine").write_bytes(content)
    done = graded(*words, "--to", "mine")
    assert done.returncode == 2
    assert "holds something else" in done.stderr
    assert (tmp_path / "mine").read_bytes() == content


def test_a_sheet_can_be_filled_in_where_it_is(graded: Kata, tmp_path: Path) -> None:
    (tmp_path / "sheet.csv").write_text('"Student","ID","SIS Login ID","Section","doubled (1)"\nann,1,ann,A,\n')
    done = graded("export", "--format", "canvas", "--into", "sheet.csv", "--to", "sheet.csv")
    assert done.returncode == 0, done.stderr


def on_read_only_storage(kata: Kata, folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """The command, where the folder is mounted so that nobody can write to it."""
    command = [find_bubblewrap(), "--dev-bind", "/", "/", "--ro-bind", str(folder), str(folder), "--"]
    command += [sys.executable, "-m", "tritonkata", "--course", str(kata.course), *words]
    return subprocess.run(command, cwd=kata.folder, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("words", [("export", "--format", "csv"), ("report", "--to", "page.html"), ("similar",)])
def test_a_gradebook_on_read_only_storage_can_be_read(graded: Kata, tmp_path: Path, words: tuple[str, ...]) -> None:
    done = on_read_only_storage(graded, tmp_path / "grades", *words)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == graded(*words).stdout


def test_a_gradebook_on_read_only_storage_cannot_be_graded_into(graded: Kata, tmp_path: Path) -> None:
    done = on_read_only_storage(graded, tmp_path / "grades", "regrade", "--all")
    assert (done.returncode, done.stdout) == (2, "")
    assert "Read-only file system" in done.stderr
    assert len(records(tmp_path / "grades")) == 3


def test_what_was_left_open_on_read_only_storage_is_not_read_in_half(graded: Kata, tmp_path: Path) -> None:
    (tmp_path / "grades/gradebook.sqlite-wal").write_bytes(b"reports that are not in the file yet")
    done = on_read_only_storage(graded, tmp_path / "grades", "export", "--format", "csv")
    assert (done.returncode, done.stdout) == (2, "")
    assert "was left open; copy the folder" in done.stderr


@pytest.mark.parametrize(
    ("words", "gone", "said"),
    [
        (("export", "--format", "gradescope"), ["f6.json"], "1 file there is not of this export: f6.json"),
        (("feedback",), ["f6.html", "f6.md"], "2 files there are not of this export: f6.html, f6.md"),
        (("feedback",), [f"f{n}.md" for n in range(7)], "f0.md, f1.md, f2.md, f3.md, f4.md and 2 more"),
    ],
)
def test_files_of_people_who_are_gone_are_named_and_stay(
    graded: Kata, tmp_path: Path, words: tuple[str, ...], gone: list[str], said: str
) -> None:
    assert "not of this export" not in graded(*words, "--to", "out").stderr
    for name in [*gone, "notes.txt"]:
        (tmp_path / "out" / name).write_text("{}")
    done = graded(*words, "--to", "out")
    assert done.returncode == 0
    assert f"Note: {said}" in done.stderr or (said in done.stderr and "Note: 7 files there" in done.stderr)
    assert all((tmp_path / "out" / name).exists() for name in gone)
    assert "not of this export" not in graded(*words, "--to", "out", "--student", "ann").stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("export", "--format", "csv", "--to", "out"), "out: 1 record\n"),
        (("export", "--format", "gradescope", "--to", "out"), "1 file in out\n"),
    ],
)
def test_one_is_not_told_as_many(graded: Kata, words: tuple[str, ...], said: str) -> None:
    assert said in graded(*words, "--student", "ann").stderr


CANVAS = "Student,ID,SIS Login ID,Section,Homework 1 (17)\nann,1,ann,A,\n"
MOODLE = "Identifier,Full name,Status,Mark\nParticipant 1,ann,Submitted,\n"


@pytest.mark.parametrize(
    ("form", "sheet", "columns"),
    [
        ("canvas", CANVAS, ["Homework 1 (17)", "Homework 1", "homework 1", "17"]),
        ("moodle", MOODLE, ["Mark", "mark"]),
    ],
)
def test_a_column_with_another_name_can_be_named(
    graded: Kata, tmp_path: Path, form: str, sheet: str, columns: list[str]
) -> None:
    (tmp_path / "sheet.csv").write_text(sheet)
    words = ("export", "--format", form, "--into", "sheet.csv", "--student", "ann")
    untold = graded(*words)
    assert (untold.returncode, untold.stdout) == (2, "")
    assert untold.stderr.startswith("Error: sheet.csv: ")
    assert "--column" in untold.stderr
    for column in columns:
        done = graded(*words, "--column", column)
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout.splitlines()[1].endswith(",0")
    assert graded(*words, "--column", "Homework 2").returncode == 2


def test_a_sheet_that_is_made_has_the_column_that_was_named(graded: Kata) -> None:
    done = graded("export", "--format", "canvas", "--column", "Homework 1 (17)")
    assert done.stdout.splitlines()[0].endswith(",Homework 1 (17)")


def test_a_column_where_no_sheet_has_one_is_refused(graded: Kata) -> None:
    done = graded("export", "--format", "csv", "--column", "17")
    assert (done.returncode, done.stdout) == (2, "")
    assert "--column" in done.stderr


def set_maximum(gradebook: Path, submission: int, most: float) -> None:
    connection = sqlite3.connect(gradebook)
    (report,) = connection.execute("SELECT report FROM report WHERE submission = ?", (submission,)).fetchone()
    changed = json.dumps({**json.loads(report), "max_score": most}).encode()
    connection.execute("UPDATE report SET report = ? WHERE submission = ?", (changed, submission))
    connection.commit()
    connection.close()


@pytest.mark.parametrize(("form", "sheet"), [("canvas", None), ("canvas", CANVAS), ("moodle", MOODLE)])
def test_different_maxima_in_one_sheet_are_told(graded: Kata, tmp_path: Path, form: str, sheet: str | None) -> None:
    """As after a change of the kata, when some are graded again and others are not."""
    words = ["export", "--format", form]
    if sheet is not None:
        (tmp_path / "sheet.csv").write_text(sheet)
        words += ["--into", "sheet.csv", "--column", "17" if form == "canvas" else "Mark"]
    assert "maximum" not in graded(*words).stderr
    most = records(tmp_path / "grades")["ann"].max_score
    set_maximum(tmp_path / "grades/gradebook.sqlite", 1, most + 3)
    note = f"2 reports of {most:g} points and 1 report of {most + 3:g} points"
    (line,) = [line for line in graded(*words).stderr.splitlines() if "one maximum" in line]
    assert line.startswith("Note: ")
    assert note in line
    assert "regrade --out grades --all`" in line
    assert "one maximum" not in graded(*words, "--student", "ann").stderr
