"""Reports to render: full evidence, hardly any, and what a hostile submission could put in."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, get_args

from tritonkata.feedback.templates import SUFFIX, TEMPLATES
from tritonkata.model.course import Entry, Kata, KataFile, TrafficBudget
from tritonkata.model.faults import Access, Fault, Phase, Verdict
from tritonkata.model.observation import Level, LineTraffic, Resources, TensorTraffic, Unwritten
from tritonkata.model.report import (
    Case,
    CheckResult,
    Engine,
    Evidence,
    LevelBytes,
    Mismatch,
    MismatchKind,
    Report,
    SpeedReport,
    Submission,
    TrafficEvidence,
    TrafficReport,
    Traversals,
)

Times = Mapping[int, float]
FAILING = tuple(verdict for verdict in get_args(Verdict) if verdict != "pass")
PHASES = get_args(Phase)
KINDS = get_args(MismatchKind)
DIAGNOSES = tuple(sorted(path.name.removesuffix(SUFFIX) for path in (TEMPLATES / "diagnosis").glob(f"*{SUFFIX}")))
NOT_FAULTS = ("wrong_output", "over_budget", "too_slow")

SOURCE = "import torch\n\n\ndef softmax(x):\n    return torch.softmax(x, -1)\n"
HOSTILE = (
    "\x1b[31mred\x1b[0m {{ 7 * 7 }} {% raise %} [bold]b[/bold] <script>x</script> \u202egnp.exe **b** `c` | \x00\x9b2J"
)

UNIT = 16_000
TWO_LOADS = Level(2 * UNIT, UNIT)


def moved(name: str, reads: Times | None = None, writes: Times | None = None, **other: float) -> TensorTraffic:
    """Traffic of a tensor of `UNIT` bytes: how often each line reads and writes it; line 0 is host code."""
    reads, writes = reads or {}, writes or {}
    once = {"unique_loaded": UNIT if reads else 0, "unique_stored": UNIT if writes else 0, **other}
    return TensorTraffic(
        tensor=name,
        loaded=round(sum(reads.values()) * UNIT),
        stored=round(sum(writes.values()) * UNIT),
        unique_loaded=round(once["unique_loaded"]),
        unique_stored=round(once["unique_stored"]),
        lines=tuple(
            LineTraffic(line, round(reads.get(line, 0) * UNIT), round(writes.get(line, 0) * UNIT))
            for line in sorted({*reads, *writes} - {0})
        ),
    )


def evidence(*tensors: TensorTraffic, budget: float = 4.0, par: float = 2.0, **changes: Any) -> TrafficEvidence:
    """What a check of the traffic would have kept of these tensors."""
    loads, stores = (sum(getattr(one, way) for one in tensors) / UNIT for way in ("loaded", "stored"))
    fields: dict[str, Any] = {"loads": loads, "stores": stores, "per_tensor": tensors, **changes}
    return TrafficEvidence("x", UNIT, budget=budget, par=par, **fields)


def traffic_report(requested: Level = TWO_LOADS, **changes: Any) -> TrafficReport:
    """Levels of `bytes` by name; the other changes are the report's own."""
    levels = {name: changes.pop(name) for name in LevelBytes.__struct_fields__ if name in changes}
    found = LevelBytes(requested, **levels)
    seen = {name: getattr(found, name).total / UNIT for name in ("l2", "dram") if getattr(found, name) is not None}
    fields: dict[str, Any] = {
        "source": "cupti" if levels else "interpreter",
        "unit": "x",
        "unit_bytes": UNIT,
        "traversals": Traversals(requested.total / UNIT, **seen),
        "per_tensor": (moved("x", {12: 1, 17: 1}), moved("result", {}, {18: 1})),
        **changes,
    }
    return TrafficReport(bytes=found, **fields)


def speed_report(**changes: Any) -> SpeedReport:
    """A kernel at 97 % of a copy."""
    fields: dict[str, Any] = {
        "fraction_of_copy": 0.97,
        "kernel_us": 65.21,
        "copy_us": 63.25,
        "shape": (8192, 4096),
        "dtype": "float32",
        "copy_bytes": 2 * 8192 * 4096 * 4,
        "rounds": 10,
    }
    return SpeedReport(**{**fields, **changes})


