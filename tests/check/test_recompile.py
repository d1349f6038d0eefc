"""Kernels compiled again in a clean process: Triton's own come out the same, what a submission swapped does not."""

from __future__ import annotations

from pathlib import Path

import pytest

from tritonkata.check import grade
from tritonkata.courses import load_course
from tritonkata.model.course import Kata
from tritonkata.model.report import Report

RIGHT = Path(__file__).resolve().parents[1] / "right"

SWAPPED = """
import triton
_compile = triton.compiler.compiler.compile
def _swap(*arguments, **options):
    compiled = _compile(*arguments, **options)
    {change}
    return compiled
triton.compiler.compile = triton.compiler.compiler.compile = triton.compile = _swap
"""
CHANGES = {
    "a byte of the code": "compiled.kernel = compiled.asm['cubin'] = bytes(compiled.kernel[:-1]) + b'?'",
    "another option": "compiled.metadata = compiled.metadata._replace(num_stages=compiled.metadata.num_stages)",
}


def recompiled(kata: Kata, path: Path) -> Report:
    return grade(kata, path, engine="interpreter", seed=1, recompile=True)


def test_the_solutions_kernels_come_out_the_same_and_the_report_says_how_many(kata: Kata) -> None:
    report = recompiled(kata, kata.solution)
    assert report.verdict == "pass", report.checks
    assert [note for note in report.notes if "compiled again in a clean process" in note]


@pytest.mark.parametrize("file", ["safe_softmax/device_descriptors.py", "safe_softmax/autotuned.py"])
def test_scratch_memory_descriptors_and_configurations_make_no_difference(file: str) -> None:
    kata = load_course().kata(Path(file).parent.name)
    report = recompiled(kata, RIGHT / file)
    assert report.verdict == "pass", [check for check in report.checks if check.verdict != "pass"]


def test_a_kernel_that_is_not_the_compilers_is_refused(kata: Kata, solution: str, tmp_path: Path) -> None:
    path = tmp_path / "doubled.py"
    path.write_text(solution.replace("import triton\n", SWAPPED.format(change=CHANGES["a byte of the code"]), 1))
    report = recompiled(kata, path)
    assert report.verdict == "fail"
    first = next(check for check in report.checks if check.verdict != "pass")
    assert first.evidence.fault is not None
    assert "not what Triton's compiler makes" in first.evidence.fault.message


def test_the_same_wrapping_without_a_change_passes(kata: Kata, solution: str, tmp_path: Path) -> None:
    path = tmp_path / "doubled.py"
    path.write_text(solution.replace("import triton\n", SWAPPED.format(change=CHANGES["another option"]), 1))
    assert recompiled(kata, path).verdict == "pass"
