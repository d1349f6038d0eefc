"""CSV of our own, JSON Lines, and the cells of every CSV file."""

from __future__ import annotations

import csv
import io
import json
import re

import pytest
from export_samples import (
    ADA,
    BOB,
    FORMULAS,
    SEED,
    each_kind,
    error_report,
    failed_report,
    grader_fault_report,
    hostile_record,
    make_record,
    overridden,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from tritonkata.exports import csv as own_csv
from tritonkata.exports import jsonl
from tritonkata.exports.cells import cell, guarded
from tritonkata.model.record import Student

KINDS = each_kind()
STARTS_A_FORMULA = re.compile(r"""["'\s]*[=+\-@\uff1d\uff0b\uff0d\uff20\t\r]""")
NUMBER = re.compile(r"[+-]?\d+([.,]\d+)?(e[+-]?\d+)?")


def rows_of(write, *records):
    file = io.StringIO(newline="")
    warnings = write(iter(records), file)
    return list(csv.DictReader(io.StringIO(file.getvalue(), newline=""))), warnings


def is_safe(text: str) -> bool:
    return text.startswith("'") or STARTS_A_FORMULA.match(text) is None or NUMBER.fullmatch(text) is not None


@pytest.mark.parametrize("text", FORMULAS)
def test_a_cell_never_starts_a_formula(text):
    assert guarded(text).startswith("'")


@pytest.mark.parametrize("text", ["-5", "+4.25", "12", "1,5", "Ada", "a=b", "O'Hara", 'say "hi"', ""])
def test_numbers_and_plain_text_stay_as_they_are(text):
    assert guarded(text) == text


@settings(deadline=None)
@given(st.text())
def test_any_text_is_one_safe_line(text):
    shown = guarded(text)
    assert is_safe(shown)
    assert shown.isprintable()


@settings(deadline=None)
@given(st.floats(allow_nan=False, allow_infinity=False, width=32) | st.integers(-(10**9), 10**9))
def test_a_number_is_read_back_as_the_same_number(value):
    assert float(cell(value)) == pytest.approx(value, rel=1e-9)


def test_one_row_a_submission_with_everything_in_its_column():
    (row,), warnings = rows_of(own_csv.write, make_record(failed_report(), ADA, BOB, late=False, attempt=2))
    assert warnings == ()
    assert tuple(row) == own_csv.COLUMNS
    assert (row["student"], row["students"], row["name"]) == ("ada", "ada; bob", "Ada Lovelace")
    assert (row["verdict"], row["score"], row["max_score"], row["medal"]) == ("fail", "1", "6", "none")
    assert (row["diagnosis"], row["late"], row["attempt"]) == ("columns_dropped", "no", "2")
    assert (row["checks_passed"], row["checks_failed"], row["checks_not_run"]) == ("1", "2", "2")
    assert row["submitted_at"] == "2025-03-01T23:59:59+00:00"
    assert row["override"] == ""


def test_an_unknown_late_mark_is_an_empty_cell():
    (row,), _ = rows_of(own_csv.write, make_record())
    assert row["late"] == ""


def test_a_score_set_by_hand_wins_and_says_so():
    (row,), _ = rows_of(own_csv.write, overridden(score=7.5))
    assert (row["score"], row["override"], row["graded_score"]) == ("7.5", "7.5", "1")
    assert row["override_reason"] == "Regraded after appeal"
    assert row["override_author"] == "Prof. Tan"


def test_a_fault_of_the_grader_has_words_and_no_score():
    (row,), (warning,) = rows_of(own_csv.write, make_record(grader_fault_report()))
    assert (row["verdict"], row["score"], row["graded_score"]) == ("grader_error", "", "")
    assert "grader failed" in row["outcome"]
    assert warning.startswith("ada: the grader failed")


def test_what_could_not_be_graded_is_a_zero_of_the_student():
    (row,), warnings = rows_of(own_csv.write, make_record(error_report()))
    assert (row["verdict"], row["score"], warnings) == ("error", "0", ())


def test_one_row_a_check_with_those_that_did_not_run():
    rows, _ = rows_of(own_csv.write_checks, make_record(failed_report()))
    assert [(row["check"], row["verdict"], row["points"]) for row in rows] == [
        ("compiles", "pass", "1"),
        ("values", "wrong_output", "0"),
        ("strided", "wrong_output", "0"),
        ("wide", "skipped", "0"),
        ("", "unavailable", ""),
    ]
    rows, _ = rows_of(own_csv.write_checks, make_record(error_report()))
    assert [(row["check"], row["verdict"]) for row in rows] == [("submission", "compile_error")]


@pytest.mark.parametrize("write", [own_csv.write, own_csv.write_checks])
@pytest.mark.parametrize("text", [*FORMULAS, "\x1b[31mred \u202eevil\x00", 'a,b;"c"\nd', "Ω 你好"])
def test_every_cell_is_safe_whatever_stands_in_it(write, text):
    rows, _ = rows_of(write, hostile_record(text))
    for row in rows:
        assert None not in row
        for value in row.values():
            assert is_safe(value)
            assert value.isprintable()


def test_records_are_not_held():
    file = io.StringIO()

    def stream():
        for number in range(3):
            lines = file.getvalue().count("\n")
            assert lines >= number  # the earlier ones are written, and so is the header
            yield make_record()

    own_csv.write(stream(), file)
    assert file.getvalue().count("\n") == 4


@pytest.mark.parametrize("kind", KINDS)
def test_a_json_line_has_what_a_script_needs(kind):
    record = KINDS[kind]
    text = jsonl.to_line(record)
    assert text.isascii()
    assert text.isprintable()
    line = json.loads(text)
    needed = {"student", "kata", "verdict", "score", "max_score", "medal", "submitted_at", "graded_at", "diagnosis"}
    assert needed <= line.keys()
    assert line["student"] == record.student.id
    assert line["verdict"] == record.report.verdict
    assert "seed" not in text
    assert str(SEED) not in text


def test_json_lines_give_null_for_what_is_not_there():
    file = io.StringIO()
    warnings = jsonl.write([make_record(grader_fault_report()), KINDS["bare"], overridden(grader_fault_report())], file)
    fault, bare, by_hand = map(json.loads, file.getvalue().splitlines())
    assert fault["score"] is None
    assert fault["fault"] == "the launcher ended: out of memory"
    assert len(warnings) == 1
    assert bare["traversals"] is None
    assert bare["fraction_of_copy"] is None
    assert bare["submitted_at"] is None
    assert (by_hand["score"], by_hand["graded_score"]) == (7.5, None)
    assert by_hand["override"]["reason"] == "Regraded after appeal"


@settings(deadline=None)
@given(st.text(alphabet=st.characters(exclude_categories=["Cs"]), min_size=1))
def test_any_student_id_comes_back_from_a_json_line(student_id):
    line = jsonl.to_line(make_record(None, Student(student_id)))
    assert json.loads(line)["student"] == student_id
    assert "\n" not in line
