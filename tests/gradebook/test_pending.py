"""What is graded again, and what is not."""

from __future__ import annotations

import sqlite3

import msgspec
import pytest
from gradebook_samples import KATA, SEED, SETTINGS, grade_all, handed_in, report, run_of, take_in, waiting

from tritonkata.gradebook.store import Gradebook
from tritonkata.gradebook.types import Settings, Standing


def earlier_scores(book: Gradebook) -> list[float]:
    """Scores of the reports that were put aside, oldest first, read past the gradebook."""
    connection = sqlite3.connect(book.path)
    try:
        rows = connection.execute("SELECT report FROM earlier_report ORDER BY rowid").fetchall()
    finally:
        connection.close()
    return [msgspec.json.decode(row[0])["score"] for row in rows]


def test_an_unchanged_submission_is_not_pending(book: Gradebook) -> None:
    run = run_of(book)
    assert take_in(book, handed_in("ann"), handed_in("ben")) == 2
    assert grade_all(book, run) == ["ann", "ben"]
    take_in(book, handed_in("ann"), handed_in("ben"))
    assert waiting(book, run_of(book)) == []
    assert book.count(KATA) == 2


def test_changed_bytes_are_pending_and_the_earlier_report_is_kept(book: Gradebook) -> None:
    run = run_of(book)
    take_in(book, handed_in("ann"), handed_in("ben"))
    grade_all(book, run, report(2.0))
    take_in(book, handed_in("ann", b"x = 2\n"), handed_in("ben"))
    (one,) = book.pending(run)
    assert (one.student, one.source) == ("ann", b"x = 2\n")
    assert [record.student.id for record in book.records(KATA)] == ["ben"]
    assert earlier_scores(book) == [2.0]
    book.put_report(one.id, run, report(4.0))
    assert [record.score for record in book.records(KATA)] == [4.0, 2.0]
    assert earlier_scores(book) == [2.0]


def test_what_could_not_be_read_is_pending_until_it_has_its_report(book: Gradebook) -> None:
    run = run_of(book)
    take_in(book, handed_in("ann", None, problem="the archive is damaged"))
    (one,) = book.pending(run)
    assert (one.source, one.problem) == (None, "the archive is damaged")
    grade_all(book, run)
    take_in(book, handed_in("ann", None, problem="the archive is damaged"))
    assert waiting(book, run) == []
    take_in(book, handed_in("ann", None, problem="the archive needs a password"))
    assert waiting(book, run) == ["ann"]
    grade_all(book, run)
    take_in(book, handed_in("ann", b"the archive needs a password"))
    assert waiting(book, run) == ["ann"]


@pytest.mark.parametrize(
    "other",
    [
        Settings("gpu", "digest"),
        Settings("interpreter", "another digest"),
        Settings("interpreter", "digest", target="gfx942"),
        Settings("interpreter", "digest", recompile=True),
        Settings("interpreter", "digest", sandbox=False),
    ],
)
def test_other_settings_make_everything_pending_and_keep_the_reports(book: Gradebook, other: Settings) -> None:
    run = run_of(book)
    take_in(book, handed_in("ann"), handed_in("ben"))
    grade_all(book, run)
    changed = run_of(book, settings=other)
    assert changed.id != run.id
    assert waiting(book, changed) == ["ann", "ben"]
    assert len(list(book.records(KATA))) == 2
    grade_all(book, changed, report(1.0))
    assert [record.score for record in book.records(KATA)] == [1.0, 1.0]
    assert earlier_scores(book) == [3.0, 3.0]


def test_another_seed_makes_everything_pending(book: Gradebook) -> None:
    take_in(book, handed_in("ann"))
    grade_all(book, run_of(book))
    assert waiting(book, run_of(book, SEED + 1)) == ["ann"]


def test_the_same_settings_are_the_same_run(book: Gradebook) -> None:
    first = run_of(book)
    assert run_of(book) == first
    assert run_of(book, None) == first
    assert run_of(book, attempts="best") == msgspec.structs.replace(first, attempts="best")


def test_a_seed_is_drawn_once_for_each_kata(book: Gradebook) -> None:
    first = run_of(book, None)
    assert run_of(book, None).seed == first.seed
    assert run_of(book, None, Settings("gpu", "digest")).seed == first.seed
    assert book.run("tripled", SETTINGS, None).seed != first.seed
    assert 0 <= first.seed < 2**63


