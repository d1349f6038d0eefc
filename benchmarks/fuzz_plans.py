"""Launch plans of the course's solutions and of right kernels, bent at random: none may get past its bounds.

Each plan is recorded once, as a tracer sends it; then parts of it are changed, and what a controller would do with
it is done. Ends with code 1 if anything but a refusal or a plan within bounds comes of one.

    python benchmarks/fuzz_plans.py [--plans N] [--seed S]
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from pathlib import Path
from random import Random

import numpy as np

from common import environment, save
from tritonkata.boundary.messages import DeviceFigures
from tritonkata.courses import load_course
from tritonkata.engine.arrays import spec_of
from tritonkata.engine.engines import InterpreterEngine
from tritonkata.engine.workers import Assignment
from tritonkata.model.course import Kata
from tritonkata.model.plan import LaunchPlan
from tritonkata.model.tensors import TensorSpec

ROOT = Path(__file__).resolve().parents[1]
STYLES = ("autotuned", "split_rows", "two_launches", "zeros_and_casts", "device_descriptors", "contiguous_first")
"""Right kernels whose plans have choices, scratch memory, fills and copies in them."""


def main() -> None:
    """Bend plans, count what came of them, keep the result."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--plans", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    sys.path.insert(0, str(ROOT / "tests" / "plan"))
    from plan_mutations import bent, outcome

    recorded = plans()
    rng = Random(options.seed)
    found: Counter[str] = Counter()
    escaped: list[str] = []
    began = time.monotonic()
    for number in range(options.plans):
        plan, arguments = recorded[number % len(recorded)]
        data = bent(plan, rng)
        try:
            found[outcome(data, arguments, DeviceFigures())] += 1
        except Exception as error:
            escaped.append(f"plan {number}: {type(error).__name__}: {error}")
    result = {
        "environment": environment(),
        "seed": options.seed,
        "plans": options.plans,
        "recorded": len(recorded),
        "outcomes": dict(sorted(found.items())),
        "escaped": escaped[:20],
        "seconds": round(time.monotonic() - began, 1),
    }
    print({name: result[name] for name in ("plans", "outcomes", "escaped", "seconds")})
    print(save("fuzz_plans", result))
    raise SystemExit(1 if escaped else 0)


def plans() -> list[tuple[LaunchPlan, tuple[TensorSpec, ...]]]:
    """Plans of real kernels on a small input, with the layouts of their arguments."""
    found = []
    for kata in load_course().katas:
        files = [kata.solution, *sorted((ROOT / "tests" / "right" / kata.slug).glob("*.py"))]
        found += [trace(kata, path) for path in files if path.stem in ("solution", *STYLES)]
    return found


def trace(kata: Kata, path: Path) -> tuple[LaunchPlan, tuple[TensorSpec, ...]]:
    """One file's plan for 4 rows of 1000 columns."""
    entry = kata.file.entry_points[0]
    arguments = tuple(np.zeros((4, 1000), np.float32) for _ in entry.parameters)
    engine = InterpreterEngine(Assignment.to_kata(kata, path.name, path.read_bytes()))
    try:
        plan = engine.compile(entry, arguments)
    finally:
        engine.close()
    if not isinstance(plan, LaunchPlan):
        raise SystemExit(f"{path}: {plan.message}")
    return plan, tuple(map(spec_of, arguments))


if __name__ == "__main__":
    main()
