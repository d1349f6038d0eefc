"""Results of one record for Gradescope, PrairieLearn and Classroom 50, held against their documented fields."""

from __future__ import annotations

import json
import re
from datetime import datetime

import pytest
from export_samples import (
    SEED,
    each_kind,
    error_report,
    failed_report,
    grader_fault_report,
    hostile_record,
    make_record,
    make_report,
    overridden,
    right_report,
)
from feedback_samples import SOURCE, check, fault, make_kata, passed, speed_report

from tritonkata.exports import classroom50, gradescope, prairielearn
from tritonkata.exports.classroom50 import Place
from tritonkata.exports.words import ExportProblem
from tritonkata.model.report import CheckResult

KINDS = each_kind()
VISIBILITIES = {"hidden", "after_due_date", "after_published", "visible"}
FORMATS = {"text", "html", "simple_format", "md", "ansi"}
GRADESCOPE = {
    "score": (int, float),
    "execution_time": int,
    "output": str,
    "output_format": FORMATS,
    "test_output_format": FORMATS,
    "test_name_format": FORMATS,
    "visibility": VISIBILITIES,
    "stdout_visibility": VISIBILITIES,
    "extra_data": dict,
    "tests": list,
    "leaderboard": list,
}
GRADESCOPE_TEST = {
    "score": (int, float),
    "max_score": (int, float),
    "status": {"passed", "failed"},
    "name": str,
    "output": str,
    "output_format": FORMATS,
    "visibility": VISIBILITIES,
    "extra_data": dict,
}
PRAIRIELEARN = {
    "gradable": bool,
    "score": float,
    "message": str,
    "output": str,
    "format_errors": list,
    "tests": list,
}
PRAIRIELEARN_TEST = {
    "name": str,
    "description": str,
    "points": float,
    "max_points": float,
    "message": str,
    "output": str,
}
PLACE = Place(
    "cs", "softmax", "submit/2025-03-01-abc", "https://x/c", "https://x/r", "https://x/v", "ada", "individual"
)
HIDDEN = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b\u202a-\u202e\u2066-\u2069]")


def fits(value, fields):
    """Whether an object has known fields only, each of its type or among its words."""
    assert value.keys() <= fields.keys()
    for name, found in value.items():
        allowed = fields[name]
        if isinstance(allowed, set):
            assert found in allowed, name
        else:
            assert isinstance(found, allowed if allowed is not float else (int, float)), name
    return True


def texts_of(value):
    if isinstance(value, dict):
        value = [*value.keys(), *value.values()]
    if isinstance(value, list):
        return [text for part in value for text in texts_of(part)]
    return [value] if isinstance(value, str) else []


def for_gradescope(record, folder, **options):
    return json.loads(gradescope.to_json(record, make_kata(folder), SOURCE, **options))


def for_prairielearn(record, folder):
    text = prairielearn.to_json(record, make_kata(folder), SOURCE)
    assert len(text.encode()) <= 1_000_000
    return json.loads(text)


@pytest.mark.parametrize("kind", KINDS)
def test_gradescope_gets_only_documented_fields(kind, tmp_path):
    result = for_gradescope(KINDS[kind], tmp_path)
    assert fits(result, GRADESCOPE)
    assert all(fits(test, GRADESCOPE_TEST) for test in result["tests"])
    assert all(line.keys() <= {"name", "value", "order"} for line in result["leaderboard"])
    # Without a total score every test needs one, or the run counts as failed: that is for the grader's faults.
    assert "score" in result or KINDS[kind].report.verdict == "grader_error"


@pytest.mark.parametrize("kind", KINDS)
def test_no_platform_learns_the_seed(kind, tmp_path):
    record = KINDS[kind]
    texts = [gradescope.to_json(record, make_kata(tmp_path)), prairielearn.to_json(record, make_kata(tmp_path))]
    texts += [classroom50.to_json(record, PLACE)] if kind not in ("grader_error", "grader_error_with_checks") else []
    assert all(str(SEED) not in text for text in texts)


def test_gradescope_shows_each_check_with_its_explanation_and_points(tmp_path):
    result = for_gradescope(make_record(failed_report()), tmp_path)
    by_check = {test["extra_data"]["check"]: test for test in result["tests"]}
    assert {name: test["status"] for name, test in by_check.items()} == {
        "compiles": "passed",
        "values": "failed",
        "strided": "failed",
        "wide": "failed",
    }
    assert sum(test["score"] for test in result["tests"]) == result["score"] == 1
    assert "0.73106" in by_check["values"]["output"]
    assert "Explained under" in by_check["strided"]["output"]
    assert by_check["wide"]["output"].lower().count("not run") == 1
    assert all(test["visibility"] == "visible" for test in result["tests"])
    assert "Full size" in result["output"]


