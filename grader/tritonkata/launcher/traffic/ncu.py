"""Nsight Compute: the same counters by way of its command line, in a process that it starts and watches."""

from __future__ import annotations

import csv
import io
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tritonkata.boundary.messages import LaunchCounters

SECONDS = 45.0
_FOLDERS = ("/usr/local/cuda/bin", "/opt/nvidia/nsight-compute")


class NcuError(Exception):
    """No counters from Nsight Compute. The message says why, and what to do."""


def find() -> str | None:
    """The path of `ncu`, or None."""
    found = shutil.which("ncu")
    if found is not None:
        return found
    below = [path for folder in _FOLDERS for path in sorted(Path(folder).glob("**/ncu"))]
    return next((str(path) for path in below if os.access(path, os.X_OK) and path.is_file()), None)


def count(words: Sequence[str], metrics: Sequence[str], seconds: float = SECONDS) -> tuple[LaunchCounters, ...]:
    """Raw values of each launch between the profiler's start and stop in `python -m WORDS`.

    Raises:
        NcuError: there is no ncu, or it gave no values.
    """
    program = find()
    if program is None:
        raise NcuError("Nsight Compute (ncu) was not found; it comes with the CUDA toolkit")
    with tempfile.TemporaryDirectory(prefix="kata-ncu-") as folder:
        log = Path(folder) / "log.csv"
        command = [program, *options(metrics, log), sys.executable, "-P", "-m", *words]
        try:
            done = subprocess.run(
                command, capture_output=True, stdin=subprocess.DEVNULL, timeout=seconds, check=False, cwd=folder
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise NcuError(f"ncu gave no values: {error}") from error
        text = log.read_text(errors="replace") if log.is_file() else ""
        return parse(text, metrics, done.returncode, done.stderr.decode(errors="replace"))


def options(metrics: Sequence[str], log: Path) -> list[str]:
    """What ncu is asked: values in base units as CSV, and neither clocks nor caches touched."""
    return [
        "--csv",
        "--page=raw",
        "--print-units=base",
        "--clock-control=none",
        "--cache-control=none",
        "--profile-from-start=off",
        f"--log-file={log}",
        f"--metrics={','.join(metrics)}",
    ]


def parse(log: str, metrics: Sequence[str], returncode: int = 0, errors: str = "") -> tuple[LaunchCounters, ...]:
    """The values in ncu's log: its own remarks, a line of names, a line of units, a line for each launch.

    Raises:
        NcuError: there are no values in it; what ncu said instead.
    """
    lines = log.splitlines()
    head = next((index for index, line in enumerate(lines) if line.startswith('"ID"')), None)
    if head is None:
        raise NcuError(_why(lines, returncode, errors))
    rows = list(csv.DictReader(io.StringIO("\n".join(lines[head:]))))
    return tuple(
        LaunchCounters(
            row["Kernel Name"][:200],
            {name: _number(row[name]) for name in metrics if _is_number(row.get(name))},
        )
        for row in rows
        if row["ID"]
    )


def _why(lines: Sequence[str], returncode: int, errors: str) -> str:
    said = [line.removeprefix("==ERROR==").strip() for line in lines if line.startswith("==ERROR==")]
    if any("ERR_NVGPUCTRPERM" in line for line in said):
        return "this user may not read hardware counters (ERR_NVGPUCTRPERM); run `kata doctor` for what to change"
    last = [line for line in errors.strip().splitlines() if line][-1:]
    return f"ncu gave no values (exit code {returncode}): {'; '.join([*said, *last]) or 'it said nothing'}"[:1000]


def _is_number(text: str | None) -> bool:
    try:
        _number(text or "")
    except ValueError:
        return False
    return True


def _number(text: str) -> float:
    return float(text.replace(",", ""))
