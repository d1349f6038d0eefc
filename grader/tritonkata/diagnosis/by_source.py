"""Mistakes that give the same numbers and are told apart by what the source says of the lanes past a row's end."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import numpy as np

from tritonkata.diagnosis.fills import Fill
from tritonkata.hidden.candidate import Call
from tritonkata.model.observation import INTERPRETER
from tritonkata.model.report import CheckResult, MaskedLoad

ZERO_FILL = "padding_lanes_as_zero"
NO_FILL = "missing_other"
FINITE_FILL = "finite_fill"

_MOST_LINES = 16

_ABOUT: Mapping[str, Callable[[Fill], bool]] = {
    ZERO_FILL: lambda fill: fill.is_zero,
    NO_FILL: lambda fill: fill.is_missing,
    FINITE_FILL: lambda fill: fill.stands_in,
    "minus_infinity_row_as_number": lambda fill: fill.stands_in,
}
"""Which loads each mistake is about."""


def told_apart(
    names: tuple[str, ...], check: CheckResult, call: Call | None, found: tuple[Fill, ...]
) -> tuple[str, ...]:
    """The mistakes that are left of those that give the numbers of a check, the one to name first.

    Without any, numbers that are NaN may still come of lanes without a value.
    """
    if FINITE_FILL in names:
        names = _with_or_without_stand_in(names, found)
    if call is None or not _has_undefined_lanes(found):
        return names
    if names[:1] == (ZERO_FILL,):
        # The interpreter fills such lanes with NaN: numbers do not come of them.
        undefined = call.observation.engine != INTERPRETER or _gives_nan_for_numbers(call)
        return (NO_FILL, *names[1:]) if undefined else names
    mismatch = check.evidence.mismatch
    if not names and mismatch is not None and mismatch.kind == "nan" and _row_is_finite(call, mismatch.row):
        return (NO_FILL,)
    return names


def loads_about(diagnosis: str | None, check: CheckResult, found: tuple[Fill, ...]) -> tuple[MaskedLoad, ...]:
    """The lines that a mistake is about, where it is about masked loads.

    With several inputs a 0 may be right for one of them, so it is not pointed at.
    """
    case = check.evidence.case
    concerns = _ABOUT.get(diagnosis or "")
    if concerns is None or (diagnosis == ZERO_FILL and (case is None or len(case.shapes) > 1)):
        return ()
    return tuple(fill.evidence for fill in found if concerns(fill))[:_MOST_LINES]


def _with_or_without_stand_in(names: tuple[str, ...], found: tuple[Fill, ...]) -> tuple[str, ...]:
    if any(fill.stands_in for fill in found):
        return (FINITE_FILL,)
    if any(fill.value is None and not fill.is_missing for fill in found):
        return names
    return tuple(name for name in names if name != FINITE_FILL) or names


def _has_undefined_lanes(found: tuple[Fill, ...]) -> bool:
    """Whether a masked load names no value, and none of the same tensor names a finite one, which is mistake enough."""
    missing = {fill.pointer for fill in found if fill.is_missing}
    finite = {fill.pointer for fill in found if fill.value is not None and math.isfinite(fill.value)}
    return bool(missing) and not missing & finite


def _gives_nan_for_numbers(call: Call) -> bool:
    first = call.arguments[0]
    rows = range(first.shape[0]) if first.ndim == 2 else ()
    finite = [row for row in rows if _row_is_finite(call, row)]
    outputs = [output for output in call.outputs if output.shape[:1] == first.shape[:1]]
    return any(bool(np.isnan(output[finite].astype(np.float64)).any()) for output in outputs)


def _row_is_finite(call: Call, row: int | None) -> bool:
    first = call.arguments[0]
    if row is None or first.ndim != 2 or row >= first.shape[0]:
        return False
    return bool(np.isfinite(first[row].astype(np.float64)).all())
