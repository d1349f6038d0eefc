"""The float64 truth of log_softmax. NumPy only."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def log_softmax(x: NDArray[Any]) -> NDArray[np.float64]:
    """Logarithm of the softmax of each row.

    Args:
        x: shape (rows, cols), float32, float16 or bfloat16, any strides; either extent may be 0.

    Returns:
        float64 of x's shape. A score of -inf gives -inf. A row with NaN or +inf, and a row of -inf
        alone, is NaN throughout.
    """
    scores = np.array(x, dtype=np.float64, order="C")
    if scores.size == 0:
        return scores
    # inf - inf is NaN, and the sum spreads it: the rules on special rows need no code of their own.
    with np.errstate(invalid="ignore", under="ignore"):
        shifted: NDArray[np.float64] = scores - scores.max(axis=1, keepdims=True)
        shifted -= np.log(np.exp(shifted).sum(axis=1, keepdims=True))
    return shifted
