"""Which attempt of a student is graded, and who is missing."""

from __future__ import annotations

import unicodedata

import msgspec
import pytest
from packing import SOURCE, folder, taken, zipped

from tritonkata.intake import Attempt, IntakeProblem, read_roster
from tritonkata.intake.choose import absent, choose
from tritonkata.intake.members import Entry, Member
from tritonkata.model.record import Student


def attempt(path, *ids, at=None, number=1):
    member = Member((path,), 1, "", Entry(path, 1))
    return Attempt(tuple(Student(one) for one in ids), path, member, submitted_at=at, attempt=number)


def summary(attempts):
    return [(one.path, tuple(student.id for student in one.students), one.attempt) for one in attempts]


def test_the_latest_by_time_is_graded_and_the_others_are_named():
    early = attempt("1.py", "ann", at="2026-03-01T10:00:00+00:00")
    late = attempt("0.py", "ann", at="2026-03-02T10:00:00+00:00")
    chosen = choose([late, early], "latest")
    assert summary(chosen.attempts) == [("0.py", ("ann",), 2)]
    assert [(one.path, one.student.id) for one in chosen.left_out] == [("1.py", "ann")]
    assert "0.py is the latest" in chosen.left_out[0].reason


def test_the_latest_by_number_is_graded_where_the_platform_numbers():
    chosen = choose([attempt("b.py", "ann", number=1), attempt("a.py", "ann", number=3)], "latest")
    assert summary(chosen.attempts) == [("a.py", ("ann",), 3)]
    assert "is the latest" in chosen.left_out[0].reason


@pytest.mark.parametrize(
    "times", [(None, None), ("2026-03-01T10:00:00+00:00", None), ("2026-03-01T10:00:00+00:00",) * 2]
)
def test_a_student_who_is_there_twice_is_named_where_nothing_says_which_is_newer(times):
    chosen = choose([attempt(f"{place}.py", "ann", at=at) for place, at in enumerate(times)], "latest")
    assert len(chosen.attempts) == 1
    assert "ann is here twice" in chosen.left_out[0].reason
    assert chosen.attempts[0].path in chosen.left_out[0].reason


@pytest.mark.parametrize("which", ["best", "all"])
def test_every_attempt_is_kept_for_grading_to_decide(which):
    attempts = [attempt(f"{day}.py", "ann", at=f"2026-03-0{day}T10:00:00+00:00") for day in (3, 1, 2)]
    chosen = choose([*attempts, attempt("bo.py", "bo")], which)
    assert summary(chosen.attempts) == [
        ("1.py", ("ann",), 1),
        ("2.py", ("ann",), 2),
        ("3.py", ("ann",), 3),
        ("bo.py", ("bo",), 1),
    ]
    assert not chosen.left_out


def test_a_member_of_a_group_with_a_later_attempt_of_their_own_leaves_the_groups_to_the_others():
    group = attempt("group.py", "ann", "bo", at="2026-03-01T10:00:00+00:00")
    alone = attempt("alone.py", "bo", at="2026-03-02T10:00:00+00:00")
    chosen = choose([group, alone], "latest")
    assert summary(chosen.attempts) == [("group.py", ("ann",), 1), ("alone.py", ("bo",), 1)]
    assert [(one.path, one.student.id) for one in chosen.left_out] == [("group.py", "bo")]


def test_the_latest_attempt_of_a_student_may_be_filed_under_another_of_their_group():
    group = attempt("group.py", "ann", "bo", at="2026-03-02T10:00:00+00:00")
    alone = attempt("alone.py", "bo", at="2026-03-01T10:00:00+00:00")
    chosen = choose([group, alone], "latest")
    assert summary(chosen.attempts) == [("group.py", ("ann", "bo"), 1)]
    assert [(one.path, one.student.id) for one in chosen.left_out] == [("alone.py", "bo")]


def test_the_order_of_the_download_changes_nothing():
    attempts = [attempt(f"{place}.py", "ann" if place % 2 else "bo", number=place) for place in range(1, 7)]
    assert choose(attempts, "latest") == choose(attempts[::-1], "latest")


def test_students_of_the_roster_without_a_submission_are_listed(tmp_path):
    roster = tmp_path / "roster.csv"
    roster.write_text(
        '\ufeffEmail,ID,Name\r\nann@example.org,1,Ann\r\nbo@example.org,2,"Bo, jr"\r\ncy@x.org,4021,Cy\r\n'
    )
    students = read_roster(roster)
    assert students[1] == Student("2", "Bo, jr", "bo@example.org")
    files = {"cyc_4021_1_safe_softmax.py": SOURCE, "ann_1_2_safe_softmax.ipynb": b""}
    intake = taken(zipped(tmp_path / "c.zip", files), roster=students)
    missing = [one for one in intake.left_out if one.reason == "no submission"]
    assert [(one.path, one.student.id) for one in missing] == [("", "2")]


