"""Canvas's gradebook and Moodle's worksheet: the right cell of the right person, and nothing else."""

from __future__ import annotations

import csv
import io
import unicodedata

import pytest
from export_samples import (
    ADA,
    BOB,
    EVE,
    FORMULAS,
    error_report,
    failed_report,
    grader_fault_report,
    make_record,
    overridden,
    right_report,
)
from feedback_samples import make_kata

from tritonkata.exports import canvas, moodle
from tritonkata.exports.words import ExportProblem
from tritonkata.model.record import Student

GRADEBOOK = """\
Student,ID,SIS User ID,SIS Login ID,Section,Reading (7),Safe softmax (42),Current Score
    Points Possible,,,,,10,2,(read only)
"Lovelace, Ada",101,S1,ada,"Tue, 9:00",9.5,,88
Bob Müller,102,S2,bob,Wed,,1.5,70
"O'Hara ""Eve"" (x)",103,S3,eve,Wed,,,
"Student, Test",104,,4f3e,Wed,,,
"""
WORKSHEET = """\
Identifier,Full name,Email address,Status,Grade,Maximum grade,Grade can be changed,Last modified (submission),\
Last modified (grade),Feedback comments
Participant 5001,Ada Lovelace,ada@example.org,Submitted,,2.00,Yes,"Saturday, 1 March 2025, 11:59 PM",-,
Participant 5002,Bob Müller,bob@example.org,Submitted,1.00,2.00,Yes,-,-,"old, ""good"" one"
Participant 5003,"Eve, X",eve@example.org,No submission,,2.00,Yes,-,-,
"""
GERMAN = """\
ID,Vollständiger Name,E-Mail-Adresse,Status,Bewertung,Bestwertung,Bewertung kann geändert werden,\
Zuletzt geändert (Abgabe),Zuletzt geändert (Bewertung),Feedback als Kommentar
Teilnehmer/in5001,Ada Lovelace,ada@example.org,Zur Bewertung abgegeben,,"2,00",Ja,-,-,
Teilnehmer/in5002,Bob Müller,bob@example.org,Zur Bewertung abgegeben,,"2,00",Ja,-,-,
"""


def parsed(text, delimiter=","):
    return list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter))


def for_canvas(folder, *records, gradebook=GRADEBOOK, **options):
    file = io.StringIO(newline="")
    warnings = canvas.write(iter(records), make_kata(folder), file, gradebook, **options)
    return parsed(file.getvalue()), warnings


def for_moodle(*records, worksheet=WORKSHEET, **options):
    file = io.StringIO(newline="")
    warnings = moodle.write(iter(records), file, worksheet, **options)
    return parsed(file.getvalue()), warnings


def changed(before, after):
    """The cells that differ, by row and column."""
    return {
        (row, column): new
        for row, (old_row, new_row) in enumerate(zip(before, after, strict=True))
        for column, (old, new) in enumerate(zip(old_row, new_row, strict=True))
        if old != new
    }


def test_only_the_cells_of_graded_students_change(tmp_path):
    rows, warnings = for_canvas(tmp_path, make_record(right_report(), ADA), make_record(right_report(), EVE))
    assert changed(parsed(GRADEBOOK), rows) == {(2, 6): "2", (4, 6): "2"}
    assert warnings == ()


@pytest.mark.parametrize(
    ("student", "row"),
    [
        (Student("x", numbers={"canvas": "103"}), 4),
        (Student("x", numbers={"sid": "s2"}), 3),
        (Student("103"), 4),
        (Student("S1"), 2),
        (Student("EVE"), 4),
        (Student("nobody", "Bob  Müller"), 3),
        (Student("nobody", "Ada Lovelace"), 2),
        # The number is surer than the name.
        (Student("x", "Bob Müller", numbers={"canvas": "101"}), 2),
    ],
)
def test_a_row_is_found_by_id_then_sis_or_login_id_then_name(tmp_path, student, row):
    rows, warnings = for_canvas(tmp_path, make_record(right_report(), student))
    assert warnings == ()
    found = changed(parsed(GRADEBOOK), rows)
    assert found == {(row, 6): "2"}


