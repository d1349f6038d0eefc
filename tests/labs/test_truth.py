"""The labs' own float64 truth, and how results are held against it."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tritonkata.hidden.inputs import DTYPES
from tritonkata.labs import inputs
from tritonkata.labs.truth import CHUNK_ELEMENTS, check, truth_of


def right(x: np.ndarray, first_row: int = 0, lab: str = "softmax") -> np.ndarray:
    return truth_of(lab)(x, first_row)[1].astype(x.dtype)  # type: ignore[arg-type]


def test_the_truth_of_a_row_is_exp_over_the_sum() -> None:
    x = np.array([[0.0, math.log(2.0), math.log(5.0)]])
    np.testing.assert_allclose(right(x), [[1 / 8, 2 / 8, 5 / 8]])


def test_the_causal_truth_scales_and_hides_what_comes_later() -> None:
    x = 8 * np.log(np.array([[3.0, 7.0], [1.0, 3.0], [5.0, 9.0]]))
    np.testing.assert_allclose(right(x, lab="fusion"), [[1, 0], [0.25, 0.75], [1, 0]])
    # The second of two rows that are looked at alone is still the second.
    np.testing.assert_allclose(right(x[1:2], first_row=1, lab="fusion"), [[0.25, 0.75]])


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_rounded_truth_passes(dtype: str) -> None:
    x = inputs.scores((5, 300), dtype, seed=1)
    checked = check(truth_of("softmax"), x, right(x))
    assert checked.passed
    assert checked.wrong_row is None
    assert isinstance(checked.largest_relative_error, float)
    assert checked.largest_relative_error < 2.0**-7


def test_wrong_elements_are_counted_in_every_chunk_and_the_first_row_is_shown() -> None:
    cols = 4096
    rows = 3 * CHUNK_ELEMENTS // cols + 1
    x = inputs.scores((rows, cols), "float32", seed=1)
    y = right(x)
    y[rows - 1, 7] *= 1.01
    y[200, 4000] = np.inf
    y[200, 4001] = 0.0
    checked = check(truth_of("softmax"), x, y)
    assert (checked.elements, checked.wrong, checked.rows_wrong) == (rows * cols, 3, 2)
    shown = checked.wrong_row
    assert shown is not None
    assert (shown.row, shown.wrong, shown.columns[:2], shown.got[:2]) == (200, 2, (4000, 4001), ("inf", 0.0))
    assert shown.scores == tuple(float(one) for one in x[200, 4000:4006])
    assert checked.largest_relative_error == "inf"


def test_nan_is_the_largest_error_there_is() -> None:
    x = inputs.scores((2, 50), "float32", seed=1)
    y = right(x)
    y[0, 3] = np.inf
    y[1, 3] = np.nan
    assert check(truth_of("softmax"), x, y).largest_relative_error == "nan"


def test_the_relative_error_leaves_out_what_the_dtype_cannot_hold_exactly() -> None:
    x = np.array([[0.0, -12.0]], np.float16)
    y = right(x)
    y[0, 1] += np.float16(2.0**-24)
    checked = check(truth_of("softmax"), x, y)
    assert checked.passed
    assert checked.largest_relative_error == pytest.approx(0.0, abs=1e-4)


def test_a_result_of_another_form_is_refused() -> None:
    x = inputs.scores((2, 5), "float32", seed=1)
    with pytest.raises(ValueError, match="float16"):
        check(truth_of("softmax"), x, right(x).astype(np.float16))
    with pytest.raises(ValueError, match=r"\(1, 5\)"):
        check(truth_of("softmax"), x, right(x)[:1])


def test_scores_depend_on_the_seed_and_on_nothing_else() -> None:
    one = inputs.scores((30, 70), "float32", seed=4)
    assert np.array_equal(one, inputs.scores((30, 70), "float32", seed=4))
    assert not np.array_equal(one, inputs.scores((30, 70), "float32", seed=5))
    poisoned = inputs.scores((30, 70), "float32", seed=4, poisoned=True)
    assert poisoned[0, 0] == 100.0
    assert np.array_equal(poisoned.ravel()[1:], one.ravel()[1:])
    assert np.std(inputs.scores((300, 700), "float32", seed=4, spread=8.0)) == pytest.approx(8.0, rel=0.02)
