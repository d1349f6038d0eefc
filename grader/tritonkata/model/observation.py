"""What one run of one case gave."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Literal

import msgspec

from tritonkata.model.faults import Fault, Name, Text

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

TrafficSource = Literal["interpreter", "cupti", "ncu"]
Bytes = Annotated[int, msgspec.Meta(ge=0, le=1 << 62)]


class TensorTraffic(msgspec.Struct, frozen=True):
    """Bytes that kernels and host copies asked of one tensor's storage.

    `unique_*` counts every byte once, so `loaded / unique_loaded` is the number of passes.
    """

    tensor: Name
    loaded: Bytes = 0
    stored: Bytes = 0
    unique_loaded: Bytes = 0
    unique_stored: Bytes = 0


class Traffic(msgspec.Struct, frozen=True):
    """Requested bytes of one run; masked-off lanes are not counted."""

    source: TrafficSource
    loaded: Bytes
    stored: Bytes
    per_tensor: Annotated[tuple[TensorTraffic, ...], msgspec.Meta(max_length=256)] = ()


class Resources(msgspec.Struct, frozen=True):
    """What the compiler says of one kernel for one target. Absent figures are None."""

    kernel: Name
    target: Name
    num_warps: int
    shared_bytes: int
    registers: int | None = None
    spilled_bytes: int | None = None


class Unwritten(msgspec.Struct, frozen=True):
    """Elements of one output that no kernel wrote, so that they hold whatever was in memory.

    `first` and `last` are indices into the output's shape, in row-major order.
    """

    output: int
    count: int
    first: tuple[int, ...]
    last: tuple[int, ...]


@dataclass(frozen=True)
class Observation:
    """One run of one case.

    `outputs` are arrays with the strides that the submission returned. Either
    `fault` is set, or `outputs` holds one array for each returned tensor.
    What an engine cannot measure is None, with the reason in `absent`.
    """

    engine: str
    outputs: tuple[NDArray[np.generic], ...] = ()
    fault: Fault | None = None
    inputs_changed: tuple[str, ...] = ()
    unwritten: tuple[Unwritten, ...] = ()
    traffic: Traffic | None = None
    notes: tuple[Text, ...] = ()
    launches: int = 0
    resources: tuple[Resources, ...] = ()
    returned_tuple: bool = False
    absent: dict[str, str] = field(default_factory=dict)
