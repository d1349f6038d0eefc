"""What a gradebook says of a class."""

from __future__ import annotations

import sqlite3

import msgspec
import pytest
from gradebook_samples import KATA, SEED, SETTINGS, grade_all, handed_in, report, run_of, take_in, waiting
from msgspec.structs import replace

from tritonkata.gradebook.opening import open_gradebook
from tritonkata.gradebook.store import Gradebook
from tritonkata.gradebook.types import GradebookProblem, LeftOut, Settings, Standing
from tritonkata.model.record import Override, Record, Student

TWELVE = Override(12.0, "graded by hand", "T. A.", "2030-02-01T00:00:00+00:00")


def only(book: Gradebook) -> Record:
    (record,) = book.records(KATA)
    return record


def test_a_record_comes_back_whole(book: Gradebook) -> None:
    ann = Student("ann", "Ann Ü", "ann@example.org", {"canvas": "101"})
    handed = msgspec.structs.replace(handed_in("ann", late=True, attempt=3), students=(ann,))
    take_in(book, handed)
    found = report(4.5)
    grade_all(book, run_of(book), found)
    path = book.path.parent
    with open_gradebook(path) as again:
        record = only(again)
        assert again.source(KATA, record) == "x = 1\n"
    assert record.students == (ann,)
    assert record.report == found
    assert (record.file, record.attempt, record.late) == ("ann/doubled.py", 3, True)
    assert record.submitted_at == "2029-12-01T12:00:00+00:00"
    assert (record.score, record.max_score, record.diagnosis, record.override) == (4.5, 5.0, "tripled", None)


@pytest.mark.parametrize("late", [True, False, None])
def test_late_is_what_the_platform_said(book: Gradebook, late: bool | None) -> None:
    take_in(book, handed_in("ann", late=late))
    grade_all(book, run_of(book))
    assert only(book).late is late


@pytest.mark.usefixtures("clock")
def test_grading_again_moves_its_own_time_and_never_that_of_submission(book: Gradebook) -> None:
    take_in(book, handed_in("ann"))
    grade_all(book, run_of(book))
    first = only(book)
    book.ask_again(KATA, ["ann"], None, None)
    grade_all(book, run_of(book))
    second = only(book)
    assert second.submitted_at == first.submitted_at == "2029-12-01T12:00:00+00:00"
    assert second.graded_at > first.graded_at


@pytest.mark.usefixtures("clock")
def test_taking_in_again_moves_no_time_of_grading(book: Gradebook) -> None:
    take_in(book, handed_in("ann"))
    grade_all(book, run_of(book))
    first = only(book)
    take_in(book, handed_in("ann"))
    assert only(book) == first


def test_a_later_submission_has_its_own_time(book: Gradebook) -> None:
    take_in(book, handed_in("ann"))
    grade_all(book, run_of(book))
    take_in(book, handed_in("ann", b"x = 2\n", submitted_at="2029-12-02T00:00:00+00:00", late=True))
    grade_all(book, run_of(book))
    assert (only(book).submitted_at, only(book).late) == ("2029-12-02T00:00:00+00:00", True)


def test_a_score_by_hand_wins_and_the_report_stays(book: Gradebook) -> None:
    take_in(book, handed_in("ann"), handed_in("ben"))
    grade_all(book, run_of(book), report(3.0))
    book.override(KATA, "ann", TWELVE)
    ann, ben = book.records(KATA)
    assert (ann.score, ann.report.score, ann.override) == (12.0, 3.0, TWELVE)
    assert (ben.score, ben.override) == (3.0, None)


def test_the_last_decision_counts_and_outlives_a_new_grade(book: Gradebook) -> None:
    take_in(book, handed_in("ann"))
    grade_all(book, run_of(book))
    book.override(KATA, "ann", TWELVE)
    zero = Override(0.0, "copied", "T. A.", "2030-02-02T00:00:00+00:00")
    book.override(KATA, "ann", zero)
    assert only(book).override == zero
    take_in(book, handed_in("ann", b"x = 3\n"))
    grade_all(book, run_of(book), report(5.0))
    assert (only(book).score, only(book).report.score) == (0.0, 5.0)


def test_a_score_by_hand_can_be_taken_back_and_every_decision_is_kept(book: Gradebook) -> None:
    take_in(book, handed_in("ann"))
    grade_all(book, run_of(book))
    book.override(KATA, "ann", TWELVE)
    book.override(KATA, "ann", None, "a mistake of mine", "T. A.")
    assert (only(book).score, only(book).override) == (3.0, None)
    connection = sqlite3.connect(book.path)
    kept = connection.execute("SELECT student, score, reason, author FROM override ORDER BY id").fetchall()
    connection.close()
    assert kept == [("ann", 12.0, "graded by hand", "T. A."), ("ann", None, "a mistake of mine", "T. A.")]