def test_a_roster_names_students_by_id_email_or_number():
    ann = msgspec.structs.replace(
        attempt("a.py", "ann"), students=(Student("ann", "", "Ann@Example.org", {"sid": "7"}),)
    )
    for name in ("ann", "ANN", "7"):
        assert not list(absent([ann], [], [Student(name)]))
    assert not list(absent([ann], [], [Student("other", email="ann@example.org")]))
    assert [one.student.id for one in absent([ann], [], [Student("bo")])] == ["bo"]


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize("header", ["id{0}name{0}email\r\n", ""])
def test_a_roster_has_commas_semicolons_or_tabs(tmp_path, delimiter, header):
    """Excel writes semicolons where a comma is in numbers, and tabs when asked for text."""
    roster = tmp_path / "roster.csv"
    rows = header.format(delimiter) + delimiter.join(("1", '"Lee, Ann; jr"', "ann@x.org")) + "\r\n2\r\n"
    roster.write_bytes(rows.encode("utf-8-sig"))
    assert read_roster(roster) == (Student("1", "Lee, Ann; jr", "ann@x.org"), Student("2"))


def test_a_name_that_only_looks_like_a_heading_is_a_students(tmp_path):
    roster = tmp_path / "roster.csv"
    roster.write_text("1,Idris Rename,name@example.org\n2,Enid\n")
    assert [one.id for one in read_roster(roster)] == ["1", "2"]
    roster.write_text("2,Idris Rename\n")
    assert [one.id for one in read_roster(roster)] == ["2"]


def test_a_roster_without_a_header_has_id_name_and_email(tmp_path):
    roster = tmp_path / "roster.csv"
    roster.write_text("1,Ann,ann@example.org\n\n2\n")
    assert read_roster(roster) == (Student("1", "Ann", "ann@example.org"), Student("2"))


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"id\n1\n1\n", "row 3.*second time"),
        (b"id,name\n,Ann\n", "row 2.*no id"),
        (b"\xff\xfe1\x00", "no CSV in UTF-8"),
        (b"Student ID,Name,Email\n1,Ann,ann@x.org\n", "row 1 has no column id: Student ID, Name, Email; name"),
        (b"SID,Name\n1,Ann\n", "row 1 has no column id: SID, Name; name"),
        (b"\nSurname;First name;ID number;Email address\n", "row 2 has no column id: Surname, First name, ID number"),
        (b"Student ID\n1\n", "row 1 has no column id: Student ID"),
    ],
)
def test_a_roster_that_cannot_be_used_says_where(tmp_path, content, words):
    roster = tmp_path / "roster.csv"
    roster.write_bytes(content)
    with pytest.raises(IntakeProblem, match=words):
        read_roster(roster)
    with pytest.raises(IntakeProblem, match="correct the path"):
        read_roster(tmp_path / "missing.csv")


JOSE, APART = (unicodedata.normalize(form, "josé") for form in ("NFC", "NFD"))


@pytest.mark.parametrize(
    "place",
    [
        "{}/safe_softmax.py",
        "submitted/{}/safe_softmax/safe_softmax.py",
        "safe-softmax-submissions/safe-softmax-{}/safe_softmax.py",
        "{}_assignsubmission_file/safe_softmax.py",
    ],
)
def test_accents_that_stand_apart_make_nobody_another_person(tmp_path, place):
    """As macOS writes names; a roster and a terminal may have them in one piece."""
    roster = tmp_path / "roster.csv"
    for number, (own, expected) in enumerate([(APART, JOSE), (JOSE, APART)]):
        path = folder(tmp_path / str(number), {place.format(name): SOURCE for name in (own, "zoe")})
        roster.write_text(f"id,name\n{expected},José\n", encoding="utf-8")
        intake = taken(path, roster=read_roster(roster))
        assert [one.student.id for one in intake.attempts] == [JOSE, "zoe"]
        assert not intake.left_out


def test_two_folders_that_become_one_student_are_here_twice(tmp_path):
    intake = taken(folder(tmp_path / "in", {f"{name}/safe_softmax.py": SOURCE for name in (JOSE, APART)}))
    assert [one.student.id for one in intake.attempts] == [JOSE]
    assert f"{JOSE} is here twice" in intake.left_out[0].reason
    every = taken(tmp_path / "in", which="all")
    assert len({one.path for one in every.attempts}) == 2


def test_a_student_in_a_file_and_a_folder_is_named(tmp_path):
    intake = taken(folder(tmp_path / "in", {"ann.py": b"", "ann/safe_softmax.py": b"", "bo.py": b""}))
    assert [one.student.id for one in intake.attempts] == ["ann", "bo"]
    assert "twice" in intake.left_out[0].reason
