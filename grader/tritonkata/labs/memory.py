"""Whether a shape fits in this machine, told before anything is allocated."""

from __future__ import annotations

from tritonkata.engine.arrays import MAX_OUTPUT_BYTES
from tritonkata.feedback.numbers import number, size

COPIES = 8
"""Times a tensor's bytes that controller and launcher hold together at the worst moment: the input and the output
in each of them, what is on its way between them, and what outputs are compared with."""

BASE_BYTES = 3 << 30
"""For the processes themselves."""


class TooLarge(Exception):
    """A shape that does not fit. The message has both sizes and a shape that would."""


def refuse_too_large(rows: int, cols: int, itemsize: int, available: int | None) -> None:
    """Compare what a shape needs with `available` bytes of memory (None where that is not known).

    Raises:
        TooLarge: it does not fit.
    """
    unit = rows * cols * itemsize
    if unit > MAX_OUTPUT_BYTES:
        reason = f"has {size(unit)}, more than the {size(MAX_OUTPUT_BYTES)} that one tensor may have"
        raise TooLarge(_told(rows, cols, reason, unit / MAX_OUTPUT_BYTES))
    needed = COPIES * unit + BASE_BYTES
    if available is not None and needed > available:
        left = max(available - BASE_BYTES, 0)
        reason = f"needs {size(needed)} of memory, {size(available)} are available"
        raise TooLarge(_told(rows, cols, reason, COPIES * unit / left if left else float("inf")))


def too_large_for_gpu(rows: int, cols: int, told: str) -> TooLarge:
    """The card turned a shape down; `told` is what the launcher said."""
    return TooLarge(_told(rows, cols, f"does not fit on the GPU ({told})", 2.0))


def _told(rows: int, cols: int, reason: str, factor: float) -> str:
    return f"{number(rows)} x {number(cols)} {reason}; {_smaller(rows, cols, factor)}"


def _smaller(rows: int, cols: int, factor: float) -> str:
    """A power of two of rows, and if need be of columns, that is smaller by `factor`."""
    if factor == float("inf"):
        return "close other programs first"
    fitting = int(rows * cols / factor)
    fewer = fitting // cols
    if fewer >= 1:
        return f"try --rows {_power_of_two(fewer)}"
    return f"try --rows 1 --cols {_power_of_two(max(fitting, 1))}"


def _power_of_two(value: int) -> int:
    """The largest that is not above `value`."""
    return 1 << (value.bit_length() - 1)
