"""Each layout as its platform makes it: who, which file, when, late, which attempt."""

from __future__ import annotations

from pathlib import Path

import pytest
from packing import SOURCE, folder, left, sources, taken, tarred, zip_bytes, zipped

from tritonkata.cli import grade
from tritonkata.intake import IntakeProblem
from tritonkata.intake.layouts import LAYOUTS
from tritonkata.model.record import Student

METADATA = b"""---
submission_11:
  :submitters:
  - :name: Ann Lee
    :sid: '0042'
    :email: ann@example.org
  - :name: "Bo \\xC5"
    :sid:
    :email: bo@example.org
  :created_at: 2026-03-01 10:00:00.340892000 +01:00
  :score: 3.0
submission_12:
  :submitters:
  - :name: Cy
    :sid: '77'
    :email: cy@example.org
  :created_at: !ruby/object:ActiveSupport::TimeWithZone
    utc: 2026-03-02 08:15:00.000000000 Z
    time: 2026-03-02 00:15:00.000000000 Z
submission_13:
  :submitters:
  - :name: Di
    :sid: '78'
    :email: di@example.org
  :created_at: 2026-03-02 08:15:00 Z
"""


def by_student(intake):
    return {attempt.student.id: attempt for attempt in intake.attempts}


def test_plain_has_a_folder_a_file_or_an_archive_for_each_student(tmp_path):
    files = {
        "ann/safe_softmax.py": b"ann",
        "ann/helper.py": b"x",
        "bo.py": b"bo",
        "cy/drafts/mine.py": b"cy",
        "di.zip": zip_bytes({"safe_softmax.py": b"di"}),
        "README.md": b"x",
    }
    path = folder(tmp_path / "in", files)
    intake = taken(path)
    assert intake.layout == "plain"
    assert sources(path) == {"ann": b"ann", "bo": b"bo", "cy": b"cy", "di": b"di"}
    assert all(attempt.submitted_at is None and attempt.late is None for attempt in intake.attempts)
    assert left(intake, "README.md").student is None


@pytest.mark.parametrize("make", [zipped, tarred])
def test_plain_looks_below_the_folder_that_archives_have_around_everything(tmp_path, make):
    path = make(tmp_path / "week1.archive", {"week1/ann/safe_softmax.py": b"ann", "week1/bo.py": b"bo"})
    assert sources(path) == {"ann": b"ann", "bo": b"bo"}


def test_plain_keeps_the_folder_of_a_single_student(tmp_path):
    path = zipped(tmp_path / "week1.zip", {"ann/safe_softmax.py": b"ann", "ann/helper.py": b"x"})
    assert sources(path) == {"ann": b"ann"}


def test_canvas_names_carry_student_late_mark_and_attempt(tmp_path):
    files = {
        "leeann_4021_900_safe_softmax.py": b"first",
        "leeann_4021_950_safe_softmax-1.py": b"second",
        "bobo_LATE_4022_901_my kernel (1).py": b"bo",
        "anon_aB3x9_902_safe_softmax.py": b"hidden",
        "LATE_anon_Zz11q_903_safe_softmax.py": b"hidden late",
        "dadi_4023_904_work.zip": zip_bytes({"drafts/safe_softmax.py": b"zipped"}),
        "eked_4024_text.html": b"<p>",
        "øreøy_4025_905_safe_softmax.py": b"name",
    }
    intake = taken(zipped(tmp_path / "c.zip", files))
    attempts = by_student(intake)
    assert intake.layout == "canvas"
    assert attempts["4021"].student == Student("4021", "leeann", numbers={"canvas": "4021"})
    assert (attempts["4021"].attempt, attempts["4021"].late) == (2, False)
    assert attempts["4022"].late is True
    assert attempts["anon_aB3x9"].student.numbers == {"canvas_anonymous": "aB3x9"}
    assert attempts["anon_Zz11q"].late is True
    assert attempts["4023"].path == "dadi_4023_904_work.zip/drafts/safe_softmax.py"
    assert attempts["4025"].student.name == "øreøy"
    assert left(intake, "eked_4024_text.html").student == Student("4024", "eked", numbers={"canvas": "4024"})
    assert all(attempt.submitted_at is None for attempt in intake.attempts)


def test_canvas_takes_a_number_in_a_students_own_name_for_a_part_of_it(tmp_path):
    intake = taken(zipped(tmp_path / "c.zip", {"leeann_4021_900_week-2.py": SOURCE}))
    assert [attempt.attempt for attempt in intake.attempts] == [1]


def test_canvas_keeps_every_attempt_where_all_are_wanted(tmp_path):
    files = {
        f"leeann_4021_{900 + number}_safe_softmax{'-' * bool(number)}{number or ''}.py": b"x" for number in range(3)
    }
    intake = taken(zipped(tmp_path / "c.zip", files), which="all")
    assert [attempt.attempt for attempt in intake.attempts] == [1, 2, 3]


