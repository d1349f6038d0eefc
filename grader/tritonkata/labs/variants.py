"""The kernels of each lab, and how many bytes counting their passes on paper gives."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np

from tritonkata.engine.workers import Assignment
from tritonkata.model.course import Entry, Limits
from tritonkata.model.observation import Level

Lab = Literal["softmax", "fusion"]

KERNELS = Path(__file__).parent / "kernels"
LIMITS = Limits(load_seconds=60.0, compile_seconds=180.0, case_seconds=300.0)
MAX_COLS = 131_072
SKIPPED_BLOCK = 64
"""Columns that the skipping kernel loads or leaves together; as in `kernels/fusion.py`."""

SCALE = 0.125
"""What the fusion lab's scores are multiplied by; as in `kernels/fusion.py`."""


@dataclass(frozen=True)
class Variant:
    """One entry point of a kernel file. `loads` and `stores` are passes over the tensor.

    `overflows` says that a score of 100 breaks it, on purpose. `skips` says that blocks after the diagonal
    are not loaded, so that `loads` is an upper bound.
    """

    name: str
    title: str
    loads: int
    stores: int
    overflows: bool = False
    skips: bool = False

    @property
    def entry(self) -> Entry:
        """How an engine calls it."""
        return Entry(self.name, ("x",), ("y",))


SOFTMAX = (
    Variant("naive_unsafe", "naive, unsafe", 2, 1, overflows=True),
    Variant("safe_three_pass", "safe, 3 passes", 3, 1),
    Variant("online_two_pass", "online, 2 passes", 2, 1),
    Variant("online_one_pass", "online, 1 pass", 1, 1),
)
FUSION = (
    Variant("unfused", "three kernels", 4, 3),
    Variant("fused", "one kernel", 1, 1),
    Variant("fused_skipping", "one that skips", 1, 1, skips=True),
)
VARIANTS: dict[Lab, tuple[Variant, ...]] = {"softmax": SOFTMAX, "fusion": FUSION}
COMPARED: dict[Lab, tuple[tuple[str, str], ...]] = {
    "softmax": (
        ("safe_three_pass", "online_one_pass"),
        ("safe_three_pass", "online_two_pass"),
        ("online_two_pass", "online_one_pass"),
    ),
    "fusion": (("unfused", "fused"), ("fused", "fused_skipping"), ("unfused", "fused_skipping")),
}
SWEPT = SOFTMAX[1:]
"""The variants that are right at any row length, the most traffic first."""


def assignment(lab: Lab) -> Assignment:
    """The kernel file of a lab, as an engine takes it."""
    path = KERNELS / f"{lab}.py"
    return Assignment(tuple(variant.entry for variant in VARIANTS[lab]), LIMITS, path.name, path.read_bytes())


def predicted(variant: Variant, rows: int, cols: int, itemsize: int) -> Level:
    """Requested bytes of one call."""
    elements = rows * cols
    loaded = visible(rows, cols) if variant.skips else variant.loads * elements
    return Level(loaded * itemsize, variant.stores * elements * itemsize)


def visible(rows: int, cols: int) -> int:
    """Elements in blocks that a causal mask does not hide whole.

    Row r is the query r % cols of a square score matrix. It needs the columns up to its own, rounded up to
    whole blocks.
    """
    queries = np.arange(min(rows, cols), dtype=np.int64)
    needed = np.minimum((queries // SKIPPED_BLOCK + 1) * SKIPPED_BLOCK, cols)
    matrices, rest = divmod(rows, cols)
    return matrices * int(needed.sum()) + int(needed[:rest].sum()) if matrices else int(needed.sum())