def test_a_score_by_hand_needs_a_submission_of_this_kata(book: Gradebook) -> None:
    take_in(book, handed_in("ann"))
    with pytest.raises(GradebookProblem, match="zoe has no submission to doubled"):
        book.override(KATA, "zoe", TWELVE)
    with pytest.raises(GradebookProblem, match="ann has no submission to tripled"):
        book.override("tripled", "ann", TWELVE)


def test_students_of_a_group_share_one_record(book: Gradebook) -> None:
    take_in(book, handed_in("ann+ben"), handed_in("cem"))
    grade_all(book, run_of(book))
    group, single = book.records(KATA)
    assert [one.id for one in group.students] == ["ann", "ben"]
    assert group.student.id == "ann"
    assert [one.id for one in single.students] == ["cem"]


def scores(book: Gradebook, attempts: str = "latest") -> dict[str, float]:
    return {one.id: record.score for record in book.records(KATA, attempts) for one in record.students}


def test_a_group_in_another_order_is_not_graded_again(book: Gradebook) -> None:
    take_in(book, handed_in("ann+ben", file="one.py"))
    run = run_of(book)
    grade_all(book, run, report(2.0))
    take_in(book, handed_in("ben+ann", file="one.py"))
    assert list(book.pending(run)) == []
    assert scores(book) == {"ann": 2.0, "ben": 2.0}


@pytest.mark.parametrize("now", ["cem+ben", "ben", "ada+ben+cem", "ann"])
def test_a_file_of_a_group_is_not_graded_again_when_its_members_change(book: Gradebook, now: str) -> None:
    place = {"file": "group-7/doubled.py"}
    take_in(book, handed_in("ann+ben+cem", **place))
    run = run_of(book)
    first = report(score=2.0)
    first = msgspec.structs.replace(first, submission=msgspec.structs.replace(first.submission, student="ann"))
    assert grade_all(book, run, first) == ["ann"]
    take_in(book, handed_in(now, **place))
    assert waiting(book, run) == []
    (record,) = book.records(KATA)
    assert {one.id for one in record.students} == set(now.split("+"))
    assert (record.score, record.report.submission.student) == (2.0, min(now.split("+")))


@pytest.mark.parametrize("other", [{"source": b"y = 1\n"}, {"file": "group-8/doubled.py"}, {"source": None}])
def test_another_file_of_a_changed_group_is_graded(book: Gradebook, other: dict[str, object]) -> None:
    take_in(book, handed_in("ann+ben", file="group-7/doubled.py"))
    run = run_of(book)
    grade_all(book, run)
    take_in(book, handed_in("ben", **{"file": "group-7/doubled.py", **other}))
    assert waiting(book, run) == ["ben"]


def test_a_score_by_hand_is_one_students_and_not_the_groups(book: Gradebook) -> None:
    take_in(book, handed_in("ann+ben+cem"))
    grade_all(book, run_of(book), report(3.0))
    book.override(KATA, "ben", TWELVE)
    assert scores(book) == {"ann": 3.0, "ben": 12.0, "cem": 3.0}
    assert [[one.id for one in record.students] for record in book.records(KATA)] == [["ann", "cem"], ["ben"]]


@pytest.mark.parametrize("attempts", ["latest", "best"])
def test_a_score_by_hand_stays_with_its_student_whoever_they_hand_in_with(book: Gradebook, attempts: str) -> None:
    take_in(book, handed_in("ann+ben", file="one.py"))
    grade_all(book, run_of(book), report(2.0))
    book.override(KATA, "ben", TWELVE)
    for submitted in (
        [handed_in("ben+ann", file="one.py")],
        [handed_in("ann", b"x = 2\n", file="two.py"), handed_in("ben", file="one.py")],
        [handed_in("ben", b"x = 4\n", file="three.py", attempt=2), handed_in("ann+ben", file="one.py")],
    ):
        take_in(book, *submitted)
        grade_all(book, run_of(book), report(2.0))
        assert scores(book, attempts) == {"ann": 2.0, "ben": 12.0}


def test_a_score_by_hand_needs_a_submission_in_the_last_download(book: Gradebook) -> None:
    """What is kept of an earlier one does not count, so neither would the decision."""
    take_in(book, handed_in("ann"), handed_in("ben"))
    take_in(book, handed_in("ben"))
    with pytest.raises(GradebookProblem, match="ann has no submission to doubled in the last download"):
        book.override(KATA, "ann", TWELVE)
    assert (book.students(KATA), book.students(KATA, present=False)) == ({"ben"}, {"ann"})


def test_what_has_no_report_is_counted(book: Gradebook) -> None:
    take_in(book, handed_in("ann"), handed_in("ben"), handed_in("cem"))
    assert book.standing(KATA) == Standing(submissions=3, ungraded=3)
    run = run_of(book)
    book.put_report(next(book.pending(run)).id, run, report(1.0))
    assert book.standing(KATA) == Standing(submissions=3, ungraded=2)
    take_in(book, handed_in("ann"))
    assert book.standing(KATA) == Standing(submissions=1)


