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


class LineTraffic(msgspec.Struct, frozen=True):
    """Bytes that one line of the submission asked of one tensor's storage."""

    line: Annotated[int, msgspec.Meta(ge=0, le=1 << 20)]
    loaded: Bytes = 0
    stored: Bytes = 0


class TensorTraffic(msgspec.Struct, frozen=True):
    """Bytes that kernels and host copies asked of one tensor's storage.

    `unique_*` counts every byte once, so `loaded / unique_loaded` is the number of passes.
    `lines` are the lines of kernels that asked, in order of line number; host copies have none.
    """

    tensor: Name
    loaded: Bytes = 0
    stored: Bytes = 0
    unique_loaded: Bytes = 0
    unique_stored: Bytes = 0
    lines: Annotated[tuple[LineTraffic, ...], msgspec.Meta(max_length=64)] = ()


class Level(msgspec.Struct, frozen=True):
    """Bytes at one level of the memory hierarchy."""

    loaded: Bytes = 0
    stored: Bytes = 0

    @property
    def total(self) -> int:
        """Both directions."""
        return self.loaded + self.stored


class Traffic(msgspec.Struct, frozen=True):
    """Bytes of one run of one case, all launches added up.

    `loaded` and `stored` are requested bytes: what the program asks for, whatever a cache absorbs;
    masked-off lanes are not counted. `async_copied`, `tma_loaded` and `tma_stored` are the parts of them
    that did not go through registers. `spilled` is what registers spilled to memory moved, and no part of
    the others. `counted` is the interpreter's count of the same case, where hardware was the source.
    `absent` gives the reason for each level that could not be measured.
    """

    source: TrafficSource
    loaded: Bytes
    stored: Bytes
    per_tensor: Annotated[tuple[TensorTraffic, ...], msgspec.Meta(max_length=256)] = ()
    async_copied: Bytes | None = None
    tma_loaded: Bytes | None = None
    tma_stored: Bytes | None = None
    spilled: Bytes | None = None
    l2: Level | None = None
    dram: Level | None = None
    counted: Level | None = None
    absent: dict[str, str] = {}

    @property
    def requested(self) -> Level:
        """The level that a budget is graded on."""
        return Level(self.loaded, self.stored)


class Speed(msgspec.Struct, frozen=True):
    """Times of one case beside copies of the same bytes, in microseconds of device time.

    A round is copy, run, copy. `kernel_us` and `copy_us` are medians over the rounds that were kept,
    `fraction_of_copy` is the median of each round's copy over its run. `repeated` counts the rounds
    that were thrown away since their two copies disagreed by more than 2 %.
    """

    kernel_us: float
    copy_us: float
    fraction_of_copy: float
    copy_bytes: Bytes
    rounds: int
    repeated: int = 0
    notes: Annotated[tuple[Text, ...], msgspec.Meta(max_length=16)] = ()


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


LAUNCHER, INTERPRETER, TRACER = "gpu", "interpreter", "trace"
"""Where an observation comes from: of these the launcher alone runs nothing of a submission's Python."""


@dataclass(frozen=True)
class Observation:
    """One run of one case.

    `outputs` are arrays with the strides that the submission returned. Either
    `fault` is set, or `outputs` holds one array for each returned tensor.
    `others` are outputs of further runs of the case that were not the same bit for bit.
    What an engine cannot measure is None, with the reason in `absent`. `engine` is one of the three above.
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
    speed: Speed | None = None
    others: tuple[tuple[NDArray[np.generic], ...], ...] = ()
    absent: dict[str, str] = field(default_factory=dict)
