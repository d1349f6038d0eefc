"""What is said of the answers of a worksheet."""

from __future__ import annotations

from feedback_samples import check, report

from tritonkata.courses import load_course
from tritonkata.feedback.render import explain
from tritonkata.model.answers import Answer
from tritonkata.model.faults import Fault

KATA = load_course().kata("safe_softmax")


def explained(answer: Answer, diagnosis: str | None) -> tuple[str, str]:
    (explanation,) = explain(report(check("wrong_output", diagnosis, answer=answer)), KATA, None)
    return explanation.headline, f"{explanation.seen}\n{explanation.body}"


def test_a_constant_shows_what_the_learner_has_and_not_what_is_right() -> None:
    headline, body = explained(Answer("OVERFLOW_FP32", "80", "answer_overflow_fp32"), "answer_overflow_fp32")
    assert "OVERFLOW_FP32" in headline
    assert "80" in body
    assert "88.7" not in body


def test_a_function_shows_a_call_with_both_values() -> None:
    answer = Answer("update", "5", "answer_update", "update(3, 4)", "7")
    headline, body = explained(answer, "answer_update")
    assert "update" in headline
    assert "update(3, 4)" in body
    assert "right is 7" in body


def test_an_open_question_is_no_mistake() -> None:
    headline, body = explained(Answer("COUNT", "nothing", "unanswered"), "unanswered")
    assert headline == "Not answered yet"
    assert "COUNT" in body


def test_a_power_that_is_none_in_python_is_told_how_to_write_one() -> None:
    _, body = explained(Answer("ENDS", "(26, 9, 10)", "answer_ends"), "exclusive_or_for_power")
    assert "ENDS" in body
    assert "`2**24`" in body


def fault_explained(fault: Fault, *answers: Answer) -> list[tuple[str, str]]:
    checks = [check(fault.verdict, answer.mistake, answer=answer, fault=fault) for answer in answers]
    found = explain(report(*checks), KATA, None)
    return [(one.headline, f"{one.seen}\n{one.body}") for one in found]


def test_a_formula_that_raises_is_told_its_call_its_line_and_nothing_of_kernels() -> None:
    fault = Fault("runtime_error", "answer", "math domain error", "ValueError", 12)
    ((headline, body),) = fault_explained(fault, Answer("f", "", "answer_raises", "f(0)", "1"))
    assert headline == "`f` stops with an error: line 12"
    for words in ("`f(0)` gives no value, right is 1", "math domain error", "math.log(0)"):
        assert words in body
    for words in ("shape", "dtype", "kernel"):
        assert words not in body


def test_each_question_that_raises_has_a_finding_of_its_own() -> None:
    fault = Fault("runtime_error", "answer", "float division by zero", "ZeroDivisionError", 12)
    found = fault_explained(fault, Answer("f", "", "answer_raises"), Answer("g", "", "answer_raises"))
    assert len(found) == 2


def test_a_function_that_does_not_end_is_one_of_the_worksheet() -> None:
    fault = Fault("timeout", "answer", "the function of the worksheet did not end within 30 seconds", line=12)
    ((headline, body),) = fault_explained(fault, Answer("update_rule", "", "answer_never_ends"))
    assert headline == "`update_rule` does not end: line 12"
    assert "host" not in body
    assert "kernel" not in body


def test_an_answer_of_another_kind_says_what_is_asked_for() -> None:
    answer = Answer("TRAVERSALS", "a generator", "answer_of_another_kind", wanted="a tuple of 4 numbers")
    headline, body = explained(answer, answer.mistake)
    assert "TRAVERSALS" in headline
    assert "is a generator; the question asks for a tuple of 4 numbers" in body
    assert "`tuple(...)`" in body


def test_a_rounded_answer_is_told_to_have_more_digits_and_how_near_counts() -> None:
    headline, body = explained(Answer("SPEEDUPS", "(1.3, 2)", "answer_rounded", within=1e-3), "answer_rounded")
    assert headline == "`SPEEDUPS` has too few digits"
    assert "0.001" in body
    assert "one part in 1000" in body