def test_gradescope_can_hide_the_tests_until_a_date(tmp_path):
    result = for_gradescope(make_record(), tmp_path, visibility="after_due_date")
    assert {test["visibility"] for test in result["tests"]} == {"after_due_date"}


def test_a_leaderboard_is_for_right_kernels(tmp_path):
    board = for_gradescope(make_record(), tmp_path)["leaderboard"]
    assert board == [
        {"name": "Traversals", "value": 3, "order": "asc"},
        {"name": "Fraction of a copy", "value": 0.97, "order": "desc"},
    ]
    assert for_gradescope(make_record(failed_report(speed=speed_report())), tmp_path)["leaderboard"] == []
    assert for_gradescope(KINDS["bare"], tmp_path)["leaderboard"] == []


@pytest.mark.parametrize("kind", ["grader_error", "grader_error_with_checks"])
def test_gradescope_gets_no_score_where_the_grader_failed(kind, tmp_path):
    result = for_gradescope(KINDS[kind], tmp_path)
    assert "score" not in result
    assert "grader failed" in result["output"]
    assert any("score" not in test for test in result["tests"])


def test_a_check_that_could_not_be_run_is_an_infrastructure_fault_in_words():
    result = json.loads(gradescope.fault_json("kata check took too long <b>\x1b[2J"))
    assert fits(result, GRADESCOPE)
    assert "score" not in result
    assert all("score" not in test for test in result["tests"])
    assert "no fault of the submission" in result["output"]
    assert not HIDDEN.search(result["output"])


def test_a_score_set_by_hand_wins_on_every_platform(tmp_path):
    record = overridden(make_report(passed(), CheckResult("b", "B", "race", 0, 9)), score=7.5, reason="Appeal <b>")
    result = for_gradescope(record, tmp_path)
    assert result["score"] == 7.5
    assert "set to 7.5 by Prof. Tan" in result["output"]
    result = for_prairielearn(record, tmp_path)
    assert result["score"] == 0.75
    assert "set to 7.5 by Prof. Tan" in result["message"]
    result = json.loads(classroom50.to_json(record, PLACE))
    assert (result["score"], result["max-score"]) == (15, 20)
    assert any("set to 7.5 by Prof. Tan" in test["test-name"] for test in result["tests"])


@pytest.mark.parametrize("kind", KINDS)
def test_prairielearn_gets_only_documented_fields(kind, tmp_path):
    result = for_prairielearn(KINDS[kind], tmp_path)
    assert fits(result, PRAIRIELEARN)
    assert all(fits(test, PRAIRIELEARN_TEST) for test in result["tests"])
    assert result["gradable"] is ("score" in result)
    assert 0 <= result.get("score", 0) <= 1


def test_prairielearn_takes_neither_points_nor_an_attempt_for_what_cannot_be_graded(tmp_path):
    for found, words in ((error_report(), "could be graded"), (grader_fault_report(), "grader failed")):
        result = for_prairielearn(make_record(found), tmp_path)
        assert result["gradable"] is False
        assert words in result["format_errors"][0]


def test_prairielearn_never_gets_more_than_one_for_a_bonus(tmp_path):
    assert for_prairielearn(overridden(right_report(), score=99), tmp_path)["score"] == 1


def test_a_score_by_hand_without_any_check_cannot_be_a_share(tmp_path):
    result = for_prairielearn(overridden(grader_fault_report()), tmp_path)
    assert result["gradable"] is False
    assert "by hand" in result["message"]


def test_the_longest_texts_are_cut_to_fit_a_megabyte(tmp_path):
    def wordy(place: int, size: int) -> CheckResult:
        bad = fault("runtime_error", message=f"{place} " + "\u4f60" * size, error=f"E{place}", line=place + 1)
        return check("runtime_error", name=f"c{place}", fault=bad)

    found = make_report(passed(), *(wordy(place, 1990 if place % 2 else 40) for place in range(600)))
    result = for_prairielearn(make_record(found), tmp_path)
    lengths = {test["name"]: len(test["output"]) for test in result["tests"]}
    assert max(lengths.values()) < 1990
    outputs = {test["name"]: test["output"] for test in result["tests"]}
    assert "shortened" in outputs["c1"]
    assert "shortened" not in outputs["c2"]


