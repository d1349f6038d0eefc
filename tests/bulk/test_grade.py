"""A class from its download into a gradebook."""

from __future__ import annotations

import shutil
import zipfile
from pathlib import Path

import pytest
from class_of_files import COURSE, SOLUTION, TRIPLED, Kata, lines, quick, records, students, write_class

from tritonkata.gradebook.opening import open_gradebook

EVERYONE = ["ann", "ben", "cem", "dan", "eve"]


class GradedClass:
    """Five submissions, graded once for all tests of this module; each works on a copy."""

    def __init__(self, folder: Path) -> None:
        sources = {"ann": SOLUTION, "ben": TRIPLED, "cem": quick(0), "dan": b"\xff\xfe\x00"}
        self.submissions = write_class(folder / "submissions", sources)
        (self.submissions / "eve").mkdir()
        (self.submissions / "eve" / "doubled.py").symlink_to("nowhere.py")
        (self.submissions / "gil.zip").write_bytes(b"PK\3\4 and no more")
        self.out = folder / "grades"
        self.done = Kata(folder).grade(self.submissions, "--out", self.out, "--jobs", "2", "--json")


@pytest.fixture(scope="module")
def once(tmp_path_factory: pytest.TempPathFactory) -> GradedClass:
    return GradedClass(tmp_path_factory.mktemp("class"))


@pytest.fixture
def out(once: GradedClass, tmp_path: Path) -> Path:
    """A copy of its gradebook."""
    return Path(shutil.copytree(once.out, tmp_path / "grades"))


@pytest.fixture
def submissions(once: GradedClass, tmp_path: Path) -> Path:
    """A copy of its download."""
    return Path(shutil.copytree(once.submissions, tmp_path / "submissions", symlinks=True))


def test_every_submission_has_a_line_and_a_record(once: GradedClass) -> None:
    assert once.done.returncode == 0
    assert once.done.stderr == "Note: 1 student has handed in nothing that can be graded (gil); --dry-run says why\n"
    found = {line["student"]: line for line in lines(once.done.stdout)}
    assert sorted(found) == EVERYONE
    assert {name: line["verdict"] for name, line in found.items()} == {
        "ann": "pass",
        "ben": "fail",
        "cem": "error",
        "dan": "error",
        "eve": "error",
    }
    assert (found["ann"]["score"], found["ann"]["max_score"]) == (5, 5)
    assert found["ben"]["diagnosis"] == "tripled"
    # Points are out of the same number for everyone.
    assert {line["max_score"] for line in found.values()} == {5}
    kept = records(once.out)
    assert {name: record.report.verdict for name, record in kept.items()} == {
        name: line["verdict"] for name, line in found.items()
    }
    assert {record.report.submission.student for record in kept.values()} == set(EVERYONE)
    assert {record.report.seed for record in kept.values()} == {7}


def test_what_cannot_be_read_has_a_report_that_says_why(once: GradedClass) -> None:
    kept = records(once.out)
    faults = {name: record.report.fault for name, record in kept.items()}
    for name, words in {"cem": "SyntaxError, line 1", "dan": "NUL byte", "eve": "symbolic link"}.items():
        fault = faults[name]
        assert fault is not None
        assert words in fault.message


def test_an_archive_of_a_student_that_cannot_be_opened_is_left_out_with_the_reason(once: GradedClass) -> None:
    with open_gradebook(once.out) as book:
        ((path, student, reason, _),) = book.left_out("doubled")
    assert (path, student) == ("gil.zip", "gil")
    assert "damaged" in reason


def test_the_same_command_again_grades_nothing(kata: Kata, submissions: Path, out: Path) -> None:
    before = records(out)
    done = kata.grade(submissions, "--out", out)
    assert done.returncode == 0
    assert "5 were graded before and not changed since; 0 were graded now" in done.stdout
    assert f"report --out {out}" in done.stdout
    assert "Mean score 1." in done.stdout
    assert "tripled (1)" in done.stdout
    assert records(out) == before


def test_a_zip_of_the_same_class_grades_nothing(kata: Kata, submissions: Path, out: Path) -> None:
    archive = submissions.with_name("download.zip")
    with zipfile.ZipFile(archive, "w") as file:
        for path in sorted(submissions.rglob("*")):
            if path.is_file():
                file.write(path, path.relative_to(submissions))
    done = kata.grade(archive, "--out", out, "--json")
    assert (done.returncode, done.stdout) == (0, "")
    # A link is in no zip.
    assert [line.partition(":")[0] for line in done.stderr.splitlines()] == ["Note", "Note"]
    assert "nothing that can be graded (gil)" in done.stderr
    assert "not in this one (eve)" in done.stderr
    assert sorted(records(out)) == ["ann", "ben", "cem", "dan"]


