"""What the benchmarks share: facts about the machine, and where results go."""

from __future__ import annotations

import json
import platform
import subprocess
import sys
from collections.abc import Iterable
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

from tritonkata.model.report import STARTED_AGAIN, Report

RESULTS = Path(__file__).resolve().parent / "results"
PACKAGES = ("torch", "triton", "numpy", "msgspec", "ml_dtypes", "pytest", "cuda-bindings")


def environment() -> dict[str, Any]:
    """Date, processor, card and versions, as far as they are there."""
    return {
        "date": datetime.now(UTC).date().isoformat(),
        "processor": _processor(),
        "card": _card(),
        "python": platform.python_version(),
        **{name: _version(name) for name in PACKAGES},
    }


def started_again(reports: Iterable[Report]) -> int:
    """How many of them tell that a launcher ended at one of their cases, and the next one ran it."""
    return sum(any(note.startswith(STARTED_AGAIN) for note in report.notes) for report in reports)


def kata_command(*words: str) -> list[str]:
    """`kata ...` in this interpreter."""
    return [sys.executable, "-m", "tritonkata", *words]


def save(name: str, data: Any) -> Path:
    """Write one result as JSON below `benchmarks/results/`."""
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{name}.json"
    path.write_text(json.dumps(data, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    return path


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def _processor() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.processor()


def _card() -> str | None:
    query = ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"]
    try:
        done = subprocess.run(query, capture_output=True, text=True, timeout=30, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    return ", driver ".join(part.strip() for part in done.stdout.splitlines()[0].split(","))
