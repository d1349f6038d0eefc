"""What the page says of a class: counts, mistakes, and who may be named."""

from __future__ import annotations

import re

import msgspec
import pytest
from export_samples import (
    ADA,
    BOB,
    EVE,
    error_report,
    failed_report,
    grader_fault_report,
    hostile_record,
    make_record,
    make_report,
    overridden,
    right_report,
)
from feedback_samples import UNIT, check, passed, traffic_report
from page_samples import SEED, SLUG, a_class, gathered, kata

from tritonkata.courses import load_course
from tritonkata.gradebook.types import LeftOut
from tritonkata.model.faults import Fault, Verdict
from tritonkata.model.observation import Level
from tritonkata.model.report import CheckResult
from tritonkata.page.charts import bins_of
from tritonkata.page.contents import page_of
from tritonkata.page.gather import gather
from tritonkata.page.people import Named, Numbered

WHO = (ADA, BOB, EVE)


def contents(*records, people=None, left_out=()):
    named = people or Named()
    return page_of(gather(records, kata(), named), kata(), tuple(left_out), is_anonymous=named.is_anonymous)


def of(report, student, **changes):
    return make_record(report, student, file=f"{student.id}/safe_softmax.py", **changes)


def test_checks_are_counted_where_they_ran():
    skipped = CheckResult("values", "Check of values", "skipped", 0, 1)
    spoilt = check("grader_error")
    found = gather(
        [
            of(make_report(passed("values")), ADA),
            of(make_report(check("wrong_output")), BOB),
            of(make_report(skipped), EVE),
            of(make_report(spoilt), EVE),
        ],
        kata(),
        Named(),
    )
    (rate,) = found.checks
    assert (rate.failed, rate.ran, rate.skipped, rate.rate) == (1, 2, 2, 0.5)


def test_a_part_tells_apart_what_failed_what_passed_and_what_did_not_run():
    skipped = CheckResult("wide", "Very wide rows", "skipped", 0, 1, None, "not run, because 'values' did not pass")
    part = gather(
        [of(make_report(passed(), check("race"), check("grader_error", name="x"), skipped), ADA)], kata(), Named()
    ).parts[0]
    assert [(line.title, line.result, line.mood) for line in part.failed] == [
        ("Check of values", "race", "fail"),
        ("Check of x", "the grader failed here", "error"),
    ]
    assert part.passed == ("Check of compiles",)
    assert part.skipped == ("Very wide rows",)


def test_checks_that_most_fail_come_first():
    report = make_report(passed("easy"), check("wrong_output", name="hard"))
    found = gather([of(report, ADA)], kata(), Named())
    assert [one.title for one in found.checks] == ["Check of hard", "Check of easy"]


def test_a_mistake_has_its_sentence_and_those_who_show_it():
    model = make_report(
        check("wrong_output", "no_max_subtraction"), check("wrong_output", "no_max_subtraction", name="b")
    )
    page = contents(of(right_report(), ADA), of(model, BOB), of(model, EVE))
    (mistake,) = page.mistakes
    assert mistake.name == "no_max_subtraction"
    assert mistake.description == "The row maximum is not subtracted before exp."
    assert [page.rows[number - 1].part.name for number in mistake.parts] == [
        "Bob Müller (bob)",
        "Eve (O'Hara) + Söhne / [x] (eve)",
    ]


def test_a_mistake_without_a_model_has_the_headline_of_its_feedback():
    page = contents(of(make_report(check("wrong_output", "columns_dropped")), ADA))
    assert page.mistakes[0].description == "The end of each row is never written"


@pytest.mark.parametrize("verdict", ["wrong_output", "timeout", "race", "over_budget", "too_slow", "forbidden_host_op"])
def test_a_failure_without_a_name_is_told_by_its_verdict(verdict: Verdict):
    (row,) = contents(of(make_report(check(verdict)), ADA)).mistakes
    assert row.name == verdict.replace("_", " ")
    assert not row.is_named
    assert row.description


def test_a_file_that_cannot_be_read_is_no_code_that_went_wrong():
    unread = error_report()
    unread = msgspec.structs.replace(
        unread,
        submission=msgspec.structs.replace(unread.submission, sha256=""),
        fault=Fault("runtime_error", "load", "ann.py: is empty"),
    )
    raised = msgspec.structs.replace(error_report(), fault=Fault("runtime_error", "load", "no", "ValueError", 3))
    page = contents(of(unread, ADA), of(raised, BOB))
    told = {row.name: (row.parts, row.description) for row in page.mistakes}
    assert told["unreadable file"][0] == (1,)
    assert "cannot be read as Python" in told["unreadable file"][1]
    assert told["runtime error"] == ((2,), "The file or a call ends in an error.")


