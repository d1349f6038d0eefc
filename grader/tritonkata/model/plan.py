"""The launch plan: what tracing a submission for one input signature yields.

A plan holds no Python and no values of inputs. It is written by an untrusted
process, so every number is bounded here and checked again, against the buffers
and the device, in `tritonkata.boundary.validate`.
"""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from tritonkata.model.faults import Name, Text
from tritonkata.model.tensors import TensorSpec

MAX_CUBIN_BYTES = 8 << 20
MAX_TTIR_CHARACTERS = 4 << 20
MAX_BUFFER_BYTES = 1 << 38

BufferId = Annotated[int, msgspec.Meta(ge=0, lt=256)]
ByteCount = Annotated[int, msgspec.Meta(ge=0, le=MAX_BUFFER_BYTES)]
ScalarType = Literal[
    "i1", "i8", "i16", "i32", "i64", "u1", "u8", "u16", "u32", "u64", "fp16", "bf16", "fp32", "f32", "fp64"
]


class Buffer(msgspec.Struct, frozen=True):
    """One allocation. Buffers 0 .. n_inputs-1 are the storages of the inputs, in argument order.

    `name` is the parameter's name for an input and something readable for an allocation.
    """

    nbytes: ByteCount
    name: Name = ""


class View(msgspec.Struct, frozen=True):
    """A tensor view of a buffer (`spec.offset` counts elements from the buffer's first byte)."""

    buffer: BufferId
    spec: TensorSpec


class Pointer(msgspec.Struct, frozen=True, tag="pointer"):
    """A kernel argument: the address of a byte of a buffer."""

    buffer: BufferId
    offset: ByteCount


class Scalar(msgspec.Struct, frozen=True, tag="scalar"):
    """A kernel argument passed by value. `value` is an int, or a float for fp types."""

    scalar_type: ScalarType
    value: int | float


class Origin(msgspec.Struct, frozen=True):
    """What a cubin was compiled from: Triton's own intermediate form as text, and the options that it was given."""

    ttir: Annotated[str, msgspec.Meta(max_length=MAX_TTIR_CHARACTERS)]
    options: Annotated[dict[Name, int | bool | None], msgspec.Meta(max_length=32)]


class Kernel(msgspec.Struct, frozen=True):
    """One compiled kernel. `cubin` is empty for a target that only compiles, `origin` None unless it was asked for.

    `shared_bytes` is dynamic shared memory. `global_scratch_*` and
    `profile_scratch_*` are what Triton's metadata asks for, per program.
    """

    name: Name
    cubin: Annotated[bytes, msgspec.Meta(max_length=MAX_CUBIN_BYTES)]
    num_warps: Annotated[int, msgspec.Meta(ge=1, le=64)]
    num_ctas: Annotated[int, msgspec.Meta(ge=1, le=16)] = 1
    shared_bytes: Annotated[int, msgspec.Meta(ge=0, le=1 << 20)] = 0
    global_scratch_bytes: Annotated[int, msgspec.Meta(ge=0, le=1 << 30)] = 0
    global_scratch_align: Annotated[int, msgspec.Meta(ge=1, le=4096)] = 1
    profile_scratch_bytes: Annotated[int, msgspec.Meta(ge=0, le=1 << 30)] = 0
    profile_scratch_align: Annotated[int, msgspec.Meta(ge=1, le=4096)] = 1
    cooperative: bool = False
    programmatic_launch: bool = False
    registers: Annotated[int, msgspec.Meta(ge=0, le=4096)] | None = None
    spilled_bytes: Annotated[int, msgspec.Meta(ge=0, le=1 << 24)] | None = None
    origin: Origin | None = None


class Fill(msgspec.Struct, frozen=True, tag="fill"):
    """Host operation: every element of a view becomes `value` (zeros, full, fill_)."""

    view: View
    value: int | float | bool


class Copy(msgspec.Struct, frozen=True, tag="copy"):
    """Host operation: `source` copied into `target`, same shape and dtype (`contiguous()`, `clone`)."""

    source: View
    target: View


class Launch(msgspec.Struct, frozen=True, tag="launch"):
    """One launch of `LaunchPlan.kernels[kernel]`.

    `arguments` are in the cubin's parameter order, without the scratch
    pointers that Triton appends.
    """

    kernel: Annotated[int, msgspec.Meta(ge=0, lt=256)]
    grid: Annotated[tuple[int, int, int], msgspec.Meta()]
    arguments: Annotated[tuple[Pointer | Scalar, ...], msgspec.Meta(max_length=256)]


Step = Fill | Copy | Launch


class Choice(msgspec.Struct, frozen=True, tag="choice"):
    """One autotuned launch: each variant is one configuration; the launcher keeps the fastest.

    `labels` describe the configurations, in the same order.
    """

    variants: Annotated[
        tuple[Annotated[tuple[Step, ...], msgspec.Meta(max_length=64)], ...], msgspec.Meta(max_length=64)
    ]
    labels: Annotated[tuple[Text, ...], msgspec.Meta(max_length=64)] = ()


class LaunchPlan(msgspec.Struct, frozen=True):
    """Everything needed to run one call of an entry point on a GPU, or to show that it compiles.

    `target` is `sm_90`, `sm_80`, `sm_100` or `gfx942`; `outputs` are the returned tensors in order.
    """

    target: Annotated[str, msgspec.Meta(max_length=16)]
    n_inputs: Annotated[int, msgspec.Meta(ge=0, le=16)]
    buffers: Annotated[tuple[Buffer, ...], msgspec.Meta(max_length=256)]
    kernels: Annotated[tuple[Kernel, ...], msgspec.Meta(max_length=256)]
    steps: Annotated[tuple[Step | Choice, ...], msgspec.Meta(max_length=256)]
    outputs: Annotated[tuple[View, ...], msgspec.Meta(max_length=16)]
    returned_tuple: bool = False


class InvalidPlan(Exception):
    """A plan that must not reach the launcher. The message says which rule it broke."""
