"""Numbers, shapes and lists in the form that helps a reader."""

from __future__ import annotations

import math
from collections.abc import Sequence

from tritonkata.model.report import Case, Mismatch

DIGITS = 5
_MOST_DIGITS = 17
_GROUP_FROM = 10_000
_MANY = 1e6
_FEW = 6

Number = int | float | str


def number(value: Number | None, digits: int = DIGITS) -> str:
    """`value` with `digits` significant digits; large integers with thousands separators.

    Text such as `"nan"` (how a report writes what JSON cannot) stays as it is.
    """
    if value is None:
        return "not measured"
    if isinstance(value, str):
        return value
    if isinstance(value, int):
        return f"{value:,}" if abs(value) >= _GROUP_FROM else str(value)
    if not math.isfinite(value):
        return str(value)
    mantissa, _, exponent = f"{value:.{digits}g}".partition("e")
    return f"{mantissa}e{int(exponent)}" if exponent else mantissa


def pair(expected: Number, got: Number) -> tuple[str, str]:
    """Both values, with as many digits as it takes to tell them apart (five if that is enough)."""
    for digits in range(DIGITS, _MOST_DIGITS + 1):
        left, right = number(expected, digits), number(got, digits)
        if left != right:
            break
    return left, right


def times(factor: float) -> str:
    """`35.1 times`; beyond a million the number itself says nothing more."""
    return f"{number(factor, 3)} times" if factor < _MANY else "more than a million times"


def how_often(count: float) -> str:
    """`once`, `2 times`, `0.5 times`."""
    text = number(float(count), 3)
    return "once" if text == "1" else f"{text} times"


def digits_right(mismatch: Mismatch | None) -> int:
    """To how many decimal digits every wrong element is right; 0 where one is not even that, or nothing is known."""
    relative = mismatch.relative if mismatch is not None and mismatch.kind == "values" else None
    return 0 if not relative else max(0, math.floor(-math.log10(relative)))


def pairs(mismatch: Mismatch | None) -> tuple[tuple[str, str, str], ...]:
    """Rows of (column, right, got) for the first bad row, up to six."""
    if mismatch is None:
        return ()
    rows = zip(mismatch.columns, mismatch.expected, mismatch.got, strict=False)
    return tuple((number(column), *pair(expected, got)) for column, expected, got in rows)[:6]


def columns(indices: Sequence[int]) -> str:
    """`column 3`, `columns 4 to 9`, `columns 0, 2 and 5`."""
    if not indices:
        return "no column"
    if len(indices) == 1:
        return f"column {indices[0]}"
    first, last = indices[0], indices[-1]
    if len(indices) > 2 and list(indices) == list(range(first, last + 1)):
        return f"columns {first} to {last}"
    return f"columns {joined([str(index) for index in indices])}"


def lines(numbers: Sequence[int]) -> str:
    """`line 12`, `lines 12, 17 and 23`; of more than six only the first ones."""
    return f"{'line' if len(numbers) == 1 else 'lines'} {joined(few([str(number) for number in numbers]))}"


def few(words: Sequence[str]) -> list[str]:
    """The first six of many words, and how many more there are."""
    more = len(words) - _FEW
    return [*words[:_FEW], f"{more} more"] if more > 1 else list(words)


def joined(words: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    return " and ".join(part for part in (", ".join(words[:-1]), *words[-1:]) if part)


def are(count: int) -> str:
    """`is` of one, `are` of any other number."""
    return "is" if count == 1 else "are"


def plural(count: float, noun: str, many: str = "") -> str:
    """`1 row`, `7 rows`; `many` where adding an s is wrong."""
    return f"{number(count)} {noun if count == 1 else many or noun + 's'}"


def shape(extents: Sequence[int]) -> str:
    """`(4, 1000)`, and `(4,)` for one dimension, as Python writes it."""
    return f"({extents[0]},)" if len(extents) == 1 else f"({', '.join(str(extent) for extent in extents)})"


def size(nbytes: float) -> str:
    """Bytes with a binary unit: `16,000 bytes`, `1.5 MiB`."""
    for unit, factor in (("GiB", 1 << 30), ("MiB", 1 << 20)):
        if nbytes >= factor:
            return f"{number(nbytes / factor, 4)} {unit}"
    return plural(round(nbytes), "byte")


def described(case: Case | None) -> str:
    """The input of a case in one line: dtype and shape of each tensor, strides where they matter."""
    if case is None:
        return ""
    tensors = zip(case.dtypes, case.shapes, case.strides, strict=False)
    return ", ".join(_tensor(dtype, extents, strides) for dtype, extents, strides in tensors)


def _tensor(dtype: str, extents: Sequence[int], strides: Sequence[int]) -> str:
    text = f"{dtype} {shape(extents)}"
    packed = [math.prod(extents[place + 1 :]) for place in range(len(extents))]
    matters = any(
        extent > 1 and stride != dense for extent, stride, dense in zip(extents, strides, packed, strict=False)
    )
    return f"{text} with strides {shape(strides)}" if matters and 0 not in extents else text