@pytest.mark.parametrize(
    ("seed", "settings", "counted"),
    [
        (SEED, SETTINGS, {}),
        (SEED, replace(SETTINGS, course="another"), {"earlier": 1}),
        (SEED + 1, replace(SETTINGS, course="another"), {"earlier": 1}),
        (SEED + 1, SETTINGS, {"other": 1}),
        (SEED, replace(SETTINGS, engine="gpu"), {"other": 1}),
    ],
)
def test_reports_that_are_not_of_the_last_run_are_counted(
    book: Gradebook, seed: int, settings: Settings, counted: dict[str, int]
) -> None:
    take_in(book, handed_in("ann"), handed_in("ben"), handed_in("gone"))
    grade_all(book, run_of(book))
    take_in(book, handed_in("ann"), handed_in("ben"), handed_in("cem"))
    last = run_of(book, seed, settings)
    book.put_report(1, last, report())
    assert book.standing(KATA) == Standing(submissions=3, ungraded=1, **counted)


def test_the_best_attempt_is_chosen_and_the_first_of_equals(book: Gradebook) -> None:
    run = run_of(book, attempts="best")
    files = {"a": 2.0, "b": 4.0, "c": 4.0}
    attempts = [handed_in("ann", file=f"ann/{name}.py", attempt=n) for n, name in enumerate(files, 1)]
    take_in(book, *attempts, handed_in("ben"))
    for one in book.pending(run):
        book.put_report(one.id, run, report(files.get(one.file[4:5], 1.0)))
    assert [(record.file, record.score) for record in book.records(KATA, "best")] == [
        ("ann/b.py", 4.0),
        ("ben/doubled.py", 1.0),
    ]
    assert [record.attempt for record in book.records(KATA, "all")] == [1, 2, 3, 1]


def test_each_member_of_a_group_has_their_own_best_attempt(book: Gradebook) -> None:
    run = run_of(book, attempts="best")
    scores = {"group.py": 3.0, "own.py": 4.0, "late.py": 1.0}
    take_in(
        book,
        handed_in("ann+ben+cem", file="group.py"),
        handed_in("ben", file="own.py"),
        handed_in("cem", file="late.py"),
    )
    for one in book.pending(run):
        book.put_report(one.id, run, report(scores[one.file]))
    best = list(book.records(KATA, "best"))
    found = {record.file: [one.id for one in record.students] for record in best}
    assert found == {"group.py": ["ann", "cem"], "own.py": ["ben"]}
    assert all(book.source(KATA, record) == "x = 1\n" for record in best)


def test_what_is_no_longer_in_the_download_is_kept_and_not_counted(book: Gradebook) -> None:
    run = run_of(book)
    take_in(book, handed_in("ann"), handed_in("ben"), left_out=[LeftOut("ben/notes.txt", "ben", "is no Python file")])
    grade_all(book, run)
    take_in(book, handed_in("ann"))
    assert book.count(KATA) == 1
    assert [record.student.id for record in book.records(KATA)] == ["ann"]
    assert book.left_out(KATA) == []
    take_in(book, handed_in("ann"), handed_in("ben"))
    assert waiting(book, run) == []
    assert [record.student.id for record in book.records(KATA)] == ["ann", "ben"]


def test_what_was_left_out_is_that_of_the_last_download(book: Gradebook) -> None:
    rows = [LeftOut("x.txt", "", "is no Python file"), LeftOut("", "204", "no submission", "Zoë Lee")]
    take_in(book, handed_in("ann"), left_out=rows)
    assert book.left_out(KATA) == rows
    take_in(book, handed_in("ann"), left_out=rows[:1])
    assert book.left_out(KATA) == rows[:1]


def test_a_download_that_cannot_be_read_to_its_end_changes_nothing(book: Gradebook) -> None:
    take_in(book, handed_in("ann"), left_out=[LeftOut("x", "", "y")])

    def torn() -> object:
        yield handed_in("ben")
        raise OSError("the share went away")

    with pytest.raises(OSError, match="went away"):
        book.take_in(KATA, torn(), [])  # type: ignore[arg-type]
    assert waiting(book, run_of(book)) == ["ann"]
    assert book.left_out(KATA) == [LeftOut("x", "", "y")]


@pytest.mark.parametrize("source", [b"# \xff\xfe\n", "# ü\n".encode(), b""])
def test_the_bytes_of_a_submission_come_back(book: Gradebook, source: bytes) -> None:
    take_in(book, handed_in("ann", source))
    run = run_of(book)
    assert [one.source for one in book.pending(run)] == [source]
    grade_all(book, run)
    assert book.source(KATA, only(book)) == source.decode("utf-8", errors="replace")


def test_what_could_not_be_read_has_no_source(book: Gradebook) -> None:
    take_in(book, handed_in("ann", None, problem="the archive is damaged"))
    grade_all(book, run_of(book))
    assert book.source(KATA, only(book)) is None
