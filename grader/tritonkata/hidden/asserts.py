"""Assertions of hidden tests. Each failure is data, not prose."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from tritonkata.hidden.tolerance import Float64s, Kind, distance_to_maximum, tolerance
from tritonkata.model.answers import Answer
from tritonkata.model.faults import Fault, Verdict
from tritonkata.model.observation import LAUNCHER, Observation
from tritonkata.model.report import Evidence, Mismatch

COLUMNS_SHOWN = 6
ROWS_AT_ONCE = 256
Array = NDArray[Any]


class CheckFailed(AssertionError):
    """A hidden check failed, with the evidence for it."""

    def __init__(self, verdict: Verdict, message: str, evidence: Evidence) -> None:
        super().__init__(message)
        self.verdict = verdict
        self.message = message
        self.evidence = evidence


class CandidateFault(CheckFailed):
    """The submission gave no output for a case, or no `answer` to a question.

    With `is_limit` a trusted process says that this machine cannot run the case: that is no mistake.
    """

    def __init__(self, fault: Fault, answer: Answer | None = None, *, is_limit: bool = False) -> None:
        super().__init__(fault.verdict, fault.message, Evidence(fault=fault, answer=answer))
        self.fault = fault
        self.is_limit = is_limit


def assert_matches(got: Array, expected: Array, scores: Array | None = None, kind: Kind = "softmax") -> None:
    """Every element of `got` within the tolerance table of the float64 truth.

    Args:
        got: what the submission returned, with its own strides.
        expected: the oracle's float64 result; its shape and the input's dtype decide the rest.
        scores: what exp is taken of, of the result's shape; decides the term |x_i - m|.
        kind: the row of the table.

    Raises:
        CheckFailed: `invalid_output` for a wrong shape, dtype or layout, else `wrong_output`.
    """
    assert_form(got, expected.shape, got.dtype)
    mismatch = compare(got, expected, scores, kind)
    if mismatch is not None:
        raise CheckFailed("wrong_output", _one_line(mismatch), Evidence(mismatch=mismatch))


def compare(got: Array, expected: Float64s, scores: Array | None, kind: Kind) -> Mismatch | None:
    """The mismatch between arrays of equal shape, or None within tolerance."""
    found = excess(got, expected, scores, kind)
    bad = found > 1.0
    if not bad.any():
        return None
    rows = np.atleast_2d(bad) if bad.ndim < 2 else bad.reshape(-1, bad.shape[-1])
    row = int(np.argmax(rows.any(axis=-1)))
    columns = np.flatnonzero(rows[row])[:COLUMNS_SHOWN]
    flat = (-1, rows.shape[-1])
    right, wrong = expected.reshape(flat)[row, columns], got.astype(np.float64).reshape(flat)[row, columns]
    return Mismatch(
        kind=_kind(right, wrong),
        wrong=int(bad.sum()),
        total=int(bad.size),
        rows_wrong=int(rows.any(axis=-1).sum()),
        row=row,
        columns=tuple(int(column) for column in columns),
        expected=tuple(_plain(value) for value in right),
        got=tuple(_plain(value) for value in wrong),
        worst=float(found.max()) if np.isfinite(found.max()) else None,
        relative=_relative(got.astype(np.float64)[bad], expected[bad]),
    )


def assert_no_fault(observation: Observation) -> None:
    """The run ended with an output."""
    if observation.fault is not None:
        # Workers say what they like, and would so be rid of a check; the launcher is no worker.
        is_limit = observation.engine == LAUNCHER and observation.fault.verdict == "skipped"
        raise CandidateFault(observation.fault, is_limit=is_limit)


def assert_unchanged(observation: Observation) -> None:
    """The storages of the inputs hold after the call what they held before it."""
    assert_no_fault(observation)
    if observation.inputs_changed:
        names = ", ".join(observation.inputs_changed)
        mismatch = Mismatch(kind="input_changed", result=names, expected_text="unchanged", got_text="written to")
        raise CheckFailed("wrong_output", f"the call changed its input {names}", Evidence(mismatch=mismatch))


def assert_rows_match(
    observation: Observation,
    oracle: Callable[..., Float64s],
    *arguments: Array,
    scores: Callable[..., Array] = lambda x, *_: x,
    kind: Kind = "softmax",
) -> None:
    """As `assert_matches`, for results too large to compare at once: a part of the rows at a time.

    Compares every element of the first result of the run, and of each further run whose result was not the same.

    Args:
        observation: of a timed run.
        oracle: the float64 truth as a function of rows of the arguments.
        arguments: what the call was given; the rows are their first axis.
        scores: what exp is taken of, as a function of rows of the arguments.
        kind: the row of the tolerance table.

    Raises:
        CheckFailed: `invalid_output` for a wrong shape, dtype or layout, else `wrong_output`.
    """
    assert_unchanged(observation)
    for outputs in (observation.outputs, *observation.others):
        got = outputs[0]
        assert_form(got, arguments[0].shape, arguments[0].dtype)

        def failure(begin: int, got: Array = got) -> CheckFailed | None:
            rows = slice(begin, begin + ROWS_AT_ONCE)
            parts = [argument[rows] for argument in arguments]
            mismatch = compare(got[rows], oracle(*parts), scores(*parts), kind)
            if mismatch is None:
                return None
            placed = msgspec.structs.replace(mismatch, row=(mismatch.row or 0) + begin, total=got.size)
            return CheckFailed("wrong_output", _one_line(placed), Evidence(mismatch=placed))

        with ThreadPoolExecutor() as pool:
            failures = list(filter(None, pool.map(failure, range(0, len(got), ROWS_AT_ONCE))))
        if failures:
            raise failures[0]


def assert_form(got: Array, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
    """A result of this shape and dtype, contiguous.

    Raises:
        CheckFailed: `invalid_output`, with which of the three is wrong.
    """
    wrong = None
    if got.shape != shape:
        wrong = Mismatch(kind="shape", expected_text=str(shape), got_text=str(got.shape))
    elif got.dtype != dtype:
        wrong = Mismatch(kind="dtype", expected_text=str(dtype), got_text=str(got.dtype))
    elif not got.flags.c_contiguous and got.size:
        strides = tuple(stride // got.dtype.itemsize for stride in got.strides)
        wrong = Mismatch(kind="strides", expected_text="contiguous", got_text=f"strides {strides}")
    if wrong is not None:
        message = f"the result {_form(wrong)}, it must be {wrong.expected_text}"
        raise CheckFailed("invalid_output", message, Evidence(mismatch=wrong))


def _form(wrong: Mismatch) -> str:
    # "has strides (2000, 2)" carries its noun already.
    return f"has {wrong.got_text}" if wrong.kind == "strides" else f"has the {wrong.kind} {wrong.got_text}"


def excess(got: Array, expected: Float64s, scores: Array | None, kind: Kind) -> Float64s:
    """|got - expected| in units of the tolerance; infinite where NaN or infinity stands in the wrong place."""
    values = got.astype(np.float64)
    distance = distance_to_maximum(None if scores is None else scores.astype(np.float64), expected.shape)
    name = str(got.dtype) if str(got.dtype) in ("float16", "bfloat16") else "float32"
    bound = tolerance(expected, distance, name, kind)
    with np.errstate(invalid="ignore"):
        units = np.abs(values - expected) / bound
    same_special = (np.isnan(values) & np.isnan(expected)) | (np.isinf(expected) & (values == expected))
    special = ~np.isfinite(values) | ~np.isfinite(expected)
    return np.where(special, np.where(same_special, 0.0, np.inf), units)


def _relative(wrong: Float64s, right: Float64s) -> float | None:
    """The largest error as a share of what is right."""
    with np.errstate(all="ignore"):
        largest = float((np.abs(wrong - right) / np.abs(right)).max())
    return largest if np.isfinite(largest) else None


def _kind(right: Float64s, wrong: Float64s) -> Any:
    if (np.isnan(right) != np.isnan(wrong)).any():
        return "nan"
    if (np.isinf(right) != np.isinf(wrong)).any():
        return "infinity"
    return "values"


def _plain(value: np.float64) -> float | str:
    if np.isnan(value):
        return "nan"
    if np.isinf(value):
        return "inf" if value > 0 else "-inf"
    return float(value)


def _one_line(mismatch: Mismatch) -> str:
    place = f"row {mismatch.row}, column {mismatch.columns[0]}"
    return f"{mismatch.wrong} of {mismatch.total} elements are wrong, first at {place}"
