"""From a file to its report."""

from __future__ import annotations

from typing import Protocol

import msgspec
import pytest

from tritonkata.check import grade
from tritonkata.model.course import Kata
from tritonkata.model.report import Report, repeatable


class Grade(Protocol):
    def __call__(self, source: str | bytes) -> Report: ...


def verdicts(report: Report) -> dict[str, str]:
    return {check.name: check.verdict for check in report.checks}


def test_the_solution_passes_at_par(grade_source: Grade, solution: str) -> None:
    report = grade_source(solution)
    assert report.verdict == "pass", report
    assert (report.score, report.max_score) == (5, 5)
    assert report.medal == "gold"
    assert report.traffic is not None
    assert report.traffic.traversals.requested == 2.0
    assert report.resources
    assert report.resources[0].registers is not None
    assert "A million rows" in report.unavailable


def test_a_report_survives_its_json(grade_source: Grade, solution: str) -> None:
    report = grade_source(solution.replace("2 * x", "x"))
    assert msgspec.json.decode(msgspec.json.encode(report), type=Report) == report


def test_a_wrong_model_names_the_mistake_and_later_checks_are_skipped(grade_source: Grade, solution: str) -> None:
    report = grade_source(solution.replace("2 * x", "3 * x"))
    assert report.verdict == "fail"
    assert verdicts(report) == {
        "compiles": "pass",
        "values": "wrong_output",
        "strided": "skipped",
        "traffic": "skipped",
    }
    values = report.checks[1]
    assert values.diagnosis == "tripled"
    assert values.evidence.mismatch is not None
    assert values.evidence.case is not None
    assert values.evidence.case.shapes == ((3, 37),)


def test_a_mistake_that_is_not_known_is_not_given_a_name(grade_source: Grade, solution: str) -> None:
    report = grade_source(solution.replace("2 * x", "2 * x + 1"))
    assert report.checks[1].verdict == "wrong_output"
    assert report.checks[1].diagnosis is None


def test_a_second_pass_is_over_the_budget_and_bronze(grade_source: Grade, solution: str) -> None:
    again = "    x = tl.load(x_ptr + row * x_stride + cols, mask=mask, other=0.0)\n"
    report = grade_source(solution.replace(again, again + again.replace("x =", "x +=") + "    x = x / 2\n"))
    assert verdicts(report)["traffic"] == "over_budget"
    assert report.checks[3].diagnosis == "extra_pass"
    assert report.medal == "bronze"


def test_code_that_only_the_compiler_refuses_fails(grade_source: Grade, solution: str) -> None:
    body = "    mask = cols < n_cols\n"
    report = grade_source(solution.replace(body, body + "    while True:\n        break\n"))
    compiles = report.checks[0]
    assert compiles.verdict == "compile_error"
    assert compiles.evidence.fault is not None
    source = solution.replace(body, body + "    while True:\n        break\n").splitlines()
    assert compiles.evidence.fault.line is not None
    assert source[compiles.evidence.fault.line - 1].strip() in ("while True:", "break")


def test_torch_doing_the_work_is_refused_by_name(grade_source: Grade) -> None:
    report = grade_source("import torch\n\ndef doubled(x):\n    return torch.mul(x, 2)\n")
    fault = report.checks[0].evidence.fault
    assert fault is not None
    assert fault.verdict == "forbidden_host_op"
    assert "mul" in fault.operation
    assert report.checks[0].diagnosis == "torch_does_the_work"


def test_the_same_seed_gives_the_same_report(grade_source: Grade, solution: str) -> None:
    source = solution.replace("2 * x", "x")
    assert repeatable(grade_source(source)) == repeatable(grade_source(source))


@pytest.mark.parametrize("prefix", [b"\xef\xbb\xbf", b""], ids=["BOM", "none"])
def test_line_ends_and_marks_of_other_systems_do_not_matter(grade_source: Grade, solution: str, prefix: bytes) -> None:
    report = grade_source(prefix + solution.replace("\n", "\r\n").encode())
    assert report.verdict == "pass"


def test_a_case_that_the_compiler_refuses_is_a_compile_error_there_too(grade_source: Grade, solution: str) -> None:
    """The hidden shapes reach a branch that the first check does not; the interpreter only crashes in it."""
    report = grade_source(solution.replace("BLOCK=triton.next_power_of_2(cols)", "BLOCK=8 if cols == 8 else 37"))
    values = report.checks[1]
    assert report.checks[0].verdict == "pass"
    assert values.verdict == "compile_error"
    assert values.evidence.fault is not None
    assert "power of 2" in values.evidence.fault.message


@pytest.mark.parametrize("target", ["sm_80", "sm_100", "gfx942"])
def test_other_targets_are_compiled_for_without_a_device(kata: Kata, target: str) -> None:
    report = grade(kata, kata.solution, engine="interpreter", target=target, seed=1)
    assert report.verdict == "pass"
    assert [(row.target, row.registers is not None) for row in report.resources] == [(target, True)]


def test_without_bubblewrap_the_check_goes_on_and_says_so_once(kata: Kata, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    report = grade(kata, kata.solution, engine="interpreter", seed=1)
    assert report.verdict == "pass"
    assert sum("sandbox" in note for note in report.notes) == 1
