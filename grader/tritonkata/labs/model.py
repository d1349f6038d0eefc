"""What a lab found, as data. Tables, pictures and pages are made from it elsewhere."""

from __future__ import annotations

from typing import Literal

import msgspec

from tritonkata.model.faults import Fault
from tritonkata.model.observation import Level, Resources, Speed, Traffic
from tritonkata.model.report import Engine

FORMAT_VERSION = 1
MICROSECONDS = 1e6
GIGA = 1e9

DTypeName = Literal["float32", "float16", "bfloat16"]
Value = float | str
"""A number; what JSON cannot write is text: `nan`, `inf`, `-inf`."""


class Environment(msgspec.Struct, frozen=True):
    """Where and when it was measured. `driver` is NVIDIA's, `cuda` the newest version that it serves."""

    date: str
    processor: str
    python: str
    tritonkata: str
    numpy: str
    triton: str | None = None
    torch: str | None = None
    card: str | None = None
    driver: str | None = None
    cuda: str | None = None
    l2_bytes: int | None = None


class Options(msgspec.Struct, frozen=True):
    """What was asked for.

    `rounds` is how often each variant is timed. `bandwidth` is in 10^9 bytes a second: what lower bounds are
    computed with, in place of a copy's.
    """

    rows: int
    cols: int
    dtype: DTypeName
    seed: int
    rounds: int
    bandwidth: float | None = None

    @property
    def itemsize(self) -> int:
        """Bytes of one element."""
        return 4 if self.dtype == "float32" else 2

    @property
    def unit_bytes(self) -> int:
        """Bytes of one traversal."""
        return self.rows * self.cols * self.itemsize


class WrongRow(msgspec.Struct, frozen=True):
    """Some neighbouring columns of the first wrong row: the scores, the truth, and what came out.

    `wrong` counts the wrong elements of the whole row.
    """

    row: int
    wrong: int
    columns: tuple[int, ...]
    scores: tuple[Value, ...]
    right: tuple[Value, ...]
    got: tuple[Value, ...]


class Checked(msgspec.Struct, frozen=True):
    """Every element of a result against the float64 truth, by the tolerance table.

    `largest_relative_error` is over the elements whose truth is a normal number of the dtype; None where no
    element is.
    """

    elements: int
    wrong: int
    rows_wrong: int
    largest_relative_error: Value | None
    wrong_row: WrongRow | None = None

    @property
    def passed(self) -> bool:
        """Whether no element is wrong."""
        return self.wrong == 0


class LabRow(msgspec.Struct, frozen=True):
    """One variant.

    `predicted` are the requested bytes that counting passes on paper gives for the shape asked for;
    `predicted_ran` the same for the shape that ran, which `traffic` is about. torch's kernel has no prediction.
    `effective` is requested bytes over time, in 10^9 bytes a second; `lower_bound_us` is `predicted` at the
    lab's bandwidth. `absent` gives the reason for each figure that could not be had.
    """

    variant: str
    title: str
    predicted: Level | None = None
    predicted_ran: Level | None = None
    traffic: Traffic | None = None
    checked: Checked | None = None
    speed: Speed | None = None
    effective: float | None = None
    lower_bound_us: float | None = None
    launches: int | None = None
    resources: tuple[Resources, ...] = ()
    fault: Fault | None = None
    absent: dict[str, str] = {}

    @property
    def as_predicted(self) -> bool | None:
        """Whether the requested bytes are the predicted ones, to the byte."""
        if self.traffic is None or self.predicted_ran is None:
            return None
        return self.traffic.requested == self.predicted_ran

    @property
    def fraction_of_ceiling(self) -> float | None:
        """Effective bandwidth over that of the copy timed beside it. Above 1 where a cache absorbs a pass."""
        if self.speed is None or self.effective is None or not self.speed.copy_us:
            return None
        return self.effective / bandwidth_of(self.speed.copy_bytes, self.speed.copy_us)


class Ratio(msgspec.Struct, frozen=True):
    """How many times the traffic, and the time, of `slow` is that of `fast`."""

    slow: str
    fast: str
    predicted: float
    requested: float | None = None
    time: float | None = None


class Bandwidth(msgspec.Struct, frozen=True):
    """What lower bounds are computed with, in 10^9 bytes a second; `source` says where it is from."""

    value: float
    source: str


class LabResult(msgspec.Struct, frozen=True):
    """One run of the softmax or the fusion lab. `ran` is the shape that was run and counted."""

    lab: Literal["softmax", "fusion"]
    options: Options
    ran: tuple[int, int]
    engine: Engine
    environment: Environment
    bandwidth: Bandwidth
    rows: tuple[LabRow, ...]
    ratios: tuple[Ratio, ...] = ()
    missing: dict[str, str] = {}
    """Variants that could not be measured at all, with the reason."""
    notes: tuple[str, ...] = ()
    format_version: int = FORMAT_VERSION


class SweepPoint(msgspec.Struct, frozen=True):
    """All variants at one row length."""

    cols: int
    unit_bytes: int
    rows: tuple[LabRow, ...]


class CeilingResult(msgspec.Struct, frozen=True):
    """The copy's bandwidth, and a sweep over row lengths at a fixed number of rows.

    `options.cols` is the longest row. `decided_from` is the shortest row length from which on, at every longer
    one too, extra passes cost at least `DECIDED` of what their traffic predicts. `outgrows_l2` is the length from
    which the tensor is larger than the L2.
    """

    options: Options
    ran_rows: int
    engine: Engine
    environment: Environment
    bandwidth: Bandwidth
    points: tuple[SweepPoint, ...]
    decided_from: int | None = None
    outgrows_l2: int | None = None
    notes: tuple[str, ...] = ()
    lab: Literal["ceiling"] = "ceiling"
    format_version: int = FORMAT_VERSION


DECIDED = 0.75


def bandwidth_of(nbytes: float, microseconds: float) -> float:
    """10^9 bytes a second."""
    return nbytes / microseconds * MICROSECONDS / GIGA


def rows_of(result: LabResult | CeilingResult) -> tuple[LabRow, ...]:
    """Every measured row; those of all row lengths, for a sweep."""
    if isinstance(result, LabResult):
        return result.rows
    return tuple(row for point in result.points for row in point.rows)
