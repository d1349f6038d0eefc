"""A worksheet with many wrong answers, from the file to what the learner is told."""

from __future__ import annotations

from pathlib import Path

from tritonkata.check import grade
from tritonkata.courses import load_course
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