def test_canvas_counts_its_files_upwards(tmp_path):
    files = {"leeann_4021_999_safe_softmax.py": b"first", "leeann_4021_1000_safe_softmax.py": b"second"}
    path = zipped(tmp_path / "c.zip", files)
    assert sources(path) == {"4021": b"second"}
    assert "is the latest" in left(taken(path), "leeann_4021_999_safe_softmax.py").reason


@pytest.mark.parametrize("ending", ["/", "_/"])
def test_moodle_has_a_folder_for_each_participant(tmp_path, ending):
    files = {
        f"Ann O'Lee (+)_4021_assignsubmission_file{ending}safe_softmax.py": b"ann",
        f"Ann O'Lee (+)_4021_assignsubmission_file{ending}notes/old.py": b"x",
        f"Bo_4022_assignsubmission_file{ending}mine.py": b"bo",
        "Cy_4023_assignsubmission_onlinetext/onlinetext.html": b"<p>",
    }
    path = zipped(tmp_path / "m.zip", files)
    intake = taken(path)
    assert intake.layout == "moodle"
    assert sources(path) == {"4021": b"ann", "4022": b"bo"}
    assert by_student(intake)["4021"].student == Student("4021", "Ann O'Lee (+)", numbers={"moodle": "4021"})
    assert left(intake, "Cy_4023_assignsubmission_onlinetext").student.id == "4023"


def test_moodle_without_folders(tmp_path):
    files = {
        "Ann Lee_4021_assignsubmission_file_safe_softmax.py": b"ann",
        "Bo_4022_assignsubmission_file_work.zip": zip_bytes({"safe_softmax.py": b"bo"}),
        "Default group_assignsubmission_file_safe_softmax.py": b"rest",
    }
    path = zipped(tmp_path / "m.zip", files)
    assert sources(path) == {"4021": b"ann", "4022": b"bo", "Default group": b"rest"}


@pytest.mark.parametrize("around", ["assignment_310_export/", ""])
def test_gradescope_says_who_and_when(tmp_path, around):
    files = {
        f"{around}submission_metadata.yml": METADATA,
        f"{around}submission_11/safe_softmax.py": b"both",
        f"{around}submission_12/src/mine.py": b"cy",
    }
    path = zipped(tmp_path / "g.zip", files)
    intake = taken(path)
    attempts = by_student(intake)
    assert intake.layout == "gradescope"
    assert [student.id for student in attempts["0042"].students] == ["0042", "bo@example.org"]
    assert attempts["0042"].student == Student("0042", "Ann Lee", "ann@example.org", {"sid": "0042"})
    assert attempts["0042"].students[1].name == "Bo Å"
    assert attempts["0042"].submitted_at == "2026-03-01T09:00:00+00:00"
    assert attempts["77"].submitted_at == "2026-03-02T08:15:00+00:00"
    assert left(intake, "submission_13").student.id == "78"
    assert sources(path) == {"0042": b"both", "77": b"cy"}


def test_gradescope_without_metadata_names_students_after_their_folders(tmp_path):
    intake = taken(folder(tmp_path / "x", {"submission_11/a.py": b"", "submission_12/b.py": b""}))
    assert intake.layout == "gradescope"
    assert sorted(by_student(intake)) == ["submission_11", "submission_12"]
    assert "export again" in left(intake, "submission_metadata.yml").reason


@pytest.mark.parametrize("root", ["course/submitted/", "submitted/", ""])
def test_nbgrader_has_an_assignment_and_a_time_below_each_student(tmp_path, root):
    files = {
        f"{root}ann/safe-softmax/safe_softmax.py": b"ann",
        f"{root}ann/safe-softmax/timestamp.txt": b"2026-02-02 15:58:23.948203 CET\n",
        f"{root}ann/other/safe_softmax.py": b"wrong one",
        f"{root}bo/safe-softmax/mine.py": b"bo",
        f"{root}bo/safe-softmax/timestamp.txt": b"2026-02-02 15:58:23.948203 UTC",
        f"{root}di/safe-softmax/mine.py": b"di",
        f"{root}di/safe-softmax/timestamp.txt": b"2026-02-02 15:58:23",
        f"{root}cy/first/mine.py": b"cy",
        f"{root}cy/second/mine.py": b"cy",
    }
    path = zipped(tmp_path / "n.zip", files)
    intake = taken(path)
    assert intake.layout == "nbgrader"
    assert sources(path) == {"ann": b"ann", "bo": b"bo", "di": b"di"}
    for student in ("bo", "di"):
        assert by_student(intake)[student].submitted_at == "2026-02-02T15:58:23+00:00"
    assert by_student(intake)["ann"].submitted_at is None
    assert "first and second" in left(intake, f"{root}cy").reason


