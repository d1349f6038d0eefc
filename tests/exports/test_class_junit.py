"""A class as one JUnit file."""

from __future__ import annotations

import io
from xml.etree import ElementTree

import pytest
from export_samples import (
    ADA,
    BOB,
    SEED,
    each_kind,
    failed_report,
    grader_fault_report,
    hostile_record,
    make_record,
    overridden,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from tritonkata.exports import junit

KINDS = each_kind()


def written(*records):
    file = io.BytesIO()
    warnings = junit.write(iter(records), file)
    return ElementTree.fromstring(file.getvalue()), warnings


def properties_of(suite):
    return {one.get("name"): one.get("value") for one in suite.iter("property")}


def test_each_submission_is_a_suite_and_each_check_a_case():
    root, warnings = written(*KINDS.values())
    assert root.tag == "testsuites"
    assert len(root) == len(KINDS)
    assert len(warnings) == 2
    for suite, record in zip(root, KINDS.values(), strict=True):
        assert suite.tag == "testsuite"
        assert {"name", "tests", "failures", "errors", "skipped", "time"} <= set(suite.keys())
        cases = suite.findall("testcase")
        assert int(suite.get("tests")) == len(cases) == len(record.report.checks) + (record.report.fault is not None)
        for tag, count in (("failure", "failures"), ("error", "errors"), ("skipped", "skipped")):
            assert int(suite.get(count)) == sum(case.find(tag) is not None for case in cases)
        assert all({"classname", "name", "time"} <= set(case.keys()) for case in cases)


def test_cases_of_two_students_keep_apart():
    root, _ = written(make_record(failed_report(), ADA), make_record(failed_report(), BOB))
    names = [(case.get("classname"), case.get("name")) for case in root.iter("testcase")]
    assert len(names) == len(set(names))
    assert [suite.get("name") for suite in root] == ["ada", "bob"]


def test_a_fault_of_the_grader_is_an_error_and_no_score():
    (suite,), (warning,) = written(make_record(grader_fault_report()))
    assert (suite.get("errors"), suite.get("failures")) == ("1", "0")
    assert suite.find("testcase/error").get("type") == "grader_error"
    assert properties_of(suite)["score"] == ""
    assert "grader failed" in warning


def test_a_score_by_hand_wins_and_says_so():
    (suite,), warnings = written(overridden(score=7.5))
    found = properties_of(suite)
    assert (found["score"], found["graded_score"]) == ("7.5", "1")
    assert "set to 7.5 by Prof. Tan" in found["override"]
    assert warnings == ()


def test_the_record_stands_in_the_properties_and_the_seed_does_not():
    file = io.BytesIO()
    junit.write([make_record(failed_report(), ADA, BOB, late=True, attempt=2)], file)
    assert str(SEED).encode() not in file.getvalue()
    found = properties_of(ElementTree.fromstring(file.getvalue()))
    assert (found["student"], found["students"], found["late"], found["attempt"]) == ("ada", "ada; bob", "yes", "2")
    assert found["submitted_at"] == "2025-03-01T23:59:59+00:00"


@settings(max_examples=30, deadline=None)
@given(st.text(max_size=40))
def test_any_text_gives_xml_that_can_be_read(text):
    root, _ = written(hostile_record(text))
    assert root.find("testsuite") is not None


@pytest.mark.parametrize("text", ["\x00\x08\x0b\x1f", "\ufffe\uffff", "\ud800", "]]>", '"<&>', "\x1b[2J"])
def test_characters_that_xml_has_not_are_shown_as_escapes(text):
    root, _ = written(hostile_record(text))
    for element in root.iter():
        for value in (*element.attrib.values(), element.text or ""):
            assert all(character.isprintable() or character == "\n" for character in value)


def test_a_suite_is_written_before_the_next_record_is_asked_for():
    file = io.BytesIO()

    def stream():
        for number in range(3):
            assert file.getvalue().count(b"</testsuite>") == number
            yield make_record()

    junit.write(stream(), file)
    assert len(ElementTree.fromstring(file.getvalue())) == 3
