"""The worst error of each solution at full size on the GPU, in units of the tolerance table.

python benchmarks/replay_accuracy.py
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from common import environment, save
from tritonkata.courses import load_course
from tritonkata.engine.engines import GpuEngine
from tritonkata.engine.workers import Assignment
from tritonkata.hidden.asserts import excess
from tritonkata.hidden.plugin import load_module
from tritonkata.model.course import Kata

SHAPES = [(8192, 4096), (512, 1000), (2048, 131072), (1, 1), (1 << 20, 8)]
ROWS_AT_ONCE = 512


def main() -> None:
    """Replay every solution at every shape and keep the worst error."""
    katas = [kata for kata in load_course().katas if kata.file.entry_points[0].result_shape == "input"]
    rows = [row for kata in katas for row in measured(kata)]
    for row in rows:
        print(f"{row['kata']} {row['shape']}: {row['worst']:.3f} of the tolerance, {row['seconds']:.1f} s")
    print(save("replay_accuracy", {"environment": environment(), "rows": rows}))


def measured(kata: Kata) -> list[dict[str, Any]]:
    """One row for each shape; float32 inputs, a random mask where the kata has one."""
    engine = GpuEngine(Assignment.to_kata(kata, "solution.py", kata.solution.read_bytes()))
    try:
        return [one(kata, engine, shape) for shape in SHAPES]
    finally:
        engine.close()


def one(kata: Kata, engine: GpuEngine, shape: tuple[int, int]) -> dict[str, Any]:
    """Trace, replay twice with different poisons, and compare every element."""
    rng = np.random.default_rng(11)
    entry = kata.file.entry_points[0]
    x = rng.standard_normal(shape, dtype=np.float32) * np.float32(3)
    arguments = [x]
    if "mask" in entry.parameters:
        arguments.append(np.where(rng.random(shape, dtype=np.float32) < 0.2, np.float32(-np.inf), np.float32(0)))
    began = time.monotonic()
    observation = engine.run(entry, tuple(arguments))
    seconds = time.monotonic() - began
    if observation.fault is not None:
        raise SystemExit(f"{kata.slug} {shape}: {observation.fault}")
    oracle = getattr(load_module(kata.oracle, f"oracle_{kata.slug}"), entry.name)
    worst = 0.0
    for begin in range(0, shape[0], ROWS_AT_ONCE):
        part = slice(begin, begin + ROWS_AT_ONCE)
        pieces = [argument[part] for argument in arguments]
        scores = np.add.reduce([piece.astype(np.float64) for piece in pieces])
        kind = "log_softmax" if kata.slug == "log_softmax" else "softmax"
        found = excess(observation.outputs[0][part], oracle(*pieces), scores, kind)
        worst = max(worst, float(found.max()))
    return {"kata": kata.slug, "shape": list(shape), "worst": worst, "seconds": round(seconds, 2)}


if __name__ == "__main__":
    main()