@pytest.mark.parametrize(
    ("places", "graded", "reasons"),
    [
        (
            ("ann/ps1/other.py", "bob/ps1/other.py", "bob/safe_softmax/safe_softmax.py"),
            ["bob"],
            {"ann": "has no assignment safe_softmax (ps1)"},
        ),
        (
            ("ann/ps1/a.py", "bob/ps2/b.py"),
            [],
            dict.fromkeys(
                ("ann", "bob"),
                "is in a course with several assignments (ps1 and ps2), none named safe_softmax; "
                "rename the folder of the one that is meant to safe_softmax",
            ),
        ),
        (
            ("ann/safe-softmax/a.py", "ann/safe_softmax/a.py", "bob/Safe-Softmax/b.py"),
            ["bob"],
            {"ann": "has several folders for safe_softmax (safe-softmax and safe_softmax); keep the one to grade"},
        ),
        (("ann/ps1/a.py", "bob/ps1/b.py"), ["ann", "bob"], {}),
    ],
)
def test_nbgrader_grades_nobody_on_another_assignment_of_the_course(tmp_path, places, graded, reasons):
    intake = taken(folder(tmp_path / "in", {f"submitted/{place}": SOURCE for place in places}))
    assert [attempt.student.id for attempt in intake.attempts] == graded
    assert {one.student.id: one.reason for one in intake.left_out} == reasons


def test_github_classroom_repositories(tmp_path):
    files = {
        "safe-softmax-submissions/safe-softmax-ann-lee/safe_softmax.py": b"ann",
        "safe-softmax-submissions/safe-softmax-ann-lee/tests/test_it.py": b"x",
        "safe-softmax-submissions/safe-softmax-bo/src/safe_softmax.py": b"bo",
        "safe-softmax-submissions/safe-softmax-cy/README.md": b"x",
    }
    path = folder(tmp_path / "in", files)
    intake = taken(path)
    assert intake.layout == "github"
    assert sources(path) == sources(path / "safe-softmax-submissions") == {"ann-lee": b"ann", "bo": b"bo"}
    assert by_student(intake)["bo"].student.numbers == {"github": "bo"}
    assert left(intake, "safe-softmax-submissions/safe-softmax-cy").student.id == "cy"


def test_a_classroom_may_come_before_the_assignment_and_an_unknown_name_is_kept_whole(tmp_path):
    files = {f"safe-softmax-submissions/{name}/safe_softmax.py": b"" for name in ("gpu-safe-softmax-bo-1", "starter")}
    students = by_student(taken(folder(tmp_path / "in", files)))
    assert students["bo-1"].student.numbers == {"github": "bo-1"}
    assert students["starter"].student.numbers == {}


def test_classroom_50_says_who_and_when(tmp_path):
    scores = (
        b"username,first_name,last_name,email,section,score,max_score,datetime,submission_tag,late,override\n"
        b"Ann,Ann,Lee,ann@example.org,,3,5,2026-03-01T10:00:00Z,submit/1,false,\n"
        b"Ann,Ann,Lee,ann@example.org,,4,5,2026-03-03T10:00:00Z,submit/2,true,\n"
        b"bo,,,,,,,,,,\n"
    )
    root = "gpu-26-softmax_submissions_2026_03_04_T_10_00_00"
    files = {
        f"{root}/gpu-26-softmax-ann/safe_softmax.py": b"ann",
        f"{root}/gpu-26-softmax-bo/safe_softmax.py": b"bo",
        f"{root}/scores.csv": scores,
    }
    intake = taken(zipped(tmp_path / "download.zip", files))
    attempts = by_student(intake)
    assert intake.layout == "github"
    assert attempts["ann"].student == Student("ann", "Ann Lee", "ann@example.org", {"github": "ann"})
    assert (attempts["ann"].submitted_at, attempts["ann"].late) == ("2026-03-03T10:00:00+00:00", True)
    assert (attempts["bo"].submitted_at, attempts["bo"].late) == (None, None)
    assert not intake.left_out


def test_a_notebook_is_left_out_with_what_to_hand_in(tmp_path):
    intake = taken(folder(tmp_path / "in", {"ann/safe_softmax.ipynb": b"{}", "bo.py": SOURCE}))
    assert "safe_softmax.py" in left(intake, "ann").reason
    assert left(intake, "ann").student.id == "ann"
    assert [attempt.student.id for attempt in intake.attempts] == ["bo"]


