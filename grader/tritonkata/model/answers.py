"""Answers of a worksheet: plain values, and what is wrong with one."""

from __future__ import annotations

from typing import Annotated

import msgspec

Number = int | float
Value = (
    bool
    | int
    | float
    | Annotated[str, msgspec.Meta(max_length=2000)]
    | None
    | Annotated[tuple[int | float | None, ...], msgspec.Meta(max_length=4096)]
)
Arguments = Annotated[tuple[Value, ...], msgspec.Meta(max_length=16)]


class Answer(msgspec.Struct, frozen=True):
    """One wrong answer. `arguments` is the call where a function was asked for, `right` what it must give there.

    For a constant `right` is empty: the number is what the learner is to work out. `mistake` is the id of what
    went wrong; without a better one it is the question's own.
    """

    name: str
    got: str
    mistake: str
    arguments: str = ""
    right: str = ""
