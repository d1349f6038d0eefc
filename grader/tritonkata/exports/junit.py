"""A whole class as one JUnit file: one test suite a submission, its test cases the checks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import BinaryIO
from xml.etree import ElementTree

from tritonkata.exports.words import has_score, no_score_warning, override_line, yes_or_no
from tritonkata.feedback import junit
from tritonkata.feedback.clean import one_line
from tritonkata.model.record import Record

_SECRET = frozenset({"seed"})


def write(records: Iterable[Record], file: BinaryIO) -> tuple[str, ...]:
    """Write UTF-8 XML, a suite at a time; returns a warning for each submission without a score."""
    warnings: list[str] = []
    file.write(b"<?xml version='1.0' encoding='utf-8'?>\n<testsuites name=\"tritonkata\">\n")
    for record in records:
        if not has_score(record):
            warnings.append(no_score_warning(record))
        suite = suite_of(record)
        ElementTree.indent(suite, level=1)
        file.write(b"  " + ElementTree.tostring(suite, encoding="utf-8") + b"\n")
    file.write(b"</testsuites>\n")
    return tuple(warnings)


def suite_of(record: Record) -> ElementTree.Element:
    """The suite of one record, named after the student; a fault of the grader is an `error` in it."""
    suite = ElementTree.fromstring(junit.to_xml(record.report)).find("testsuite")
    if suite is None:
        raise AssertionError("a report's JUnit XML has one suite")
    student = one_line(record.student.id)
    suite.set("name", student)
    for case in suite.iter("testcase"):
        # Viewers put cases of one class and name together, whoever's they are.
        case.set("classname", f"{case.get('classname')}.{student}")
    properties = suite.find("properties")
    if properties is None:
        raise AssertionError("a report's JUnit suite has properties")
    for property_ in list(properties):
        if property_.get("name") in _SECRET:
            properties.remove(property_)
        elif property_.get("name") == "score":
            property_.set("value", f"{record.score:g}" if has_score(record) else "")
    for name, value in _properties(record):
        ElementTree.SubElement(properties, "property", {"name": name, "value": one_line(value)})
    return suite


def _properties(record: Record) -> Iterator[tuple[str, str]]:
    yield "student", record.student.id
    for name, value in (("name", record.student.name), ("email", record.student.email)):
        if value:
            yield name, value
    if len(record.students) > 1:
        yield "students", "; ".join(student.id for student in record.students)
    yield from (("file", record.file), ("attempt", str(record.attempt)), ("graded_at", record.graded_at))
    if record.submitted_at is not None:
        yield "submitted_at", record.submitted_at
    if record.late is not None:
        yield "late", yes_or_no(record.late)
    if record.override is not None:
        yield "graded_score", "" if record.report.verdict == "grader_error" else f"{record.report.score:g}"
        yield "override", override_line(record)
