"""What is said of the answers of a worksheet."""

from __future__ import annotations

from feedback_samples import check, report

from tritonkata.courses import load_course
from tritonkata.feedback.render import explain
from tritonkata.model.answers import Answer

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
