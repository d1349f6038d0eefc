"""`kata regrade` and `kata override` on a class that grades in milliseconds."""

from __future__ import annotations

import shutil
import subprocess
import unicodedata
from pathlib import Path

import pytest
from class_of_files import Kata, lines, quick, records, students, write_class
from msgspec.structs import replace

from tritonkata.gradebook.opening import open_gradebook
from tritonkata.gradebook.types import Submitted
from tritonkata.model.record import Student
from tritonkata.model.report import CheckResult

CLASS = {"ann": quick(1), "ben": quick(2), "cem": b"\xff\xfe\x00"}


@pytest.fixture(scope="module")
def once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a class and its gradebook, graded once for all tests of this module."""
    folder = tmp_path_factory.mktemp("graded")
    done = Kata(folder).grade(write_class(folder / "class", CLASS), "--json")
    assert (done.returncode, students(done.stdout)) == (0, ["ann", "ben", "cem"])
    return folder


@pytest.fixture
def graded(once: Path, kata: Kata, tmp_path: Path) -> Kata:
    """The command, in a copy of that folder."""
    shutil.copytree(once, tmp_path, dirs_exist_ok=True)
    return kata


def refused(done: subprocess.CompletedProcess[str], *words: str) -> None:
    assert (done.returncode, done.stdout) == (2, "")
    for word in words:
        assert word in done.stderr


@pytest.mark.parametrize(
    ("choice", "whose"),
    [
        (["--student", "ann", "--student", "cem"], ["ann", "cem"]),
        (["--verdict", "error"], ["ann", "ben", "cem"]),
    ],
)
def test_those_who_are_named_are_graded_again(
    graded: Kata, tmp_path: Path, choice: list[str], whose: list[str]
) -> None:
    before = records(tmp_path / "grades")
    done = graded("regrade", *choice, "--json")
    assert (done.returncode, students(done.stdout)) == (0, whose)
    after = records(tmp_path / "grades")
    assert [record.submitted_at for record in after.values()] == [record.submitted_at for record in before.values()]
    assert {record.report.seed for record in after.values()} == {7}


def test_a_mistake_that_no_report_has_is_refused_with_those_there_are(graded: Kata, tmp_path: Path) -> None:
    refused(graded("regrade", "--diagnosis", "tripled"), "--diagnosis tripled", "no report has a mistake with a name")
    with open_gradebook(tmp_path / "grades") as book:
        run = book.last_run("doubled")
        assert run is not None
        failed = CheckResult("values", "Twice the input", "wrong_output", 0, 5, "not_doubled")
        (ann, *_) = book.records("doubled")
        book.put_report(1, run, replace(ann.report, verdict="fail", checks=(failed,)))
    refused(graded("regrade", "--diagnosis", "nosuch"), "--diagnosis nosuch", "the reports have: not_doubled")
    assert students(graded("regrade", "--diagnosis", "not_doubled", "--json").stdout) == ["ann"]


def test_a_line_names_all_members_of_a_group(graded: Kata, tmp_path: Path) -> None:
    with open_gradebook(tmp_path / "grades") as book:
        book.take_in("doubled", [Submitted((Student("ben"), Student("ann")), "pair/doubled.py", quick(7))], [])
    (line,) = lines(graded("regrade", "--ungraded", "--json").stdout)
    assert (line["student"], line["students"]) == ("ann", ["ben", "ann"])


@pytest.mark.parametrize("more", [(), ("--student", "ann")])
def test_where_nothing_fits_nothing_else_is_said(graded: Kata, more: tuple[str, ...]) -> None:
    done = graded("regrade", "--verdict", "pass", *more)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "No graded submission fits.\n")


@pytest.mark.parametrize(("score", "told"), [("3.3333333", "3.3333333"), ("12", "12"), ("12.0", "12"), ("0.1", "0.1")])
def test_a_score_is_told_as_it_is_stored(graded: Kata, tmp_path: Path, score: str, told: str) -> None:
    done = graded("override", "ann", "--score", score, "--reason", "x", "--author", "y")
    assert f"ann, Doubled: {told} counts from now on" in done.stdout
    assert records(tmp_path / "grades")["ann"].score == float(told)


def test_the_command_that_graded_them_first_finds_nothing_to_do(graded: Kata, tmp_path: Path) -> None:
    assert students(graded("regrade", "--all", "--json").stdout) == ["ann", "ben", "cem"]
    assert students(graded.grade(tmp_path / "class", "--json").stdout) == []


def test_whom_to_grade_again_must_be_said(graded: Kata) -> None:
    refused(graded("regrade"), "--student ID", "--all")


def test_a_student_is_found_whichever_way_the_accents_are_written(kata: Kata, tmp_path: Path) -> None:
    """macOS writes a folder's accents apart from their letters, and a terminal does not, or the other way round."""
    whole, apart = (unicodedata.normalize(form, "josé") for form in ("NFC", "NFD"))
    kata.grade(write_class(tmp_path / "class", {apart: quick(1), "zoe": quick(2)}), "--quiet")
    for name in (whole, apart):
        assert kata("override", name, "--score", "3", "--reason", "x", "--author", "y").returncode == 0
        assert records(tmp_path / "grades")[whole].score == 3
        assert students(kata("regrade", "--student", name, "--json").stdout) == [whole]
        exported = kata("export", "--format", "gradescope", "--student", name)
        assert (exported.returncode, exported.stderr) == (0, "")
        assert kata("feedback", "--student", name, "--to", str(tmp_path / "pages")).returncode == 0


def test_there_must_be_a_gradebook(kata: Kata) -> None:
    refused(kata("regrade", "--all"), "there is no gradebook", f"kata --course {kata.course} grade SUBMISSIONS")
    refused(kata("override", "ann", "--score", "1", "--reason", "x", "--author", "y"), "there is no gradebook")


def test_a_score_by_hand_outlives_a_new_grade_until_it_is_taken_back(graded: Kata, tmp_path: Path) -> None:
    decided = ("--reason", "graded by hand", "--author", "T. A.")
    done = graded("override", "ann", "--score", "4.5", *decided)
    assert (done.returncode, done.stderr) == (0, "")
    assert "ann, Doubled: 4.5 counts from now on" in done.stdout
    graded("regrade", "--student", "ann")
    ann = records(tmp_path / "grades")["ann"]
    assert (ann.score, ann.report.score) == (4.5, 0)
    assert ann.override is not None
    assert (ann.override.reason, ann.override.author) == ("graded by hand", "T. A.")
    done = graded("override", "ann", "--remove", *decided)
    assert "the grader's own score counts again" in done.stdout
    assert records(tmp_path / "grades")["ann"].override is None


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["ann"], "--score N or --remove"),
        (["ann", "--score", "1", "--remove"], "--score N or --remove"),
        (["zoe", "--score", "1"], "zoe has no submission to doubled"),
        (["ann", "--score", "nan"], "finite"),
        (["ann", "--score", "1", "--kata", "tripled"], "has no submission to tripled; it has doubled"),
    ],
)
def test_a_decision_that_makes_no_sense_is_refused(graded: Kata, tmp_path: Path, words: list[str], told: str) -> None:
    refused(graded("override", *words, "--reason", "x", "--author", "y"), told)
    assert records(tmp_path / "grades")["ann"].override is None
