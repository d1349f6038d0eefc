"""The grid of a launch, judged before Triton or a card sees it."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, NoReturn

from tritonkata.model.faults import Fault
from tritonkata.worker.loading import SubmissionFault

LIMITS = (2**31 - 1, 65535, 65535)
_ADVICE = "Write the grid as a tuple of whole numbers: `(n_rows,)`, or `(triton.cdiv(n, BLOCK),)`."

Grid = tuple[int, int, int]


def check_grid(grid: Any, told: str = "the grid is") -> Grid:
    """The grid as three numbers; `told` is how a sentence about it starts.

    Raises:
        SubmissionFault: it is no tuple of one to three whole numbers within CUDA's limits.
    """
    if not isinstance(grid, tuple | list):
        _refuse(f"{told} {grid!r:.40}, and must be a tuple{_as_tuple(grid)}")
    if not 1 <= len(grid) <= len(LIMITS):
        _refuse(f"the grid has {len(grid)} entries, and must have one to three")
    x, y, z = (*(_extent(value, axis) for axis, value in enumerate(grid)), 1, 1)[:3]
    return x, y, z


def checked(grid: Any) -> Any:
    """`grid` once it was checked; for a function, a function whose result is checked when it is called."""
    if not callable(grid):
        return check_grid(grid)
    function: Callable[[Any], Any] = grid
    return lambda meta: check_grid(function(meta), "the function for the grid returned")


def _extent(value: Any, axis: int) -> int:
    try:
        extent = None if isinstance(value, bool) else operator.index(value)
    except TypeError:
        extent = None
    if extent is None:
        _refuse(f"grid[{axis}] is {value!r:.40}, and must be a whole number")
    if not 0 <= extent <= LIMITS[axis]:
        _refuse(f"grid[{axis}] is {extent}, and must lie in 0 .. {LIMITS[axis]}")
    return extent


def _as_tuple(grid: Any) -> str:
    """What was meant, where that is plain."""
    return f": ({grid},)" if isinstance(grid, int) and not isinstance(grid, bool) and grid >= 0 else ""


def _refuse(message: str) -> NoReturn:
    raise SubmissionFault(Fault("runtime_error", "host", message, advice=_ADVICE))
