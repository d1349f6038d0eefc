"""One answer of a worksheet beside another: the same, rounded, or of another kind; and how it is written."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import TypeGuard

from tritonkata.model.answers import Outcome, Value

_DIGITS = 6
_MOST_DIGITS = 17
_MOST_CHARACTERS = 60
_FEWEST_DIGITS = 2
"""Of one digit nobody can say what it was rounded from."""


def same(got: Value, right: Value, rel: float) -> bool:
    """Whether two values are one: NaN is NaN, infinity is infinity, numbers agree within `rel`."""
    if isinstance(right, tuple):
        return (
            isinstance(got, tuple)
            and len(got) == len(right)
            and all(same(one, other, rel) for one, other in zip(got, right, strict=True))
        )
    if isinstance(right, str):
        return isinstance(got, str) and "".join(got.lower().split()) == "".join(right.lower().split())
    if right is None or got is None or isinstance(got, tuple | str) or isinstance(right, bool) != isinstance(got, bool):
        return got is None and right is None
    if math.isnan(right) or math.isnan(got):
        return math.isnan(right) and math.isnan(got)
    return math.isclose(got, right, rel_tol=rel, abs_tol=1e-300)


def is_rounded(got: Outcome, right: Value, rel: float) -> bool:
    """Whether `got` is what is right, rounded or cut off after fewer digits than `rel` asks for."""
    if isinstance(got, tuple) and isinstance(right, tuple):
        pairs = list(zip(got, right, strict=False))
        return len(got) == len(right) and all(same(*pair, rel) or is_rounded(*pair, rel) for pair in pairs)
    if not _is_number(got) or not _is_number(right):
        return False
    # The shortest text that gives the number back has the digits that the learner wrote.
    written, exact = Decimal(repr(got)).normalize(), Decimal(right)
    last = Decimal(1).scaleb(written.adjusted() - len(written.as_tuple().digits) + 1)
    off = abs(written - exact)
    is_cut = abs(written) < abs(exact) and off < last
    return len(written.as_tuple().digits) >= _FEWEST_DIGITS and (is_cut or off <= last / 2)


def breaks(value: Value, right: Value) -> bool:
    """Whether a value has NaN or infinity where what is right has something else."""
    if isinstance(value, tuple) and isinstance(right, tuple) and len(value) == len(right):
        return any(breaks(one, other) for one, other in zip(value, right, strict=True))
    return isinstance(value, float) and not math.isfinite(value) and not same(value, right, 0.0)


def kind(value: Value) -> str:
    """What kind of answer a value is: `a number`, `3 numbers`."""
    match value:
        case None:
            return "nothing yet"
        case bool():
            return "True or False"
        case str():
            return "a text"
        case tuple():
            return _kind_of_tuple(value)
    return "a number"


def pair(got: Value, right: Value) -> tuple[str, str]:
    """Two values that differ, with as many digits as it takes to tell them apart."""
    told = (shown(got), shown(right))
    for digits in range(_DIGITS + 1, _MOST_DIGITS + 1):
        if told[0] != told[1]:
            break
        told = (shown(got, digits), shown(right, digits))
    return told


def shown(value: Value, digits: int = _DIGITS) -> str:
    """A value as a learner would write it."""
    if isinstance(value, tuple):
        return f"({', '.join(shown(one, digits) for one in value)})"
    if isinstance(value, float):
        return f"{value:.{digits}g}"
    if isinstance(value, str):
        return repr(value if len(value) <= _MOST_CHARACTERS else f"{value[:_MOST_CHARACTERS]}...")
    return str(value)


def _is_number(value: object) -> TypeGuard[int | float]:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _kind_of_tuple(value: tuple[int | float | None, ...]) -> str:
    numbers = sum(one is not None for one in value)
    if numbers < len(value):
        return f"a tuple with {numbers} of {len(value)} numbers"
    return "a tuple of one number" if numbers == 1 else f"a tuple of {numbers} numbers"
