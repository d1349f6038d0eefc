"""What is said of a result that shares memory with an input."""

from tritonkata.engine.interpreting import alias_fault


def test_the_advice_is_a_sentence_and_gives_a_result_of_its_own_layout() -> None:
    advice = alias_fault().advice
    assert advice[0].isupper()
    assert advice.endswith(".")
    assert "torch.empty(x.shape" in advice