def test_a_file_that_cannot_be_read_makes_no_second_engine():
    engine = right_report().engine
    unread = msgspec.structs.replace(error_report(), engine=msgspec.structs.replace(engine, triton="", torch=""))
    first, second = (
        contents(*found).subtitle for found in ([of(right_report(), ADA)], [of(right_report(), ADA), of(unread, BOB)])
    )
    assert second == first
    assert "Engine: " in contents(of(unread, BOB)).subtitle


def test_the_time_of_grading_has_its_zone():
    early, late = (f"2026-11-30T18:{minute}:00+00:00" for minute in (17, 45))
    one = of(right_report(), ADA, graded_at=early)
    assert contents(one).subtitle.startswith("Graded 2026-11-30 18:17, UTC. ")
    both = contents(one, of(right_report(), BOB, graded_at=late))
    assert both.subtitle.startswith("Graded 2026-11-30 18:17 to 2026-11-30 18:45, UTC. ")


@pytest.mark.parametrize(
    ("scores", "words"),
    [
        ([99], " 1 score lies outside 0 to 6 and is drawn at the end."),
        ([-1, 6.25], " 2 scores lie outside 0 to 6 and are drawn at the end."),
        ([0, 6], ""),
    ],
)
def test_scores_outside_of_the_picture_are_told(scores, words):
    page = contents(*(overridden(score=score) for score in scores))
    assert page.scores is not None
    told = page.scores.caption.partition("of 6.")[2]
    assert told == words
    assert "outside" not in page.scores.caption or page.scores.caption in page.scores.picture


def test_a_file_that_cannot_be_graded_is_told_once():
    (row,) = contents(of(error_report(), ADA)).mistakes
    assert (row.name, row.parts) == ("compile error", (1,))


def test_a_fault_of_the_grader_is_nobodys_mistake():
    page = contents(of(grader_fault_report(), ADA), of(right_report(), BOB))
    assert page.mistakes == ()
    assert page.rows[0].score == ""
    assert page.scores is not None
    assert "1 submission without a score" in page.scores.caption
    assert ("grader failed", "1") in page.figures


def test_without_any_score_there_is_no_distribution():
    assert contents(of(grader_fault_report(), ADA)).scores is None


def test_the_score_that_counts_is_the_one_set_by_hand():
    page = contents(overridden(failed_report(), score=3.5))
    assert page.rows[0].score == "3.5"
    assert "Regraded after appeal" in page.rows[0].part.override
    assert "The grader gave 1" in page.rows[0].part.override


@pytest.mark.parametrize(
    ("scores", "most", "counted"),
    [
        ([0, 4, 5, 5], 5.0, {0: 1, 4: 1, 5: 2}),
        ([-3, 99], 5.0, {0: 1, 5: 1}),
        ([100.0, 99.9], 100.0, {95: 1, 100: 1}),
        ([0.5, 0.999], 1.0, {0.5: 1, 0.95: 1}),
        ([0.0], 0.0, {0: 1}),
    ],
)
def test_scores_are_sorted_into_bars(scores, most, counted):
    bins = bins_of(scores, most)
    assert {round(one.first, 6): one.count for one in bins if one.count} == counted
    assert sum(one.count for one in bins) == len(scores)
    assert len(bins) <= 21


def test_the_traffic_is_what_the_budget_counts():
    moved = make_report(passed(), traffic=traffic_report(Level(3 * UNIT, UNIT)))
    assert gather([of(moved, ADA)], kata(), Named()).parts[0].traversals == 4
    loads_only = load_course().kata("online_math")
    assert loads_only.file.traffic.counts == "loads"
    assert gather([of(moved, ADA)], loads_only, Named()).parts[0].traversals == 3


def test_a_class_without_a_gpu_is_told_so(tmp_path):
    with a_class(tmp_path, 20, timed=False) as book:
        page = page_of(gathered(book), kata(), (), is_anonymous=False)
    assert page.traffic.title == "Traffic"
    assert any("needs a GPU" in line for line in page.traffic.remarks)
    assert page.traffic.picture is not None
    assert "% of a copy" not in page.traffic.picture
    assert not page.has_speed


def test_a_class_with_a_gpu_sees_par_budget_and_the_copy(tmp_path):
    with a_class(tmp_path, 20) as book:
        page = page_of(gathered(book), kata(), (), is_anonymous=False)
    picture = page.traffic.picture
    assert picture is not None
    for words in ("par 2", "budget 4", ">copy<", "% of a copy"):
        assert words in picture


