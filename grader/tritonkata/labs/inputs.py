"""The scores that a lab works on."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tritonkata.engine.arrays import numpy_dtype

Array = NDArray[Any]

POISON = 100.0
"""exp of it is infinite in float32."""

_CHUNK_ELEMENTS = 1 << 24


def scores(shape: tuple[int, int], dtype: str, seed: int, *, spread: float = 1.0, poisoned: bool = False) -> Array:
    """Normal scores of standard deviation `spread`, rounded to `dtype`, of shape (rows, cols).

    With `poisoned` the first score of row 0 is 100. The same arguments give the same array.
    """
    rows, cols = shape
    made = np.empty(shape, numpy_dtype(dtype))
    rng = np.random.default_rng(seed)
    step = max(_CHUNK_ELEMENTS // cols, 1)
    for begin in range(0, rows, step):
        part = made[begin : begin + step]
        part[...] = rng.standard_normal(part.shape, dtype=np.float32) * np.float32(spread)
    if poisoned:
        made[0, 0] = POISON
    return made
