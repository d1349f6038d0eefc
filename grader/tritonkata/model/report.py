"""The report: everything known of one graded submission.

Feedback, exports and the gradebook read nothing else.
"""

from __future__ import annotations

from collections import Counter
from typing import Literal

import msgspec

from tritonkata.model.answers import Answer
from tritonkata.model.faults import Fault, Verdict
from tritonkata.model.observation import Level, Resources, TensorTraffic, Traffic, TrafficSource, Unwritten

FORMAT_VERSION = 1
GOLD_FRACTION_OF_COPY = 0.9

ReportVerdict = Literal["pass", "fail", "error", "grader_error"]
Medal = Literal["none", "bronze", "silver", "gold"]
MismatchKind = Literal[
    "values", "nan", "infinity", "shape", "dtype", "strides", "alias", "type", "count", "input_changed"
]


class Mismatch(msgspec.Struct, frozen=True):
    """How an output differs from the truth.

    `row` is the first bad row, `columns` up to six of its bad columns, with
    `expected` and `got` beside them. Non-finite numbers are written as text
    (`"nan"`, `"inf"`, `"-inf"`), since JSON has none. `worst` is the largest
    error in units of the tolerance (None where something is not finite), `relative`
    the largest error of a wrong element as a share of what is right (None as well where that is 0).
    For kinds that are not about values, `expected_text` and `got_text` say it.
    """

    kind: MismatchKind
    wrong: int = 0
    total: int = 0
    rows_wrong: int = 0
    row: int | None = None
    columns: tuple[int, ...] = ()
    expected: tuple[float | str, ...] = ()
    got: tuple[float | str, ...] = ()
    worst: float | None = None
    result: str = ""
    expected_text: str = ""
    got_text: str = ""
    relative: float | None = None


class Case(msgspec.Struct, frozen=True):
    """The input on which a check failed, as far as a learner may know it."""

    entry: str
    shapes: tuple[tuple[int, ...], ...]
    dtypes: tuple[str, ...]
    strides: tuple[tuple[int, ...], ...]
    note: str = ""


class TrafficEvidence(msgspec.Struct, frozen=True):
    """Measured traversals against the budget, in units of the tensor `unit`.

    `counted` is the interpreter's count (loads plus stores) where hardware was the source.
    """

    unit: str
    unit_bytes: int
    loads: float
    stores: float
    budget: float
    par: float
    source: TrafficSource = "interpreter"
    counted: float | None = None
    spilled_bytes: int | None = None
    per_tensor: tuple[TensorTraffic, ...] = ()


class MaskedLoad(msgspec.Struct, frozen=True):
    """A line of the submission that says what lanes outside a row hold.

    `other` is the value as the file has it, empty where a load names none. If not `is_load`, it is put there
    by a `tl.where`.
    """

    line: int
    other: str = ""
    is_load: bool = True


class Evidence(msgspec.Struct, frozen=True):
    """What a check's verdict rests on. Parts that do not apply are absent.

    `fills` are the masked loads that a diagnosis is about.
    """

    mismatch: Mismatch | None = None
    fault: Fault | None = None
    case: Case | None = None
    traffic: TrafficEvidence | None = None
    answer: Answer | None = None
    unwritten: tuple[Unwritten, ...] = ()
    fills: tuple[MaskedLoad, ...] = ()


class CheckResult(msgspec.Struct, frozen=True):
    """One hidden check. `message` is one plain line; the long form is rendered from the rest.

    `alternatives` are mistakes that give the same numbers as `diagnosis` on every case that was tried.
    """

    name: str
    title: str
    verdict: Verdict
    points: float
    max_points: float
    diagnosis: str | None = None
    message: str = ""
    evidence: Evidence = Evidence()
    seconds: float = 0.0
    alternatives: tuple[str, ...] = ()


class Submission(msgspec.Struct, frozen=True):
    """The learner's file."""

    path: str
    sha256: str
    student: str | None = None


class Engine(msgspec.Struct, frozen=True):
    """Which engine ran, and on what. `device` is the card, or the processor for the interpreter."""

    name: Literal["gpu", "interpreter"]
    device: str
    target: str
    triton: str | None = None
    torch: str | None = None


class Traversals(msgspec.Struct, frozen=True):
    """Loads plus stores, in units, at each level that was measured."""

    requested: float | None = None
    l2: float | None = None
    dram: float | None = None


class LevelBytes(msgspec.Struct, frozen=True):
    """Bytes at each level that was measured.

    `async_copied`, `tma_loaded` and `tma_stored` are parts of `requested`; `spilled` is beside it.
    `counted` is the interpreter's count of the requested bytes, where hardware was the source.
    """

    requested: Level
    async_copied: int | None = None
    tma_loaded: int | None = None
    tma_stored: int | None = None
    spilled: int | None = None
    l2: Level | None = None
    dram: Level | None = None
    counted: Level | None = None


