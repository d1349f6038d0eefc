"""A report as JUnit XML, in the shape of pytest's xunit2 family.

A wrong answer is a `failure`. What ended without an answer to judge, whether through the
submission or the grader, is an `error`. A check that did not run is `skipped`.
"""

from __future__ import annotations

import platform
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

from tritonkata.feedback.clean import clean, one_line
from tritonkata.feedback.facts import SOURCES, absent_figures, effective_gb_per_s
from tritonkata.feedback.numbers import described, number, pairs
from tritonkata.feedback.passes import passed_over
from tritonkata.files import write_target
from tritonkata.model.faults import Verdict
from tritonkata.model.observation import Level
from tritonkata.model.report import CheckResult, Evidence, Report, SpeedReport, TrafficEvidence, TrafficReport

ERROR_VERDICTS: frozenset[Verdict] = frozenset({"compile_error", "runtime_error", "timeout", "grader_error"})


def write(report: Report, path: Path) -> None:
    """Write `to_xml(report)` to `path`; to a file whole or not at all.

    Raises:
        OSError: the folder is missing or not writable.
    """
    write_target(path, to_xml(report))


def to_xml(report: Report) -> bytes:
    """UTF-8 XML: `testsuites > testsuite > testcase`, one test case a check."""
    cases = [_test_case(report, check) for check in _checks(report)]
    suite = ElementTree.Element("testsuite", _suite_attributes(report, cases))
    properties = ElementTree.SubElement(suite, "properties")
    for name, value in _properties(report):
        ElementTree.SubElement(properties, "property", {"name": one_line(name), "value": one_line(value)})
    suite.extend(cases)
    root = ElementTree.Element("testsuites", {"name": "tritonkata"})
    root.append(suite)
    ElementTree.indent(root)
    document: bytes = ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)
    return document + b"\n"


def _checks(report: Report) -> tuple[CheckResult, ...]:
    """The checks, and a test case for the file itself where it could not be graded."""
    fault = report.fault
    if fault is None:
        return report.checks
    whole = CheckResult("submission", "The whole file", fault.verdict, 0, 0, None, fault.message, Evidence(fault=fault))
    return (whole, *report.checks)


def _suite_attributes(report: Report, cases: list[ElementTree.Element]) -> dict[str, str]:
    def count(tag: str) -> str:
        return str(sum(case.find(tag) is not None for case in cases))

    attributes = {
        "name": one_line(report.kata),
        "errors": count("error"),
        "failures": count("failure"),
        "skipped": count("skipped"),
        "tests": str(len(cases)),
        "time": f"{report.seconds:.3f}",
        "hostname": one_line(report.environment.get("hostname", "") or platform.node()),
    }
    if report.started_at:
        attributes["timestamp"] = one_line(report.started_at)
    return attributes


def _test_case(report: Report, check: CheckResult) -> ElementTree.Element:
    attributes = {
        "classname": f"tritonkata.{one_line(report.kata)}",
        "name": one_line(check.name),
        "time": f"{check.seconds:.3f}",
    }
    case = ElementTree.Element("testcase", attributes)
    if check.verdict == "pass":
        return case
    message = one_line(check.message or check.title)
    if check.verdict == "skipped":
        ElementTree.SubElement(case, "skipped", {"type": "tritonkata.skip", "message": message})
        return case
    tag = "error" if check.verdict in ERROR_VERDICTS else "failure"
    result = ElementTree.SubElement(case, tag, {"type": check.verdict, "message": message})
    result.text = "\n".join(clean(line) for line in _details(check))
    return case


def _details(check: CheckResult) -> Iterator[str]:
    evidence = check.evidence
    yield check.message or check.title
    if check.diagnosis:
        yield f"diagnosis: {check.diagnosis}"
    if evidence.case is not None:
        yield f"input: {evidence.case.entry} on {described(evidence.case)}"
    if evidence.fault is not None:
        line = f", line {evidence.fault.line}" if evidence.fault.line is not None else ""
        said = evidence.fault.message
        yield (
            f"{evidence.fault.phase}{line}: {said}" if said != check.message else f"phase: {evidence.fault.phase}{line}"
        )
    mismatch = evidence.mismatch
    if mismatch is not None and (mismatch.expected_text or mismatch.got_text):
        yield f"right: {mismatch.expected_text}; got: {mismatch.got_text}"
    if evidence.traffic is not None:
        yield from _moved(evidence.traffic)
    for column, right, got in pairs(mismatch):
        row = "" if mismatch is None or mismatch.row is None else f"row {mismatch.row}, "
        yield f"{row}column {column}: right {right}, got {got}"


def _moved(traffic: TrafficEvidence) -> Iterator[str]:
    total, unit = number(traffic.loads + traffic.stores, 4), f"times the bytes of {traffic.unit}"
    yield f"{total} {unit}, {SOURCES[traffic.source]}; budget {number(traffic.budget, 4)}, par {number(traffic.par, 4)}"
    yield from (f"{one.tensor} is {one}" for one in passed_over(traffic))
    if traffic.spilled_bytes:
        yield f"registers spilled: {traffic.spilled_bytes} bytes more"


def _properties(report: Report) -> Iterator[tuple[str, str]]:
    engine = report.engine
    yield from (("engine", engine.name), ("device", engine.device), ("target", engine.target))
    yield from (("seed", str(report.seed)), ("verdict", report.verdict), ("medal", report.medal))
    yield from (("score", f"{report.score:g}"), ("max_score", f"{report.max_score:g}"))
    if report.traffic is not None:
        yield from _traffic_properties("traffic", report.traffic)
    if report.traffic_at_full_size is not None:
        yield from _traffic_properties("traffic_at_full_size", report.traffic_at_full_size)
    if report.speed is not None:
        yield from _speed_properties(report.speed)
    for reason, figures in absent_figures(report).items():
        yield from ((f"not_measured.{figure}", reason) for figure in figures)
    yield from ((f"not_run.{title}", reason) for title, reason in report.unavailable.items())


def _traffic_properties(prefix: str, traffic: TrafficReport) -> Iterator[tuple[str, str]]:
    yield from ((f"{prefix}.source", traffic.source), (f"{prefix}.unit_bytes", str(traffic.unit_bytes)))
    for level in ("requested", "l2", "dram"):
        value = getattr(traffic.traversals, level)
        if value is not None:
            yield f"{prefix}.{level}_traversals", f"{value:g}"
    for name in traffic.bytes.__struct_fields__:
        found = getattr(traffic.bytes, name)
        if isinstance(found, Level):
            yield f"{prefix}.{name}_loaded_bytes", str(found.loaded)
            yield f"{prefix}.{name}_stored_bytes", str(found.stored)
        elif found is not None:
            yield f"{prefix}.{name}_bytes", str(found)


def _speed_properties(speed: SpeedReport) -> Iterator[tuple[str, str]]:
    yield "speed.fraction_of_copy", f"{speed.fraction_of_copy:g}"
    yield from (("speed.kernel_us", f"{speed.kernel_us:g}"), ("speed.copy_us", f"{speed.copy_us:g}"))
    if effective_gb_per_s(speed):
        yield "speed.gb_per_s", f"{effective_gb_per_s(speed):g}"
    yield from ((f"speed.note.{place}", note) for place, note in enumerate(speed.notes, start=1))
