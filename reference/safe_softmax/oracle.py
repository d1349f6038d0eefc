"""The float64 truth of safe_softmax. NumPy only."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def safe_softmax(x: NDArray[Any]) -> NDArray[np.float64]:
    """Softmax of each row.

    Args:
        x: shape (rows, cols), float32, float16 or bfloat16, any strides; either extent may be 0.

    Returns:
        float64 of x's shape. A row with NaN or +inf, and a row of -inf alone, is NaN throughout.
    """
    scores = np.array(x, dtype=np.float64, order="C")
    if scores.size == 0:
        return scores
    # inf - inf is NaN, and the sum spreads it: both rules on special rows need no code of their own.
    with np.errstate(invalid="ignore", under="ignore"):
        weights: NDArray[np.float64] = np.exp(scores - scores.max(axis=1, keepdims=True))
        weights /= weights.sum(axis=1, keepdims=True)
    return weights
