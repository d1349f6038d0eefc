"""The report: everything known of one graded submission.

Feedback, exports and the gradebook read nothing else.
"""

from __future__ import annotations

from collections import Counter
from typing import Literal

import msgspec

from tritonkata.model.faults import Fault, Verdict
from tritonkata.model.observation import Resources, TensorTraffic, TrafficSource, Unwritten

FORMAT_VERSION = 1

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
    error in units of the tolerance (None where something is not finite).
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


class Case(msgspec.Struct, frozen=True):
    """The input on which a check failed, as far as a learner may know it."""

    entry: str
    shapes: tuple[tuple[int, ...], ...]
    dtypes: tuple[str, ...]
    strides: tuple[tuple[int, ...], ...]
    note: str = ""


class TrafficEvidence(msgspec.Struct, frozen=True):
    """Measured traversals against the budget, in units of the tensor `unit`."""

    unit: str
    unit_bytes: int
    loads: float
    stores: float
    budget: float
    par: float


class Evidence(msgspec.Struct, frozen=True):
    """What a check's verdict rests on. Parts that do not apply are absent."""

    mismatch: Mismatch | None = None
    fault: Fault | None = None
    case: Case | None = None
    traffic: TrafficEvidence | None = None
    unwritten: tuple[Unwritten, ...] = ()


class CheckResult(msgspec.Struct, frozen=True):
    """One hidden check. `message` is one plain line; the long form is rendered from the rest."""

    name: str
    title: str
    verdict: Verdict
    points: float
    max_points: float
    diagnosis: str | None = None
    message: str = ""
    evidence: Evidence = Evidence()
    seconds: float = 0.0


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


class TrafficReport(msgspec.Struct, frozen=True):
    """Traffic of the case that the budget is graded on."""

    source: TrafficSource
    unit: str
    unit_bytes: int
    traversals: Traversals
    per_tensor: tuple[TensorTraffic, ...] = ()


class SpeedReport(msgspec.Struct, frozen=True):
    """Speed against a copy of the same bytes, timed beside it. Times in microseconds."""

    fraction_of_copy: float
    kernel_us: float
    copy_us: float


class Report(msgspec.Struct, frozen=True):
    """One graded submission.

    `absent` gives the reason for each figure that could not be measured,
    `unavailable` for each check (by its title) that this engine cannot run; such checks
    are not in `checks` and take no points.
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
    speed: SpeedReport | None = None
    resources: tuple[Resources, ...] = ()
    absent: dict[str, str] = {}
    unavailable: dict[str, str] = {}
    notes: tuple[str, ...] = ()
    environment: dict[str, str] = {}
    started_at: str = ""
    seconds: float = 0.0
    format_version: int = FORMAT_VERSION


def main_diagnosis(report: Report) -> str | None:
    """The mistake that explains the most failed checks; of two that explain as many, the one found first."""
    counted = Counter(check.diagnosis for check in report.checks if check.diagnosis is not None)
    return counted.most_common(1)[0][0] if counted else None
