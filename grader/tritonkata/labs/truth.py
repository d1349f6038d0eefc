"""The float64 truth of both labs, and every element of a result held against it.

Rows are worked on in chunks, several at a time, so that no float64 copy of a whole tensor is ever made.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tritonkata.hidden.asserts import excess
from tritonkata.hidden.tolerance import Float64s
from tritonkata.labs.model import Checked, Value, WrongRow
from tritonkata.labs.variants import SCALE, Lab

Array = NDArray[Any]
Truth = Callable[[Array, int], tuple[Float64s, Float64s]]
"""From some rows of x and the number of the first of them: the scores that exp is taken of, and the result."""

CHUNK_ELEMENTS = 1 << 19
COLUMNS_SHOWN = 6
_MOST_THREADS = 16
_SMALLEST_NORMAL = {"float32": 2.0**-126, "float16": 2.0**-14, "bfloat16": 2.0**-126}


@dataclass(frozen=True)
class _Part:
    """What a chunk of rows gave. `first_wrong` is a row within the chunk; `relative` is None without elements."""

    wrong: int
    rows_wrong: int
    first_wrong: int | None
    relative: float | None


def truth_of(lab: Lab) -> Truth:
    """The truth of a lab."""
    return _causal if lab == "fusion" else _plain


def check(truth: Truth, x: Array, got: Array) -> Checked:
    """Hold `got` against the truth of x, both of shape (rows, cols) and one dtype.

    Raises:
        ValueError: shape or dtype of `got` is not that of x.
    """
    if got.shape != x.shape or got.dtype != x.dtype:
        raise ValueError(f"the result is {got.dtype} {got.shape}, not {x.dtype} {x.shape}")
    step = max(CHUNK_ELEMENTS // x.shape[1], 1)
    begins = range(0, x.shape[0], step)
    with ThreadPoolExecutor(min(os.cpu_count() or 1, _MOST_THREADS)) as pool:
        parts = list(pool.map(lambda begin: _compare(truth, x, got, begin, step), begins))
    pairs = zip(begins, parts, strict=True)
    first = next((begin + part.first_wrong for begin, part in pairs if part.first_wrong is not None), None)
    return Checked(
        elements=x.size,
        wrong=sum(part.wrong for part in parts),
        rows_wrong=sum(part.rows_wrong for part in parts),
        largest_relative_error=_largest([part.relative for part in parts if part.relative is not None]),
        wrong_row=None if first is None else _wrong_row(truth, x, got, first),
    )


def _compare(truth: Truth, x: Array, got: Array, begin: int, step: int) -> _Part:
    part = got[begin : begin + step]
    scores, right = truth(x[begin : begin + step], begin)
    bad = excess(part, right, scores, "softmax") > 1.0
    rows = bad.any(axis=1)
    normal = right >= _SMALLEST_NORMAL[str(got.dtype)]
    with np.errstate(invalid="ignore"):
        errors = np.abs(part.astype(np.float64) - right)[normal] / right[normal]
    return _Part(
        wrong=int(bad.sum()),
        rows_wrong=int(rows.sum()),
        first_wrong=int(np.argmax(rows)) if rows.any() else None,
        # max gives NaN where one of the errors is.
        relative=float(errors.max()) if errors.size else None,
    )


def _wrong_row(truth: Truth, x: Array, got: Array, row: int) -> WrongRow:
    scores, right = truth(x[row : row + 1], row)
    bad = np.flatnonzero(excess(got[row : row + 1], right, scores, "softmax")[0] > 1.0)
    begin = 0 if bad[0] < COLUMNS_SHOWN else int(bad[0])
    columns = tuple(range(begin, min(begin + COLUMNS_SHOWN, x.shape[1])))
    shown = slice(begin, begin + len(columns))
    return WrongRow(
        row=row,
        wrong=int(bad.size),
        columns=columns,
        scores=_values(x[row, shown]),
        right=_values(right[0, shown]),
        got=_values(got[row, shown]),
    )


def _values(row: Array) -> tuple[Value, ...]:
    return tuple(_value(float(value)) for value in row)


def _value(value: float) -> Value:
    return value if np.isfinite(value) else str(value)


def _largest(errors: list[float]) -> Value | None:
    return _value(float(np.max(errors))) if errors else None


def _plain(x: Array, first_row: int) -> tuple[Float64s, Float64s]:  # noqa: ARG001 - rows are alike here
    scores = x.astype(np.float64)
    return scores, _softmax(scores)


def _causal(x: Array, first_row: int) -> tuple[Float64s, Float64s]:
    rows, cols = x.shape
    queries = (np.arange(first_row, first_row + rows) % cols)[:, None]
    scores = np.where(np.arange(cols)[None, :] <= queries, x.astype(np.float64) * SCALE, -np.inf)
    return scores, _softmax(scores)


def _softmax(scores: Float64s) -> Float64s:
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    result: Float64s = weights / weights.sum(axis=1, keepdims=True)
    return result