@pytest.mark.parametrize(("own", "theirs"), [("NFC", "NFD"), ("NFD", "NFC")])
def test_a_name_is_found_whichever_way_its_accents_are_written(tmp_path, own, theirs):
    """As one character, or as macOS writes names, apart from their letters."""
    record = make_record(right_report(), Student("nobody", unicodedata.normalize(own, "Bob Müller")))
    rows, warnings = for_canvas(tmp_path, record, gradebook=unicodedata.normalize(theirs, GRADEBOOK))
    assert (rows[3][6], warnings) == ("2", ())
    rows, warnings = for_moodle(record, worksheet=unicodedata.normalize(theirs, WORKSHEET))
    assert (rows[2][4], [line for line in warnings if "no row" in line]) == ("2", [])


def test_who_is_not_in_the_gradebook_is_named(tmp_path):
    rows, warnings = for_canvas(tmp_path, make_record(right_report(), Student("zoe", "Zoë")))
    assert rows == parsed(GRADEBOOK)
    assert warnings == ("zoe: no row matches in the Canvas gradebook; enter the score by hand",)


def test_an_id_that_is_two_peoples_is_nobodys(tmp_path):
    book = GRADEBOOK.replace("103,S3,eve", "103,S3,101")
    rows, (warning,) = for_canvas(tmp_path, make_record(right_report(), Student("101")), gradebook=book)
    assert rows == parsed(book)
    assert warning.startswith("101: 2 rows match")


def test_two_students_never_share_a_row(tmp_path):
    records = (make_record(right_report(), ADA), make_record(failed_report(), Student("other", "Ada Lovelace")))
    rows, warnings = for_canvas(tmp_path, *records)
    assert rows[2][6] == "2"
    assert any(warning.startswith("other: the row matches ada as well") for warning in warnings)


@pytest.mark.parametrize("order", [1, -1])
def test_the_latest_attempt_counts_in_any_order(tmp_path, order):
    records = [make_record(failed_report(), ADA), make_record(right_report(), ADA, attempt=2)][::order]
    for book in (GRADEBOOK, None):
        rows, warnings = for_canvas(tmp_path, *records, gradebook=book)
        assert rows[2][6 if book else 5] == "2"
        assert any("attempt 2 counts" in warning for warning in warnings)


def test_everyone_of_a_group_gets_the_score(tmp_path):
    rows, _ = for_canvas(tmp_path, make_record(right_report(), ADA, BOB))
    assert (rows[2][6], rows[3][6]) == ("2", "2")


def test_a_fault_of_the_grader_leaves_the_cell_and_is_named(tmp_path):
    record = make_record(grader_fault_report(), ADA)
    for table, warnings in (for_canvas(tmp_path, record), for_moodle(record)):
        assert table in (parsed(GRADEBOOK), parsed(WORKSHEET))
        assert warnings[0].startswith("ada: the grader failed")
    made, warnings = for_canvas(tmp_path, record, gradebook=None)
    assert made[2][5] == ""
    assert len(warnings) == 1


def test_what_cannot_be_graded_is_a_zero_and_a_score_by_hand_wins(tmp_path):
    rows, _ = for_canvas(tmp_path, make_record(error_report(), ADA))
    assert rows[2][6] == "0"
    for book in (GRADEBOOK, None):
        rows, warnings = for_canvas(tmp_path, overridden(grader_fault_report(), score=7.5), gradebook=book)
        assert rows[2][6 if book else 5] == "7.5"
        assert "set to 7.5 by Prof. Tan" in warnings[0]


def test_another_maximum_on_the_platform_is_said_and_nothing_is_scaled(tmp_path):
    rows, (warning,) = for_canvas(tmp_path, make_record(right_report(max_score=20.0, score=16.0), ADA))
    assert rows[2][6] == "16"
    assert "Points Possible is 2" in warning
    assert "points of 20" in warning


@pytest.mark.parametrize("column", ["Reading (7)", "reading", "7"])
def test_the_column_can_be_named(tmp_path, column):
    rows, _ = for_canvas(tmp_path, make_record(right_report(), ADA), column=column)
    assert (rows[2][5], rows[2][6]) == ("2", "")


