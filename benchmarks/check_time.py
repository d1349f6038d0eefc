"""How long `kata check` takes, against the floor of a bare process.

The floor imports torch and triton, compiles the solution and runs it once, on
the GPU where there is one and in Triton's interpreter otherwise. Both are
timed in turn in one run, so that the ratio holds when the machine's speed drifts.

    python benchmarks/check_time.py [--kata SLUG] [--engine gpu|interpreter] [--runs N]
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from common import environment, kata_command, save
from tritonkata.engine.machine import gpu_problem

ROOT = Path(__file__).resolve().parents[1]

FLOOR = """
import importlib.util, sys, torch, triton
spec = importlib.util.spec_from_file_location("solution", sys.argv[1])
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
device = sys.argv[3]
x = torch.randn(4, 1000, device=device)
arguments = (x,) if sys.argv[2] == "safe_softmax" else (x, torch.zeros(4, 1000, device=device))
y = getattr(module, sys.argv[2])(*arguments)
assert abs(float(y.sum()) - 4) < 1e-3
"""


def main() -> None:
    """Time both, print the ratio, keep the result."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kata", default="safe_softmax")
    parser.add_argument("--engine", choices=["gpu", "interpreter"], help="default: the GPU where one answers")
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    engine = options.engine or ("gpu" if gpu_problem() is None else "interpreter")
    with tempfile.TemporaryDirectory() as folder:
        submission = Path(folder) / f"{options.kata}.py"
        shutil.copy(ROOT / "reference" / options.kata / "solution.py", submission)
        result = measure(submission, options.kata, engine, options.runs)
    print(summary(result))
    print(save(f"check_time_{options.kata}_{engine}", result))


def measure(submission: Path, kata: str, engine: str, runs: int) -> dict[str, object]:
    """Seconds of the first (cold) and of the later (warm) runs, floor and check in turn."""
    dropped = drop_caches()
    floors, checks = [], []
    for _ in range(runs + 1):
        floors.append(seconds(floor_command(submission, kata, engine), engine, folder=submission.parent))
        check = kata_command("check", str(submission), "--kata", kata, "--engine", engine, "--json")
        checks.append(seconds(check, engine, folder=submission.parent))
    return {
        "kata": kata,
        "engine": engine,
        "page_cache_dropped_before_the_first": dropped,
        "seconds": {
            "floor_cold": floors[0],
            "check_cold": checks[0],
            "floor_warm": floors[1:],
            "check_warm": checks[1:],
        },
        "ratio_cold": round(checks[0] / floors[0], 2),
        "ratio_warm": round(statistics.median(c / f for c, f in zip(checks[1:], floors[1:], strict=True)), 2),
        "environment": environment(),
    }


def floor_command(submission: Path, kata: str, engine: str) -> list[str]:
    """The bare process."""
    return [sys.executable, "-c", FLOOR, str(submission), kata, "cuda" if engine == "gpu" else "cpu"]


def seconds(command: list[str], engine: str, folder: Path) -> float:
    """Wall time of one process with an empty compile cache."""
    with tempfile.TemporaryDirectory() as cache:
        variables = {**os.environ, "TRITON_CACHE_DIR": cache}
        if engine == "interpreter":
            variables["TRITON_INTERPRET"] = "1"
        began = time.perf_counter()
        done = subprocess.run(command, env=variables, capture_output=True, text=True, check=False, cwd=folder)
        taken = time.perf_counter() - began
    if done.returncode != 0:
        raise SystemExit(f"{command[:4]} ended with {done.returncode}:\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}")
    return round(taken, 3)


def drop_caches() -> bool:
    """Empty the page cache, where that is allowed."""
    try:
        os.sync()
        Path("/proc/sys/vm/drop_caches").write_text("3")
    except OSError:
        return False
    return True


def summary(result: dict[str, object]) -> str:
    """One line for a terminal."""
    ratios = f"{result['ratio_warm']} warm, {result['ratio_cold']} cold"
    return f"{result['kata']} on {result['engine']}: check / floor = {ratios}"


if __name__ == "__main__":
    main()
