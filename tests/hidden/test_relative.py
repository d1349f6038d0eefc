"""The largest relative error of the elements that are out of tolerance."""

from __future__ import annotations

import numpy as np
import pytest

from tritonkata.hidden.asserts import compare

RIGHT = np.array([[0.5, 0.25, 0.125, 0.0]])


@pytest.mark.parametrize(
    ("got", "relative"),
    [
        ([0.5, 0.2525, 0.125, 0.0], 0.01),
        ([0.505, 0.255, 0.125, 0.0], 0.02),
        ([0.505, 0.25, 0.0, 0.0], 1.0),
        ([0.5, 0.25, 0.125, 1e-3], None),
        ([0.505, np.nan, 0.125, 0.0], None),
    ],
)
def test_the_worst_relative_error_is_kept(got: list[float], relative: float | None) -> None:
    found = compare(np.array([got], np.float32), RIGHT, None, "softmax")
    assert found is not None
    assert found.relative == (None if relative is None else pytest.approx(relative, rel=1e-4))