@pytest.mark.parametrize("kind", KINDS)
def test_classroom50_results_hold_its_contract(kind):
    if kind in ("grader_error", "grader_error_with_checks"):
        with pytest.raises(ExportProblem, match="grader failed"):
            classroom50.to_json(KINDS[kind], PLACE)
        return
    result = json.loads(classroom50.to_json(KINDS[kind], PLACE))
    assert result["schema"] == "classroom50/result/v1"
    strings = ("classroom", "assignment", "submission", "commit", "release", "review", "datetime", "owner")
    assert all(isinstance(result[name], str) and result[name] for name in strings)
    assert result["submission"].startswith("submit/")
    assert datetime.fromisoformat(result["datetime"]).utcoffset() is not None
    for row in (result, *result["tests"]):
        assert type(row["score"]) is int
        assert type(row["max-score"]) is int
        assert 0 <= row["score"] <= row["max-score"]
    assert all(type(test["passed"]) is bool and test["test-name"] for test in result["tests"])


def test_classroom50_counts_what_was_not_run_as_not_passed():
    result = json.loads(classroom50.to_json(make_record(failed_report()), PLACE))
    assert [test["passed"] for test in result["tests"]] == [True, False, False, False]
    assert not all(test["passed"] for test in json.loads(classroom50.to_json(KINDS["error"], PLACE))["tests"])


@pytest.mark.parametrize(
    ("points", "expected"), [((0.5, 1.0), (1, 2)), ((1 / 3, 1.0), (1, 3)), ((2.0, 4.0), (2, 4)), ((0.1, 0.25), (2, 5))]
)
def test_fractions_of_points_become_whole_together(points, expected):
    found = make_report(CheckResult("a", "A", "pass", *points))
    result = json.loads(classroom50.to_json(make_record(found), PLACE))
    assert (result["score"], result["max-score"]) == expected
    assert (result["tests"][0]["score"], result["tests"][0]["max-score"]) == expected


def test_the_time_of_submission_never_moves_when_it_is_known():
    known = json.loads(classroom50.to_json(make_record(graded_at="2025-09-09T09:09:09+00:00"), PLACE))
    assert known["datetime"] == "2025-03-01T23:59:59Z"
    assert known["graded_at"] == "2025-09-09T09:09:09Z"


def test_the_runner_of_classroom50_says_where_a_submission_stands():
    place = classroom50.place_of({"CLASSROOM": "cs", "COMMIT_URL": "https://x/c", "OWNER": "ada"})
    assert (place.classroom, place.review, place.owner) == ("cs", "https://x/c", "ada")


def test_hostile_text_is_harmless_everywhere(tmp_path):
    record = hostile_record()
    for result in (
        for_gradescope(record, tmp_path),
        for_prairielearn(record, tmp_path),
        json.loads(classroom50.to_json(record, PLACE)),
    ):
        assert not any(HIDDEN.search(text) for text in texts_of(result))
    result = for_gradescope(record, tmp_path)
    markdown = "\n".join([result["output"], *(test["output"] for test in result["tests"])])
    assert "script" in markdown
    outside_code = re.sub(r"`[^`\n]+`", "", markdown.replace("\\`", ""))
    assert not re.search(r"(?<!\\)<(script|b)>", outside_code)
    assert not re.search(r"^# head", markdown, re.MULTILINE)
    assert not re.search(r"(?<!\\)\]\(javascript", markdown)


@pytest.mark.parametrize("kind", ["failed", "error", "grader_error", "override", "hostile"])
def test_all_passed_is_never_said_of_less(kind, tmp_path):
    for result in (for_gradescope(KINDS[kind], tmp_path), for_prairielearn(KINDS[kind], tmp_path)):
        assert not re.search(r"\ball (the )?(\d+ )?(tests|checks) passed", " ".join(texts_of(result)), re.IGNORECASE)


def test_what_this_machine_cannot_run_is_said_beside_all_passed(tmp_path):
    found = right_report(unavailable={"Full size": "needs the engine gpu"})
    result = for_gradescope(make_record(found), tmp_path)
    assert "All 2 checks that can run here passed" in result["output"]
    assert "Not run: Full size" in result["output"]
