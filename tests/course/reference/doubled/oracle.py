"""The truth of the test kata."""

import numpy as np


def doubled(x):
    """Twice x, in float64, of x's shape."""
    return 2 * np.asarray(x, dtype=np.float64)
