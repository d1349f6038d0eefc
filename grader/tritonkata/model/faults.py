"""What can go wrong with a submission, as data. Prose is made from it elsewhere."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

Verdict = Literal[
    "pass",
    "wrong_output",
    "out_of_bounds",
    "uninitialised_read",
    "race",
    "compile_error",
    "runtime_error",
    "timeout",
    "forbidden_host_op",
    "over_budget",
    "too_slow",
    "invalid_output",
    "skipped",
    "grader_error",
]

Phase = Literal["load", "host", "compile", "kernel", "answer", "result", "protocol"]
"""Where it happened: import of the file, host code of the entry point, the
compiler, inside the kernel, in the answer to a question of a worksheet, in what
was returned, or the process ended early."""

Text = Annotated[str, msgspec.Meta(max_length=2000)]
Line = Annotated[int, msgspec.Meta(ge=0, le=10_000_000)]
Name = Annotated[str, msgspec.Meta(max_length=200)]


class Access(msgspec.Struct, frozen=True):
    """One memory access that should not have happened.

    `tensor` is the name of the parameter or allocation nearest to the
    address; `element` counts elements from the first element of that tensor's
    storage (negative before it); `row` and `column` are set when the element lies
    inside the shape's rows. `program` is the program id (x, y, z).
    """

    operation: Literal["load", "store", "atomic"]
    tensor: Name
    element: int
    storage_elements: int
    program: Annotated[tuple[int, ...], msgspec.Meta(max_length=3)]
    kernel: Name = ""
    line: Line | None = None
    row: int | None = None
    column: int | None = None
    masked: bool = False
    """Whether the access had a mask at all."""


class Fault(msgspec.Struct, frozen=True):
    """Why a submission gave no output for a case.

    `line` is a line number of the submission's own file. `operation` names a
    refused host operation or a construct that the interpreter does not know.
    """

    verdict: Literal[
        "out_of_bounds",
        "uninitialised_read",
        "race",
        "compile_error",
        "runtime_error",
        "timeout",
        "forbidden_host_op",
        "invalid_output",
        "skipped",
        "grader_error",
    ]
    phase: Phase
    message: Text
    error: Name = ""
    line: Line | None = None
    operation: Name = ""
    advice: Text = ""
    access: Access | None = None
