"""The float64 truth of masked_softmax, in NumPy."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.generic]


def scores(x: Array, mask: Array) -> NDArray[np.float64]:
    """Return what the softmax is taken of: `x + mask`, both of shape (rows, cols).

    A `+inf` under a mask of `-inf` is NaN, as in every IEEE addition.
    """
    with np.errstate(invalid="ignore"):
        return x.astype(np.float64) + mask.astype(np.float64)


def masked_softmax(x: Array, mask: Array) -> NDArray[np.float64]:
    """Return the softmax of each row of `x + mask`, shape (rows, cols), in float64.

    A row whose every score is `-inf` is zeros. A row with a NaN or a `+inf`
    among its scores is NaN throughout.
    """
    row_scores = scores(x, mask)
    with np.errstate(invalid="ignore"):
        top = row_scores.max(axis=1, initial=-np.inf)
        # -inf minus -inf is NaN; any finite shift gives such a row exp(-inf) = 0 everywhere.
        shift = np.where(top == -np.inf, 0.0, top)
        weights = np.exp(row_scores - shift[:, None])
        total = weights.sum(axis=1)
    return weights / np.where(total == 0.0, 1.0, total)[:, None]