CASE = Case("safe_softmax", ((7, 1000),), ("float32",), ((1005, 1),), "padded rows")
TRAFFIC = evidence(
    moved("x", {12: 1, 17: 1, 23: 1}),
    moved("empty[0] (line 31)", {27: 1}, {24: 1}),
    moved("result", {}, {28: 1}),
    source="cupti",
    counted=6.0,
    spilled_bytes=48_000,
)
UNWRITTEN = (Unwritten(0, 1000, (6, 0), (6, 999)),)


def make_kata(folder: Path) -> Kata:
    """A kata with one entry point whose folder may or may not hold files."""
    entries = (Entry("safe_softmax", ("x",), ("y",)),)
    file = KataFile("Safe softmax", "Stable rows", entries, TrafficBudget("x", 4.0, 2.0), ("a hint",))
    return Kata("safe_softmax", file, folder, folder / "skeleton.py", folder / "reference")


def mismatch(kind: MismatchKind = "values", **changes: Any) -> Mismatch:
    fields: dict[str, Any] = {
        "wrong": 7,
        "total": 12,
        "rows_wrong": 2,
        "row": 3,
        "columns": (0, 1, 4),
        "expected": (0.73106, 0.26894, "nan"),
        "got": (0.731061, "nan", 1e-8),
        "worst": 35.123,
    }
    return Mismatch(kind, **{**fields, **changes})


def fault(verdict: Any, phase: Any = "kernel", **changes: Any) -> Fault:
    fields: dict[str, Any] = {
        "message": "it went wrong",
        "error": "ValueError",
        "line": 5,
        "operation": "torch.softmax",
        "advice": "do it in the kernel",
        "access": Access("store", "y", 7000, 7000, (6, 0, 0), "softmax_kernel", 5),
    }
    return Fault(verdict, phase, **{**fields, **changes})


def check(verdict: Any, diagnosis: str | None = None, *, name: str = "values", **evidence: Any) -> CheckResult:
    return CheckResult(name, f"Check of {name}", verdict, 0.0, 2.0, diagnosis, "one plain line", Evidence(**evidence))


def full_check(
    verdict: Any,
    diagnosis: str | None = None,
    phase: Any = "kernel",
    kind: Any = "values",
    traffic: TrafficEvidence = TRAFFIC,
) -> CheckResult:
    """Every part of the evidence present."""
    parts: dict[str, Any] = {"case": CASE, "traffic": traffic, "unwritten": UNWRITTEN}
    if verdict in (*NOT_FAULTS, "invalid_output"):
        parts["mismatch"] = mismatch(kind, expected_text="(7, 1000)", got_text="(7, 1024)")
    if verdict not in NOT_FAULTS:
        parts["fault"] = fault(verdict, phase)
    return check(verdict, diagnosis, **parts)


def passed(name: str = "compiles") -> CheckResult:
    return CheckResult(name, f"Check of {name}", "pass", 1.0, 1.0)


def report(*checks: CheckResult, **changes: Any) -> Report:
    failing = any(one.verdict != "pass" for one in checks)
    fields: dict[str, Any] = {
        "kata": "safe_softmax",
        "submission": Submission("safe_softmax.py", "0" * 64),
        "engine": Engine("interpreter", "Xeon", "sm_90", "3.9.0", "2.13.0"),
        "verdict": "fail" if failing else "pass",
        "score": sum(one.points for one in checks),
        "max_score": sum(one.max_points for one in checks),
        "medal": "none" if failing else "silver",
        "seed": 42,
        "checks": checks,
        "traffic": traffic_report(),
        "resources": (Resources("softmax_kernel", "sm_90", 4, 1024, 40, 0),),
        "started_at": "2025-01-01T00:00:00+00:00",
        "seconds": 1.5,
    }
    return Report(**{**fields, **changes})
