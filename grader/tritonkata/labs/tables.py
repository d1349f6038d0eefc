"""All tables of a result."""

from __future__ import annotations

from tritonkata.labs import lab_grids
from tritonkata.labs.grids import Grid
from tritonkata.labs.model import CeilingResult, LabResult
from tritonkata.labs.sweep_grid import sweep_grid


def tables_of(result: LabResult | CeilingResult) -> tuple[Grid, ...]:
    """In the order of reading."""
    if isinstance(result, CeilingResult):
        return (sweep_grid(result),)
    wrong = (lab_grids.wrong_row_grid(row) for row in result.rows)
    return (
        lab_grids.variants_grid(result),
        *(grid for grid in wrong if grid is not None),
        lab_grids.ratios_grid(result),
        lab_grids.kernels_grid(result),
    )