class TrafficReport(msgspec.Struct, frozen=True):
    """Traffic of the case that the budget is graded on.

    `absent` gives the reason for each level, or better source, that could not be had.
    """

    source: TrafficSource
    unit: str
    unit_bytes: int
    traversals: Traversals
    bytes: LevelBytes
    per_tensor: tuple[TensorTraffic, ...] = ()
    absent: dict[str, str] = {}


def traffic_report(traffic: Traffic, unit: str, unit_bytes: int) -> TrafficReport:
    """What a run's traffic says in units of one tensor."""

    def traversals(level: Level | None) -> float | None:
        return None if level is None else level.total / unit_bytes

    return TrafficReport(
        source=traffic.source,
        unit=unit,
        unit_bytes=unit_bytes,
        traversals=Traversals(traversals(traffic.requested), traversals(traffic.l2), traversals(traffic.dram)),
        bytes=LevelBytes(
            requested=traffic.requested,
            async_copied=traffic.async_copied,
            tma_loaded=traffic.tma_loaded,
            tma_stored=traffic.tma_stored,
            spilled=traffic.spilled,
            l2=traffic.l2,
            dram=traffic.dram,
            counted=traffic.counted,
        ),
        per_tensor=traffic.per_tensor,
        absent=traffic.absent,
    )


class SpeedReport(msgspec.Struct, frozen=True):
    """Speed against a copy of the same bytes, timed beside it. Times in microseconds.

    `copy_bytes` is what the copy moved, read plus written: the kata's par for this input.
    `repeated` counts the rounds thrown away since their two copies disagreed. `notes` say what
    disturbed the GPU.
    """

    fraction_of_copy: float
    kernel_us: float
    copy_us: float
    shape: tuple[int, ...] = ()
    dtype: str = ""
    copy_bytes: int = 0
    rounds: int = 0
    repeated: int = 0
    notes: tuple[str, ...] = ()


class Report(msgspec.Struct, frozen=True):
    """One graded submission.

    `absent` gives the reason for each figure that could not be measured,
    `unavailable` for each check (by its title) that this engine cannot run; such checks
    are not in `checks` and take no points.
    `traffic_at_full_size` is of a whole matrix, where the hardware's counters were read: there L2 and DRAM show what
    a cache absorbs.
    `fault` is set when the verdict is `error` or `grader_error`: nothing could be graded.
    """

    kata: str
    submission: Submission
    engine: Engine
    verdict: ReportVerdict
    score: float
    max_score: float
    medal: Medal
    seed: int
    checks: tuple[CheckResult, ...] = ()
    fault: Fault | None = None
    traffic: TrafficReport | None = None
    traffic_at_full_size: TrafficReport | None = None
    speed: SpeedReport | None = None
    resources: tuple[Resources, ...] = ()
    absent: dict[str, str] = {}
    unavailable: dict[str, str] = {}
    notes: tuple[str, ...] = ()
    environment: dict[str, str] = {}
    started_at: str = ""
    seconds: float = 0.0
    format_version: int = FORMAT_VERSION


UNDIAGNOSED = "the mistake is not named, since code of the course failed"
"""The beginning of the note of a report whose checks are as they are, and lack their diagnoses."""

STARTED_AGAIN = "the process that runs kernels on the GPU was started again, and a case run once more: it"
"""The beginning of the note of a report of whose cases one was run by a second process, and of why."""


def main_diagnosis(report: Report) -> str | None:
    """The mistake that explains the most failed checks; of two that explain as many, the one found first."""
    counted = Counter(check.diagnosis for check in report.checks if check.diagnosis is not None)
    return counted.most_common(1)[0][0] if counted else None


def grader_fault(report: Report) -> str:
    """What the grader, or the course, failed on; empty where neither did."""
    if undiagnosed := [note for note in report.notes if note.startswith(UNDIAGNOSED)]:
        return undiagnosed[0]
    if report.verdict != "grader_error":
        return ""
    if report.fault is not None:
        return report.fault.message
    return next((check.message for check in report.checks if check.verdict == "grader_error"), "nothing was checked")


def repeatable(report: Report) -> Report:
    """A report without what differs from run to run: times, speed, what caches made of the traffic, second tries."""
    traffic = report.traffic
    if traffic is not None:
        traversals = msgspec.structs.replace(traffic.traversals, l2=None, dram=None)
        levels = msgspec.structs.replace(traffic.bytes, l2=None, dram=None)
        traffic = msgspec.structs.replace(traffic, traversals=traversals, bytes=levels)
    return msgspec.structs.replace(
        report,
        checks=tuple(msgspec.structs.replace(check, seconds=0.0) for check in report.checks),
        seconds=0.0,
        started_at="",
        notes=tuple(note for note in report.notes if not note.startswith(STARTED_AGAIN)),
        speed=None,
        traffic=traffic,
        traffic_at_full_size=None,
    )