def test_an_empty_folder_is_a_student_who_handed_nothing_in(tmp_path):
    root = folder(tmp_path / "in", {"ann/safe_softmax.py": SOURCE})
    (root / "bo").mkdir()
    (root / "ann" / "notes").mkdir()
    intake = taken(root)
    assert "empty folder" in left(intake, "bo").reason
    assert left(intake, "bo").student.id == "bo"
    assert {attempt.student.id: attempt.problem for attempt in intake.attempts} == {"ann": ""}


@pytest.mark.parametrize(
    ("place", "grades"),
    [
        ("{}/safe_softmax.py", "grades"),
        ("submitted/{}/safe_softmax/safe_softmax.py", "grades"),
        ("{}_4021_900_safe_softmax.py", "out/week 1"),
    ],
)
def test_a_gradebook_beside_the_submissions_is_nobodys(tmp_path, place, grades):
    files = {place.format("ann"): SOURCE, f"{grades}/gradebook.sqlite": b"", f"{grades}/feedback-x/ann.html": b""}
    intake = taken(folder(tmp_path / "in", files))
    assert len(intake.attempts) == 1
    assert [(one.path, one.student) for one in intake.left_out] == [(grades, None)]
    assert "holds a gradebook" in left(intake, grades).reason


def test_a_folder_that_is_named_is_read_although_it_holds_a_gradebook(tmp_path):
    """As with `kata grade . --out .`."""
    files = {"ann/safe_softmax.py": SOURCE, "gradebook.sqlite": b""}
    assert list(sources(folder(tmp_path / "in", files))) == ["ann"]


def test_several_files_are_left_out_and_named(tmp_path):
    intake = taken(folder(tmp_path / "in", {"ann/a.py": b"", "ann/b.py": b"", "bo/a.py": b"", "bo/b.txt": b""}))
    assert "a.py and b.py" in left(intake, "ann").reason
    assert [attempt.path for attempt in intake.attempts] == ["bo/a.py"]


def test_the_katas_own_file_nearest_to_the_top_counts(tmp_path):
    files = {"ann/safe_softmax.py": b"top", "ann/old/safe_softmax.py": b"old", "ann/other.py": b""}
    assert sources(folder(tmp_path / "in", files)) == {"ann": b"top"}


def test_a_layout_can_be_forced(tmp_path):
    path = folder(tmp_path / "in", {"leeann_4021_900_safe_softmax.py": SOURCE})
    assert [attempt.student.id for attempt in taken(path).attempts] == ["4021"]
    forced = taken(path, layout="plain")
    assert [attempt.student.id for attempt in forced.attempts] == ["leeann_4021_900_safe_softmax"]


def test_a_tie_and_an_unknown_layout_name_the_choices(tmp_path):
    files = {"leeann_4021_900_a.py": b"", "Bo_4022_assignsubmission_file_a.py": b""}
    path = folder(tmp_path / "in", files)
    with pytest.raises(IntakeProblem, match=r"canvas and moodle.*--layout"):
        taken(path)
    assert len(taken(path, layout="canvas").attempts) == 1
    with pytest.raises(IntakeProblem, match="plain, canvas, moodle, gradescope, nbgrader, github"):
        taken(path, layout="blackboard")


def test_nothing_recognised_names_the_layouts(tmp_path):
    with pytest.raises(IntakeProblem, match=r"--layout.*gradescope"):
        taken(folder(tmp_path / "in", {"notes.txt": b""}))
    (tmp_path / "empty").mkdir()
    with pytest.raises(IntakeProblem, match="holds no files"):
        taken(tmp_path / "empty")


@pytest.mark.parametrize(
    ("files", "path", "words"),
    [
        ({"dl/e/x/.DS_Store": b""}, "dl/e", "holds no files"),
        ({"dl/e/notes.txt": b""}, "dl/e", "--layout"),
        ({"dl/e/l_1_2_a.py": b"", "dl/e/B_1_assignsubmission_file_a.py": b""}, "dl/e/", "equally well"),
        (
            {"dl/six/a1/safe_softmax.py": SOURCE},
            "dl/six/a1/safe_softmax.py",
            "name the folder that holds all",
        ),
        ({"dl/mine.IPYNB": b"{}"}, "dl/mine.IPYNB", "name the folder that holds all"),
        ({"dl/all.zip": b"<html>"}, "dl/all.zip", "download it again"),
    ],
)
def test_a_refused_download_is_named_as_it_was_given(tmp_path, monkeypatch, files, path, words):
    folder(tmp_path, files)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(IntakeProblem) as caught:
        taken(Path(path))
    assert str(caught.value).startswith(f"{Path(path)}: ")
    assert words in str(caught.value)


def test_the_command_offers_the_layouts_that_there_are():
    """The command names them without importing what reads them."""
    assert tuple(LAYOUTS) == grade.LAYOUTS
