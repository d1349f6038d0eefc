"""Whatever a file does, it gets a verdict of its own within its time limit, and nothing is left running."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

import pytest

from tritonkata.check import grade
from tritonkata.model.course import Kata
from tritonkata.model.report import Report


class Grade(Protocol):
    def __call__(self, source: str | bytes) -> Report: ...


def test_what_is_no_file_is_an_error(kata: Kata, tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "absent.py"):
        report = grade(kata, path, engine="interpreter")
        assert report.verdict == "error"
        assert report.fault is not None
        assert str(path) in report.fault.message


@pytest.mark.parametrize(
    ("source", "said"),
    [
        (b"", "empty"),
        (b"x = '\xff\xfe'\n", "UTF-8"),
        (b"#" * (300 << 10), "256"),
        (b"def doubled(x)\n    return x\n", ""),
        (b"import no_such_library\n", "no_such_library"),
        (b"def tripled(x):\n    return x\n", "doubled"),
        (b"doubled = 3\n", "doubled"),
        (b"1 / 0\n", "division"),
        (b"import sys\nsys.exit(0)\n", "exit"),
        (b"import os\nos._exit(0)\n", "ended"),
        (b"while True:\n    pass\n", "seconds"),
        (b"import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)\n", "ended"),
    ],
    ids=[
        "empty",
        "binary",
        "large",
        "syntax",
        "import",
        "entry",
        "callable",
        "raises",
        "exit",
        "_exit",
        "endless",
        "segfault",
    ],
)
def test_a_file_that_cannot_be_loaded_is_an_error(grade_source: Grade, source: bytes, said: str) -> None:
    report = grade_source(source)
    assert report.verdict == "error"
    assert report.checks == ()
    assert report.fault is not None
    assert report.fault.verdict != "grader_error"
    assert said in report.fault.message
    assert report.score == 0


def test_a_syntax_error_shows_the_learners_line(grade_source: Grade) -> None:
    report = grade_source("import torch\n\ndef doubled(x)\n    return x\n")
    assert report.fault is not None
    assert (report.fault.verdict, report.fault.line) == ("compile_error", 3)


@pytest.mark.parametrize(
    ("call", "verdict"),
    [
        ("while True: pass", "timeout"),
        ("import os; os._exit(0)", "runtime_error"),
        ("import sys; sys.exit(0)", "runtime_error"),
        ("raise KeyboardInterrupt", "runtime_error"),
        ("return None", "invalid_output"),
        ("return 1.5", "invalid_output"),
        ("return [1, 2]", "invalid_output"),
    ],
)
def test_a_call_that_gives_no_tensor_fails_its_check(grade_source: Grade, call: str, verdict: str) -> None:
    report = grade_source(f"import torch\n\ndef doubled(x):\n    {call}\n")
    assert report.verdict == "fail"
    assert report.checks[0].verdict == verdict
    assert all(check.verdict == "skipped" for check in report.checks[1:])


@pytest.mark.parametrize(
    ("change", "kind"),
    [
        (("torch.empty(x.shape, dtype=x.dtype", "torch.empty((2, 2), dtype=x.dtype"), "shape"),
        (("dtype=x.dtype", "dtype=torch.float16"), "dtype"),
        (("return y", "return y, y"), "count"),
    ],
)
def test_a_result_of_the_wrong_form_is_told_apart(
    grade_source: Grade, solution: str, change: tuple[str, str], kind: str
) -> None:
    source = solution.replace(*change)
    if kind == "shape":
        source = source.replace("double_rows[(rows,)]", "double_rows[(0,)]")
    report = grade_source(source)
    values = report.checks[1]
    assert values.verdict == "invalid_output"
    assert values.evidence.mismatch is not None
    assert values.evidence.mismatch.kind == kind


def test_a_result_that_is_the_input_is_refused(grade_source: Grade) -> None:
    report = grade_source("def doubled(x):\n    return x\n")
    values = report.checks[1]
    assert values.verdict == "invalid_output"
    assert values.evidence.fault is not None
    assert "input" in values.evidence.fault.message


def test_a_kernel_that_never_ends_costs_its_check_and_no_more(grade_source: Grade, solution: str) -> None:
    body = "    mask = cols < n_cols\n"
    endless = body + "    n = n_cols\n    while n > 0:\n        n = n_cols\n"
    report = grade_source(solution.replace(body, endless))
    assert report.checks[0].verdict == "pass"
    assert report.checks[1].verdict == "timeout"


def test_an_access_outside_is_found_before_it_happens(grade_source: Grade, solution: str) -> None:
    report = grade_source(solution.replace("2 * x, mask=mask", "2 * x"))
    values = report.checks[1]
    assert values.verdict == "out_of_bounds"
    assert values.diagnosis == "store_without_mask"
    assert values.evidence.fault is not None
    assert values.evidence.fault.access is not None
    assert values.evidence.fault.access.operation == "store"
    line = values.evidence.fault.line or values.evidence.fault.access.line
    assert line is not None
    assert "tl.store" in solution.splitlines()[line - 1]


def test_rows_that_nobody_wrote_are_uninitialised(grade_source: Grade, solution: str) -> None:
    report = grade_source(solution.replace("[(rows,)]", "[(rows - 1,)]"))
    values = report.checks[1]
    assert values.verdict == "uninitialised_read"
    assert values.diagnosis == "rows_not_stored"
    assert values.evidence.unwritten[0].first == (2, 0)