def test_an_outlier_is_told_and_drawn_at_the_edge():
    reports = [make_report(passed(), traffic=traffic_report(Level(loads * UNIT, UNIT))) for loads in (1, 500)]
    page = contents(of(reports[0], ADA), of(reports[1], BOB))
    assert "1 submission beyond the right edge" in page.traffic.caption
    assert page.traffic.picture is not None
    places = [float(x) for x in re.findall(r'<rect[^>]* x="([\d.]+)"', page.traffic.picture)]
    assert all(0 <= x <= 640 for x in places)


def test_a_group_is_one_row_and_several_students():
    page = contents(make_record(right_report(), ADA, BOB))
    assert page.table_caption.startswith("1 submission of 2 students")
    assert page.rows[0].part.name == "Ada Lovelace (ada); Bob Müller (bob)"


def test_rows_stand_by_name_with_numbers_by_their_size():
    students = [msgspec.structs.replace(ADA, id=f"s{place}", name="") for place in (10, 9, 100)]
    page = contents(*(of(right_report(), one) for one in students))
    assert [row.part.name for row in page.rows] == ["s9", "s10", "s100"]
    assert [row.part.number for row in page.rows] == [1, 2, 3]


def all_text(value) -> str:
    return msgspec.json.encode(value, enc_hook=str).decode()


def test_anonymous_names_nobody():
    said = "Ada Lovelace's ADA/safe_softmax.py: ada@example.org wrote 5001, as ada did; Lovelace again"
    wrong = msgspec.structs.replace(check("wrong_output"), message=said)
    record = overridden(make_report(wrong), reason="Ada was ill")
    people = Numbered(["ada", "bob"], SEED)
    text = all_text(contents(record, people=people)).lower()
    for name in ("ada", "lovelace", "5001", "prof", "tan\\b", "safe_softmax.py"):
        assert not re.search(rf"\b{name}", text), name
    assert "was ill" in text


def test_anonymous_hostile_text_is_struck_out_too():
    record = hostile_record(
        "Zoë (x) [a-z]* ZOË", students=[msgspec.structs.replace(ADA, id="zoë", name="Zoë (x) [a-z]*")]
    )
    people = Numbered(["zoë"], SEED)
    assert "zoë" not in all_text(contents(record, people=people)).lower()


def test_numbers_are_the_same_each_time_and_do_not_follow_the_ids():
    ids = [f"s{place:03}" for place in range(100)]
    first, again, other = Numbered(ids, SEED), Numbered(reversed(ids), SEED), Numbered(ids, SEED + 1)
    names = [[people.name(msgspec.structs.replace(ADA, id=own)) for own in ids] for people in (first, again, other)]
    assert names[0] == names[1] != names[2]
    assert len(set(names[0])) == 100
    assert names[0] != sorted(names[0], key=lambda name: int(name.split()[1]))


def test_the_order_of_anonymous_parts_is_that_of_the_numbers(tmp_path):
    with a_class(tmp_path, 30) as book:
        ids = [record.student.id for record in book.records(SLUG)]
        parts = gathered(book, Numbered(ids, SEED)).parts
    assert [part.name for part in parts] == [f"Student {place}" for place in range(1, 31)]
    assert [part.number for part in parts] == list(range(1, 31))


@pytest.mark.parametrize(
    ("path", "student", "reason", "shown"),
    [
        ("ann/x.py", "ann", "is an earlier attempt; ann/y.py is the latest", "is an earlier attempt"),
        ("", "ann", "handed nothing in", "handed nothing in"),
        ("ann/x.py", "ann", "ann is here twice and nothing says which is newer; z is graded", None),
        ("Ann Lee_12/x.txt", "", "Lee handed in a text", None),
        ("a", "", "is replaced by other/x.py", None),
        ("", "ann", "Ophelia handed in a text", None),
    ],
)
def test_anonymous_reasons_name_nobody(path, student, reason, shown):
    people = Numbered(["ann"], SEED)
    told = people.left_out(LeftOut(path, student, reason, "Ann Ophelia" if student else ""))
    assert told.path == ""
    assert told.student == ("Student 1" if student else "")
    assert told.reason == (shown or "not shown, since it names a file or a person")


@pytest.mark.parametrize(
    ("student", "name", "shown"),
    [("204", "Cy Lee", "Cy Lee (204)"), ("cy", "cy", "cy"), ("cy", "", "cy"), ("", "", "")],
)
def test_who_was_left_out_has_the_name_that_is_known(student, name, shown):
    told = Named().left_out(LeftOut("x.txt", student, "is no Python file", name))
    assert (told.path, told.student, told.reason) == ("x.txt", shown, "is no Python file")
