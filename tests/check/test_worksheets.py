"""A worksheet with many wrong answers, from the file to what the learner is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from tritonkata.check import grade
from tritonkata.courses import load_course
from tritonkata.engine import answering
from tritonkata.feedback.render import explain
from tritonkata.model.report import Report

KATA = load_course().kata("online_math")
WRONG = {
    "common_factor": "def common_factor(m):\n    return 1 / (m * 0)",
    "SMALL_SCORE_GETS": "SMALL_SCORE_GETS = 0j",
    "LARGEST_FINITE": "LARGEST_FINITE = (x for x in (3.4e38, 65504, 3.39e38))",
    "OVERFLOW_FP16": "OVERFLOW_FP16 = math.log",
    "merge_rounds": "def merge_rounds(n):\n    return str(n)",
    "SPEEDUPS": "SPEEDUPS = (1.3, 2)",
    "INTENSITY": "INTENSITY = 1.4",
    "merge_rule": "def merge_rule(m_a, s_a, m_b, s_b):\n    m = max(m_a, m_b)\n"
    "    return m, math.exp(math.log(s_a) + m_a - m) + math.exp(math.log(s_b) + m_b - m)",
    "log_softmax": "def log_softmax(x):\n    weights = [math.exp(one - max(x)) for one in x]\n"
    "    return [math.log(weight / sum(weights)) for weight in weights]",
}
DIAGNOSES = {
    "common_factor": "answer_raises",
    "small_scores": "answer_of_another_kind",
    "formats": "answer_of_another_kind",
    "overflow_fp16": "answer_of_another_kind",
    "merge_rounds": "answer_of_another_kind",
    "times": "answer_rounded",
    "intensity": "answer_rounded",
    # Right wherever it does not raise, which none of the known slips is.
    "merge_rule": "answer_raises",
    "log_softmax": "log_of_softmax",
}


def graded(folder: Path) -> tuple[Report, str]:
    """The solution, with the wrong answers below the right ones: the last one counts."""
    source = "\n\n".join([KATA.solution.read_text(), *WRONG.values(), ""])
    path = folder / "online_math.py"
    path.write_text(source)
    return grade(KATA, path, engine="interpreter", seed=7), source


def test_each_wrong_answer_is_a_finding_of_its_own_in_words_about_worksheets(tmp_path: Path) -> None:
    report, source = graded(tmp_path)
    assert {check.name: check.diagnosis for check in report.checks if check.verdict != "pass"} == DIAGNOSES
    found = explain(report, KATA, source)
    assert len(found) == len(DIAGNOSES)
    for one in found:
        assert "kernel" not in f"{one.seen}{one.body}".replace("Kernels,", "")
    (raised,) = [one for one in found if one.checks[0].name == "log_softmax"]
    assert "log_softmax((0, -2000))" in raised.seen
    assert raised.excerpt is not None
    assert "math.log(weight / sum(weights))" in raised.excerpt.source[0].text


SEARCHES = """
import gc, sys, types

def searched():
    frame, held = sys._getframe(), []
    while frame is not None:
        held += frame.f_locals.values()
        frame = frame.f_back
    held += gc.get_objects()
    functions = [one for one in held if isinstance(one, types.FunctionType) and one.__closure__]
    for function in functions:
        for cell in function.__closure__:
            try:
                held.append(cell.cell_contents)
            except ValueError:
                pass
    kinds = {type(one).__name__ for one in held} & {"Interpret", "TensorData", "Evaluate"}
    return " ".join(sorted(kinds))

BOUND_BY = searched()
"""


def test_whoever_answers_a_worksheet_was_never_sent_a_case(tmp_path: Path) -> None:
    """An answer is shown as it is: where a wrong one comes from there must be no inputs to be told of."""
    path = tmp_path / "online_math.py"
    path.write_text(f"{KATA.solution.read_text()}\n{SEARCHES}")
    report = grade(KATA, path, engine="interpreter", seed=7, discreet=True)
    (wrong,) = [check for check in report.checks if check.verdict != "pass"]
    assert wrong.evidence.answer is not None
    assert wrong.evidence.answer.got == "'Evaluate'"


def test_a_long_text_is_shown_by_its_beginning(tmp_path: Path) -> None:
    path = tmp_path / "online_math.py"
    path.write_text(f"{KATA.solution.read_text()}\nBOUND_BY = 'Z' * 2000\n")
    report = grade(KATA, path, engine="interpreter", seed=7)
    (wrong,) = [check for check in report.checks if check.verdict != "pass"]
    assert len(wrong.message) < 120


def test_functions_that_never_end_cost_no_other_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answering, "ANSWER_SECONDS", 3.0)
    endless = {"common_factor": "m", "normaliser_bounds": "n", "merge_rounds": "n"}
    path = tmp_path / "online_math.py"
    functions = (f"def {name}({parameter}):\n    while True: pass\n" for name, parameter in endless.items())
    path.write_text("\n\n".join([KATA.solution.read_text(), *functions]))
    report = grade(KATA, path, engine="interpreter", seed=7)
    verdicts = [check.verdict for check in report.checks if check.verdict != "pass"]
    assert verdicts == ["timeout"] * len(endless)
