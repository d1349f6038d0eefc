"""Answers of a worksheet: plain values, and what is wrong with one."""

from __future__ import annotations

from typing import Annotated

import msgspec

from tritonkata.model.faults import Fault

Number = int | float
Value = (
    bool
    | int
    | float
    | Annotated[str, msgspec.Meta(max_length=2000)]
    | None
    | Annotated[tuple[int | float | None, ...], msgspec.Meta(max_length=4096)]
)
Outcome = Value | Fault
"""What a question got: a value, or why there is none. None is a question that is still open."""
Arguments = Annotated[tuple[Value, ...], msgspec.Meta(max_length=16)]


UNANSWERED = "unanswered"
RAISES = "answer_raises"
NEVER_ENDS = "answer_never_ends"
OTHER_KIND = "answer_of_another_kind"
ROUNDED = "answer_rounded"
OF_ONE_QUESTION = frozenset({RAISES, NEVER_ENDS, OTHER_KIND, ROUNDED})
"""Mistakes of every worksheet whose words are about one question: two questions are two findings."""


class Answer(msgspec.Struct, frozen=True):
    """One wrong answer. `arguments` is the call where a function was asked for, `right` what it must give there.

    For a constant `right` is empty: the number is what the learner is to work out. `mistake` is the id of what
    went wrong; without a better one it is the question's own. `got` is empty where there is no value at all.
    `wanted` is the kind of value that is asked for, where another kind was given; `within` the relative tolerance,
    where the right value was rounded too far.
    """

    name: str
    got: str
    mistake: str
    arguments: str = ""
    right: str = ""
    wanted: str = ""
    within: float | None = None