def test_a_zip_is_graded(kata: Kata, tmp_path: Path) -> None:
    archive = tmp_path / "download.zip"
    with zipfile.ZipFile(archive, "w") as file:
        for number in range(3):
            file.writestr(f"s{number}/doubled.py", quick(number))
    done = kata.grade(archive, "--out", tmp_path / "new", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    assert students(done.stdout) == ["s0", "s1", "s2"]


def test_who_hands_in_again_is_graded_again(kata: Kata, submissions: Path, out: Path) -> None:
    write_class(submissions, {"cem": quick(1), "fay": quick(2)})
    shutil.rmtree(submissions / "dan")
    done = kata.grade(submissions, "--out", out, "--json")
    assert students(done.stdout) == ["cem", "fay"]
    assert sorted(records(out)) == ["ann", "ben", "cem", "eve", "fay"]


def test_another_seed_or_a_changed_kata_grades_all_again(kata: Kata, tmp_path: Path) -> None:
    submissions = write_class(tmp_path / "class", {"ann": quick(1), "ben": quick(2)})
    kata.course = tmp_path / "course"
    shutil.copytree(COURSE, kata.course)
    assert students(kata.grade(submissions, "--json").stdout) == ["ann", "ben"]
    assert students(kata.grade(submissions, "--json", "--seed", "8").stdout) == ["ann", "ben"]
    assert students(kata.grade(submissions, "--json", "--seed", "8").stdout) == []
    with (kata.course / "katas/doubled/hidden/test_doubled.py").open("a") as file:
        file.write("\n# changed\n")
    assert students(kata.grade(submissions, "--json", "--seed", "8").stdout) == ["ann", "ben"]


def test_a_dry_run_shows_the_class_and_makes_nothing(kata: Kata, submissions: Path, tmp_path: Path) -> None:
    done = kata.grade(submissions, "--out", tmp_path / "new", "--dry-run")
    assert (done.returncode, done.stderr) == (0, "")
    assert all(name in done.stdout for name in EVERYONE)
    assert not (tmp_path / "new").exists()


def test_quiet_says_nothing(kata: Kata, tmp_path: Path) -> None:
    submissions = write_class(tmp_path / "class", {"ann": quick(1)})
    done = kata.grade(submissions, "--quiet")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert sorted(records(tmp_path / "grades")) == ["ann"]


def refused(kata: Kata, submissions: Path, *words: str) -> None:
    """The command ends with code 2 and one line that has these words; no gradebook is made."""
    done = kata.grade(submissions, "--quiet")
    assert (done.returncode, done.stdout) == (2, "")
    assert len(done.stderr.splitlines()) == 1
    for word in words:
        assert word in done.stderr
    assert not (kata.folder / "grades").exists()


def test_a_download_without_a_submission_is_refused(kata: Kata, tmp_path: Path) -> None:
    folder = tmp_path / "class"
    (folder / "ann").mkdir(parents=True)
    (folder / "ann" / "notes.txt").write_text("nothing yet")
    refused(kata, folder, str(folder), "no submission to doubled", "--dry-run")


@pytest.mark.parametrize("content", [b"", b"PK\3\4 and no more", b"Rar!\x1a\x07\x01\x00"])
def test_an_archive_that_cannot_be_read_is_refused(kata: Kata, tmp_path: Path, content: bytes) -> None:
    archive = tmp_path / "download.zip"
    archive.write_bytes(content)
    refused(kata, archive, "download.zip")


def test_a_download_that_is_not_there_is_refused(kata: Kata, tmp_path: Path) -> None:
    refused(kata, tmp_path / "nowhere", "nowhere")


def test_another_command_at_work_on_the_gradebook_is_told(kata: Kata, tmp_path: Path) -> None:
    submissions = write_class(tmp_path / "class", {"ann": quick(1)})
    with open_gradebook(tmp_path / "grades", create=True, grading=True):
        done = kata.grade(submissions, "--json")
    assert (done.returncode, done.stdout) == (2, "")
    assert "another `kata grade` is at work on it" in done.stderr
    assert students(kata.grade(submissions, "--json").stdout) == ["ann"]


def test_without_a_sandbox_nothing_is_graded(kata: Kata, tmp_path: Path) -> None:
    submissions = write_class(tmp_path / "class", {"ann": quick(1)})
    empty = tmp_path / "empty"
    empty.mkdir()
    done = kata.grade(submissions, "--json", PATH=str(empty))
    assert (done.returncode, done.stdout) == (2, "")
    assert "bubblewrap is not installed" in done.stderr
    assert "--no-sandbox" in done.stderr
    assert not (tmp_path / "grades").exists()


@pytest.mark.slow
def test_every_report_says_that_there_was_no_sandbox(kata: Kata, tmp_path: Path) -> None:
    submissions = write_class(tmp_path / "class", {"ann": SOLUTION, "ben": quick(1)})
    empty = tmp_path / "empty"
    empty.mkdir()
    done = kata.grade(submissions, "--json", "--no-sandbox", PATH=str(empty))
    assert (done.returncode, students(done.stdout)) == (0, ["ann", "ben"])
    kept = records(tmp_path / "grades")
    assert {name: record.report.verdict for name, record in kept.items()} == {"ann": "pass", "ben": "error"}
    for record in kept.values():
        assert any(note.startswith("no sandbox, only process limits") for note in record.report.notes)
    # With a sandbox these reports do not count.
    assert students(kata.grade(submissions, "--json").stdout) == ["ann", "ben"]
    assert not any(
        "no sandbox" in note for record in records(tmp_path / "grades").values() for note in record.report.notes
    )


@pytest.mark.slow
def test_a_fault_of_the_course_is_the_graders_and_is_tried_again(kata: Kata, tmp_path: Path) -> None:
    submissions = write_class(tmp_path / "class", {"ann": SOLUTION, "ben": quick(1)})
    kata.course = tmp_path / "course"
    shutil.copytree(COURSE, kata.course)
    oracle = kata.course / "reference/doubled/oracle.py"
    whole = oracle.read_text()
    oracle.write_text("import no_such_module\n")
    done = kata.grade(submissions)
    assert done.returncode == 3
    assert "1 met a fault of the grader (the same command tries them again)" in done.stdout
    again = kata.grade(submissions, "--json")
    assert (again.returncode, students(again.stdout)) == (3, ["ann"])
    oracle.write_text(whole)
    mended = kata.grade(submissions, "--json")
    assert (mended.returncode, students(mended.stdout)) == (0, ["ann", "ben"])
    assert records(tmp_path / "grades")["ann"].report.verdict == "pass"