def test_without_a_seed_that_of_the_run_used_last_goes_on(book: Gradebook) -> None:
    run_of(book, 1)
    run_of(book, 2)
    assert run_of(book, 1).id == 1
    assert run_of(book, None).seed == 1


def test_a_fault_of_the_grader_is_pending_again(book: Gradebook) -> None:
    run = run_of(book)
    take_in(book, handed_in("ann"), handed_in("ben"))
    first, second = book.pending(run)
    book.put_report(first.id, run, report(verdict="grader_error"))
    book.put_report(second.id, run, report(verdict="error"))
    assert waiting(book, run) == ["ann"]
    assert [record.report.verdict for record in book.records(KATA)] == ["grader_error", "error"]
    grade_all(book, run)
    assert waiting(book, run) == []


def test_katas_do_not_touch_each_other(book: Gradebook) -> None:
    run = run_of(book)
    other = book.run("tripled", SETTINGS, SEED)
    take_in(book, handed_in("ann"))
    book.take_in("tripled", [handed_in("ann")], [])
    grade_all(book, run)
    assert waiting(book, other) == ["ann"]
    take_in(book)
    assert (book.count(KATA), book.count("tripled")) == (0, 1)
    assert book.katas() == (KATA, "tripled")
    assert list(book.records("tripled")) == []


@pytest.mark.parametrize(
    ("choice", "asked"),
    [
        ({"students": ["ann"]}, ["ann"]),
        ({"students": ["cem"]}, ["ben"]),
        ({"students": ["nobody"]}, []),
        ({"verdict": "fail"}, ["ann"]),
        ({"diagnosis": "tripled"}, ["ann"]),
        ({"verdict": "fail", "students": ["ben"]}, []),
        ({}, ["ann", "ben"]),
    ],
)
def test_those_who_are_to_be_graded_again_keep_their_reports_until_then(
    book: Gradebook, choice: dict[str, list[str] | str], asked: list[str]
) -> None:
    run = run_of(book)
    take_in(book, handed_in("ann"), handed_in("ben+cem"))
    first, second = book.pending(run)
    book.put_report(first.id, run, report(1.0))
    book.put_report(second.id, run, report(5.0, "pass", None))
    whom = {"students": None, "verdict": None, "diagnosis": None, **choice}
    assert book.ask_again(KATA, **whom) == len(asked)  # type: ignore[arg-type]
    assert waiting(book, run) == asked
    assert book.standing(KATA) == Standing(submissions=2, waiting=len(asked))
    assert [one.score for one in book.records(KATA)] == [1.0, 5.0]
    assert grade_all(book, run, report(2.0)) == asked
    assert waiting(book, run) == []
    assert book.standing(KATA) == Standing(submissions=2)
    assert len(earlier_scores(book)) == len(asked)


def test_a_group_that_is_filed_under_another_still_waits(book: Gradebook) -> None:
    run = run_of(book)
    take_in(book, handed_in("ann+ben", file="doubled.py"))
    grade_all(book, run)
    book.ask_again(KATA, None, None, None)
    take_in(book, handed_in("ben", file="doubled.py"))
    assert waiting(book, run) == ["ben"]
    assert len(list(book.records(KATA))) == 1


def test_the_last_run_is_the_one_used_last(book: Gradebook) -> None:
    assert book.last_run(KATA) is None
    take_in(book, handed_in("ann"), handed_in("ben"))
    first, second = run_of(book, 1), run_of(book, 2, attempts="best")
    grade_all(book, first)
    grade_all(book, run_of(book, 2, attempts="best"))
    assert book.last_run(KATA) == second
    book.ask_again(KATA, None, None, None)
    assert book.last_run(KATA) == second


def test_the_last_run_stays_when_all_its_reports_are_to_be_made_again(book: Gradebook) -> None:
    take_in(book, handed_in("ann"), handed_in("gone"))
    grade_all(book, run_of(book, 1))
    take_in(book, handed_in("ann"))
    second = run_of(book, 2)
    grade_all(book, second)
    book.ask_again(KATA, ["ann"], None, None)
    assert book.last_run(KATA) == second


def test_one_who_is_graded_again_after_the_kata_changed_leaves_the_others_alone(book: Gradebook) -> None:
    take_in(book, handed_in("ann"), handed_in("ben"))
    grade_all(book, run_of(book))
    changed = run_of(book, settings=msgspec.structs.replace(SETTINGS, course="another"))
    book.ask_again(KATA, ["ann"], None, None)
    assert [one.student for one in book.pending(changed, stale=False)] == ["ann"]
    assert waiting(book, changed) == ["ann", "ben"]
