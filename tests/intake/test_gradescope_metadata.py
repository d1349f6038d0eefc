"""Gradescope's YAML: what Ruby writes is read, and anything else is reported for its own entry only."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tritonkata.intake.layouts.gradescope_metadata import entries
from tritonkata.intake.times import in_utc
from tritonkata.model.record import Student

HONEST = """submission_99:
  :submitters:
  - :name: Zed
    :sid: '9'
    :email: zed@example.org
  :created_at: 2026-03-02 08:15:00.000000000 Z
"""


def read(text):
    return {entry.folder: entry for entry in entries(text.splitlines())}


def student(lines):
    """The one student of an entry with these lines below `:submitters:`, with an honest entry after it."""
    found = read(f"---\nsubmission_1:\n  :submitters:\n{lines}\n{HONEST}")
    assert found["submission_99"].students[0].id == "9"
    return found["submission_1"]


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("Ann Lee", "Ann Lee"),
        ("'O''Neil: #1'", "O'Neil: #1"),
        (r'"J\xF6rg \"\u00e9\" \e."', 'Jörg "é" \\x1b.'),
        ('"a \\\n      \\ b"', "a  b"),
        ('"a\\\\\n      b"', r"a\ b"),
        ("'a\\\n      b'", r"a\ b"),
        ("Ann\n      Lee", "Ann Lee"),
        ("&1 Ann", "Ann"),
        ("日本 太郎", "日本 太郎"),
        ("- Ann", "- Ann"),
    ],
)
def test_every_way_in_which_ruby_writes_a_name(written, name):
    entry = student(f"  - :name: {written}\n    :sid: '1'\n    :email: ann@example.org")
    assert entry.students == (Student("1", name, "ann@example.org", {"sid": "1"}),)


def test_an_anchored_name_can_be_repeated():
    entry = student("  - :name: &1 Ann\n    :sid: '1'\n    :email:\n  - :name: *1\n    :sid: '2'\n    :email: ''")
    assert [(one.id, one.name, one.email) for one in entry.students] == [("1", "Ann", ""), ("2", "Ann", "")]


def test_a_list_may_be_indented_and_have_fields_that_do_not_matter():
    lines = "    - :id: |\n        :name: Not me\n      :name: Ann\n      :sid: null\n      :email: ann@example.org\n"
    assert student(lines).students == (Student("ann@example.org", "Ann", "ann@example.org"),)


@pytest.mark.parametrize(
    "written",
    ["|-\n      Ann\n      Lee", "!ruby/object:Object {}", "'Ann", r'"\q"', "*7", "{a: 1}"],
)
def test_forms_that_are_not_known_are_reported_with_their_line(written):
    entry = student(f"  - :name: {written}\n    :sid: '1'")
    assert entry.students == ()
    assert entry.problem.startswith("line 2: ")


def test_an_empty_member_of_a_group_is_passed_over():
    lines = "  - :name: ''\n    :sid:\n    :email:\n  - :name: Ann\n    :sid: '1'\n    :email: ''"
    assert [one.id for one in student(lines).students] == ["1"]


@pytest.mark.parametrize("lines", ["  - Ann", "  - :name: ''", "    :name: Ann"])
def test_submitters_that_are_no_list_of_people_are_reported(lines):
    assert student(lines).problem


def test_results_that_look_like_entries_are_passed_over():
    text = (
        "submission_1:\n  :submitters:\n  - :name: Ann\n    :sid: '1'\n  :results:\n    output: |\n"
        "      :created_at: 2020-01-01 00:00:00 Z\n"
        "      submission_2:\n        :submitters:\n        - :name: Mallory\n"
        "    :submitters:\n    - :name: Mallory\n  :history:\n  - :id: 3\n    :created_at: 2021-01-01 00:00:00 Z\n"
        "  :created_at: 2026-01-01 00:00:00 Z\n"
    )
    found = read(text + HONEST)
    assert sorted(found) == ["submission_1", "submission_99"]
    assert [one.name for one in found["submission_1"].students] == ["Ann"]
    assert found["submission_1"].submitted_at == "2026-01-01T00:00:00+00:00"


@pytest.mark.parametrize(
    "written",
    [
        "2026-03-02 08:15:00.340892000 Z",
        "2026-03-02 09:15:00.340892000 +01:00",
        "'2026-03-02T00:15:00-0800'",
        "!ruby/object:ActiveSupport::TimeWithZone\n    utc: &2 2026-03-02 08:15:00.340892000 Z\n"
        "    zone: !ruby/object:X\n"
        "      name: Etc/UTC\n    time: 2026-03-02 00:15:00.340892000 Z",
    ],
)
def test_times_become_utc(written):
    found = read(f"submission_1:\n  :created_at: {written}\n{HONEST}")
    assert found["submission_1"].submitted_at == "2026-03-02T08:15:00+00:00"


@pytest.mark.parametrize("written", ["", "soon", "2026-03-02 08:15:00", "2026-13-02 08:15:00 Z", "!x\n    utc: soon"])
def test_no_time_is_made_up(written):
    assert read(f"submission_1:\n  :created_at: {written}\n{HONEST}")["submission_1"].submitted_at is None


@given(st.text(max_size=300))
def test_no_text_breaks_the_reader_or_what_comes_before_it(text):
    found = read(HONEST + text.replace("submission_99", ""))
    assert "submission_99" in found


@given(st.text(max_size=40))
def test_a_time_is_utc_or_nothing(text):
    found = in_utc(text)
    assert found is None or found.endswith("+00:00")


def test_a_time_at_the_edge_of_the_calendar_is_no_time():
    assert in_utc("0001-01-01 00:00:00 +10:00") is None
    assert in_utc("2026-01-01 00:00:00 UTC") == "2026-01-01T00:00:00+00:00"
