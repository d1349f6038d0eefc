"""Reports to render: full evidence, hardly any, and what a hostile submission could put in."""

from __future__ import annotations

from pathlib import Path
from typing import Any, get_args

from tritonkata.feedback.templates import SUFFIX, TEMPLATES
from tritonkata.model.course import Entry, Kata, KataFile, TrafficBudget
from tritonkata.model.faults import Access, Fault, Phase, Verdict
from tritonkata.model.observation import Resources, TensorTraffic, Unwritten
from tritonkata.model.report import (
    Case,
    CheckResult,
    Engine,
    Evidence,
    Mismatch,
    MismatchKind,
    Report,
    Submission,
    TrafficEvidence,
    TrafficReport,
    Traversals,
)

FAILING = tuple(verdict for verdict in get_args(Verdict) if verdict != "pass")
PHASES = get_args(Phase)
KINDS = get_args(MismatchKind)
DIAGNOSES = tuple(sorted(path.name.removesuffix(SUFFIX) for path in (TEMPLATES / "diagnosis").glob(f"*{SUFFIX}")))
NOT_FAULTS = ("wrong_output", "over_budget", "too_slow")

SOURCE = "import torch\n\n\ndef softmax(x):\n    return torch.softmax(x, -1)\n"
HOSTILE = (
    "\x1b[31mred\x1b[0m {{ 7 * 7 }} {% raise %} [bold]b[/bold] <script>x</script> \u202egnp.exe **b** `c` | \x00\x9b2J"
)

CASE = Case("safe_softmax", ((7, 1000),), ("float32",), ((1005, 1),), "padded rows")
TRAFFIC = TrafficEvidence("x", 16_000, 4.0, 1.0, 4.0, 2.0)
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


def full_check(verdict: Any, diagnosis: str | None = None, phase: Any = "kernel", kind: Any = "values") -> CheckResult:
    """Every part of the evidence present."""
    parts: dict[str, Any] = {"case": CASE, "traffic": TRAFFIC, "unwritten": UNWRITTEN}
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
        "traffic": TrafficReport(
            "interpreter", "x", 16_000, Traversals(requested=3.0), (TensorTraffic("x", 48_000, 0, 16_000, 0),)
        ),
        "resources": (Resources("softmax_kernel", "sm_90", 4, 1024, 40, 0),),
        "started_at": "2025-01-01T00:00:00+00:00",
        "seconds": 1.5,
    }
    return Report(**{**fields, **changes})
