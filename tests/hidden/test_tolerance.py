"""The tolerance table: right roundings pass, one step beyond the bound does not."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tritonkata.engine.arrays import numpy_dtype
from tritonkata.hidden.asserts import CheckFailed, assert_matches
from tritonkata.hidden.inputs import DTYPES, as_dtype, far_view, normal, padded
from tritonkata.hidden.tolerance import unit_in_last_place


def softmax(x: np.ndarray) -> np.ndarray:
    values = x.astype(np.float64)
    e = np.exp(values - values.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


@pytest.mark.parametrize("dtype", DTYPES)
def test_the_unit_is_the_distance_to_the_next_number(dtype: str) -> None:
    values = np.array([1.0, 1.5, 0.1, 3.0, 1e-3, 250.0])
    rounded = values.astype(numpy_dtype(dtype))
    following = np.nextafter(rounded, rounded.dtype.type(np.inf))
    step = following.astype(np.float64) - rounded.astype(np.float64)
    np.testing.assert_array_equal(unit_in_last_place(rounded.astype(np.float64), dtype), step)


@pytest.mark.parametrize("dtype", DTYPES)
def test_the_rounded_truth_passes(dtype: str) -> None:
    x = normal(np.random.default_rng(1), (8, 1000), dtype)
    assert_matches(softmax(x).astype(x.dtype), softmax(x), scores=x)


@pytest.mark.parametrize(("dtype", "relative"), [("float32", 1e-5), ("float16", 4e-3), ("bfloat16", 3e-2)])
def test_an_error_beyond_the_table_fails(dtype: str, relative: float) -> None:
    x = normal(np.random.default_rng(2), (4, 100), dtype, scale=1.0)
    wrong = (softmax(x) * (1 + relative)).astype(x.dtype)
    with pytest.raises(CheckFailed) as caught:
        assert_matches(wrong, softmax(x), scores=x)
    assert caught.value.verdict == "wrong_output"
    assert caught.value.evidence.mismatch is not None
    assert caught.value.evidence.mismatch.worst is not None
    assert caught.value.evidence.mismatch.worst > 1


@pytest.mark.parametrize("bad", [0.0, np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("dtype", DTYPES)
def test_one_bad_element_is_found_and_placed(dtype: str, bad: float) -> None:
    x = as_dtype(np.zeros((5, 9)), dtype)
    y = softmax(x).astype(x.dtype)
    y[3, 7] = bad
    with pytest.raises(CheckFailed) as caught:
        assert_matches(y, softmax(x), scores=x)
    mismatch = caught.value.evidence.mismatch
    assert mismatch is not None
    assert (mismatch.row, mismatch.columns, mismatch.wrong) == (3, (7,), 1)


def test_nan_where_the_truth_has_nan_passes_and_a_number_there_does_not() -> None:
    truth = np.array([[np.nan, np.nan], [0.5, 0.5]])
    got = truth.astype(np.float32)
    assert_matches(got, truth)
    got[0, 1] = 0.5
    with pytest.raises(CheckFailed):
        assert_matches(got, truth)


def test_all_zeros_is_no_softmax_however_many_columns() -> None:
    x = as_dtype(np.zeros((2, 65536)), "float32")
    with pytest.raises(CheckFailed):
        assert_matches(np.zeros_like(x), softmax(x), scores=x)


@pytest.mark.parametrize(
    ("got", "kind"),
    [
        (np.zeros((2, 3), np.float32), "shape"),
        (np.zeros((4, 2), np.float32).T, "strides"),
    ],
)
def test_the_form_is_judged_before_the_values(got: np.ndarray, kind: str) -> None:
    with pytest.raises(CheckFailed) as caught:
        assert_matches(got, np.zeros((2, 4)))
    assert caught.value.verdict == "invalid_output"
    assert caught.value.evidence.mismatch is not None
    assert caught.value.evidence.mismatch.kind == kind


@pytest.mark.parametrize("dtype", DTYPES)
def test_padding_holds_poison_and_the_view_holds_the_values(dtype: str) -> None:
    values = normal(np.random.default_rng(3), (3, 4), dtype)
    view = padded(values, gap=2, poison=float("nan"))
    np.testing.assert_array_equal(view.astype(np.float64), values.astype(np.float64))
    storage = view.base
    assert storage is not None
    assert np.isnan(storage[:, 4:].astype(np.float64)).all()


def test_a_far_view_costs_address_space_and_not_memory() -> None:
    values = as_dtype(np.arange(12).reshape(3, 4), "float16")
    view = far_view(values, 2**30 + 16)
    np.testing.assert_array_equal(view, values)
    resident = int(Path("/proc/self/statm").read_text().split()[1]) * 4096
    assert view.strides[0] * 2 > 2**31
    assert resident < 3 << 30
