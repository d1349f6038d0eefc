"""Where the time of the turns on a GPU goes: by kind of request, and by what the launcher does.

Solutions and right kernels are graded side by side, as in a class, by a launcher that writes down its time
(benchmarks/observed). "SocketChannel.receive" has the waiting for the grader's next request in it.

    python benchmarks/turns.py [--kata SLUG] [--files N] [--jobs N] [--name NAME]
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

from common import environment, save, started_again
from tritonkata.check import grade
from tritonkata.courses import load_course
from tritonkata.crew.crew import open_crew
from tritonkata.crew.member import station
from tritonkata.engine.machine import gpus_for
from tritonkata.engine.workers import hidden_in
from tritonkata.model.report import Report

ROOT = Path(__file__).resolve().parents[1]
SEED = 20
SHOWN = 14


def main() -> None:
    """Grade, add up what the launcher wrote, print it and keep it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kata", default="safe_softmax")
    parser.add_argument("--files", type=int, default=16)
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--name", default="turns_gpu")
    options = parser.parse_args()
    files = chosen(options.kata, options.files)
    with tempfile.TemporaryDirectory() as folder:
        turns = Path(folder) / "turns"
        turns.touch()
        os.environ["TURNS"] = str(turns)
        os.environ["PYTHONPATH"] = os.pathsep.join(
            [str(ROOT / "benchmarks" / "observed"), *filter(None, [os.environ.get("PYTHONPATH")])]
        )
        began = time.monotonic()
        with open_crew(options.jobs, gpus=gpus_for("gpu"), hidden=hidden_in(ROOT)) as crew:
            begun = [crew.submit(checked, options.kata, path) for path in files]
            reports = [job.result() for job in begun]
        seconds = time.monotonic() - began
        lines = [json.loads(line) for line in turns.read_text(encoding="utf-8").splitlines()]
    found = {
        "environment": environment(),
        "kata": options.kata,
        "files": len(files),
        "jobs": options.jobs,
        "seconds": round(seconds, 1),
        "gpu_busy_seconds": {gpu: round(busy, 2) for gpu, busy in crew.busy_seconds.items()},
        "verdicts": dict(Counter(report.verdict for report in reports)),
        "launcher_started_again": started_again(reports),
        "kinds": by_kind(lines),
    }
    print(table(found))
    print(save(options.name, found))


def chosen(kata: str, count: int) -> list[Path]:
    """The solution and the right kernels, in turn."""
    right = sorted((ROOT / "tests" / "right" / kata).glob("*.py"))
    files = [ROOT / "reference" / kata / "solution.py", *right]
    return [files[number % len(files)] for number in range(count)]


def checked(kata: str, path: Path) -> Report:
    """The report of one file, in a process of the crew."""
    return grade(load_course(ROOT).kata(kata), path, engine="gpu", seed=SEED, station=station())


def by_kind(lines: list[dict[str, Any]]) -> dict[str, Any]:
    """Of each kind of request: how many there were, the seconds of all of them, and the largest parts of that."""
    found: dict[str, Any] = {}
    for kind in sorted({line["kind"] for line in lines} - {""}):
        parts: Counter[str] = Counter()
        requests = [line["parts"] for line in lines if line["kind"] == kind]
        for part in requests:
            parts.update({name: spent for name, spent in part.items() if name != "between requests"})
        found[kind] = {
            "requests": len(requests),
            "seconds": round(sum(parts.values()), 3),
            "parts": {name: round(spent, 3) for name, spent in parts.most_common(SHOWN)},
        }
    return found


def table(found: dict[str, Any]) -> str:
    """The same for a terminal."""
    lines = [f"{found['files']} files in {found['seconds']} s with {found['jobs']} processes"]
    lines.append(f"turns on the GPU: {found['gpu_busy_seconds']} s")
    for kind, row in found["kinds"].items():
        lines.append(f"{kind}: {row['requests']} requests, {row['seconds']} s")
        lines += [f"    {spent:9.3f}  {name}" for name, spent in row["parts"].items()]
    return "\n".join(lines)


if __name__ == "__main__":
    main()