@pytest.mark.parametrize(
    ("book", "words"),
    [
        ("", "is empty"),
        ("a,b\n1,2\n", "does not begin with the columns Student and ID"),
        (GRADEBOOK.replace("Safe softmax (42)", "Essay (9)"), "it has: 'Reading .7.', 'Essay .9.'"),
        (GRADEBOOK.replace("Reading (7)", "Safe softmax (7)"), "2 columns are the assignment"),
        (GRADEBOOK + '"open', "is no CSV"),
    ],
)
def test_a_file_that_is_no_gradebook_is_refused_with_the_reason(tmp_path, book, words):
    with pytest.raises(ExportProblem, match=words):
        for_canvas(tmp_path, make_record(), gradebook=book)


def test_a_semicolon_file_with_a_mark_of_order_keeps_its_form(tmp_path):
    book = "\ufeff" + GRADEBOOK.replace("Tue, 9:00", "Tue").replace("Lovelace, Ada", "Ada Lovelace").replace(",", ";")
    file = io.StringIO(newline="")
    canvas.write([make_record(right_report(), ADA)], make_kata(tmp_path), file, book)
    assert changed(parsed(book.removeprefix("\ufeff"), ";"), parsed(file.getvalue(), ";")) == {(2, 6): "2"}


def test_a_made_gradebook_has_canvas_own_form(tmp_path):
    rows, warnings = for_canvas(tmp_path, make_record(right_report(), ADA, BOB), gradebook=None)
    assert rows == [
        ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", "Safe softmax"],
        ["    Points Possible", "", "", "", "", "2"],
        ["Ada Lovelace", "101", "S1", "ada@example.org", "", "2"],
        ["Bob Müller", "102", "S2", "bob@example.org", "", "2"],
    ]
    assert warnings == ()


@pytest.mark.parametrize("text", FORMULAS)
def test_a_made_gradebook_is_no_place_for_formulas(tmp_path, text):
    student = Student(text, text, text, {"canvas": text, "sid": text})
    rows, _ = for_canvas(tmp_path, make_record(right_report(), student), gradebook=None)
    assert all(cell.startswith("'") for cell in rows[2][:4])


def test_a_worksheet_gets_the_grade_and_a_comment():
    rows, warnings = for_moodle(make_record(right_report(), ADA), overridden(right_report(), score=1.5))
    found = changed(parsed(WORKSHEET), rows)
    assert set(found) == {(1, 4), (1, 9)}
    assert found[1, 4] == "1.5"
    assert "set to 1.5 by Prof. Tan" in found[1, 9]
    assert any("several records" in warning for warning in warnings)


@pytest.mark.parametrize(
    ("student", "row"),
    [
        (Student("x", numbers={"moodle": "5003"}), 3),
        (Student("x", email="BOB@example.org"), 2),
        (Student("5002"), 2),
        (Student("x", "Ada Lovelace"), 1),
    ],
)
def test_a_participant_is_found_by_number_then_address_then_name(student, row):
    rows, warnings = for_moodle(make_record(right_report(), student))
    assert warnings == ()
    assert {place for place, _ in changed(parsed(WORKSHEET), rows)} == {row}


def test_a_worksheet_in_another_language_is_understood_by_its_form():
    rows, (note,) = for_moodle(overridden(right_report(), score=1.5), worksheet=GERMAN)
    assert "set to 1.5 by Prof. Tan" in note
    assert changed(parsed(GERMAN), rows) == {(1, 4): "1,5"}
    rows, _ = for_moodle(make_record(right_report(), BOB), worksheet=GERMAN, feedback="Feedback als Kommentar")
    assert set(changed(parsed(GERMAN), rows)) == {(2, 4), (2, 9)}


def test_without_a_worksheet_moodle_is_refused_with_the_reason():
    with pytest.raises(ExportProblem, match=r"only takes back a grading worksheet .* --into"):
        moodle.write([make_record()], io.StringIO(), None)


@pytest.mark.parametrize(
    ("sheet", "options", "words"),
    [
        ("a,b\nc,d\n", {}, "has no column of grades"),
        (WORKSHEET, {"column": "Mark"}, "has no column of grades .'Mark'.*'Full name'"),
        (WORKSHEET, {"feedback": "Notes"}, "has no column 'Notes'"),
    ],
)
def test_a_worksheet_without_its_columns_is_refused(sheet, options, words):
    with pytest.raises(ExportProblem, match=words):
        for_moodle(make_record(), worksheet=sheet, **options)


def test_no_comment_is_a_formula():
    rows, _ = for_moodle(overridden(reason="=1+1"))
    assert not rows[1][9].startswith(("=", "+", "-", "@"))
