"""One variant on one engine: compiled, counted, timed and checked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from tritonkata.engine.arrays import numpy_dtype
from tritonkata.engine.base import Engine
from tritonkata.engine.client import GraderError
from tritonkata.labs import memory, variants
from tritonkata.labs.model import LabRow, Options, bandwidth_of
from tritonkata.labs.truth import Truth, check
from tritonkata.labs.variants import Variant
from tritonkata.model.faults import Fault
from tritonkata.model.observation import Observation, Resources

Array = NDArray[Any]
Progress = Callable[[str], None]

_OUT_OF_MEMORY = "CUDA_ERROR_OUT_OF_MEMORY"


@dataclass(frozen=True)
class Bench:
    """What every variant of a run has in common; `x` is what runs, of the shape that runs."""

    engine: Engine
    options: Options
    truth: Truth
    x: Array


def measured(bench: Bench, variant: Variant, progress: Progress) -> LabRow:
    """One variant, compiled, counted, timed and checked.

    Raises:
        TooLarge: the card has too little memory.
        GraderError: the launcher failed.
    """
    engine, x, options = bench.engine, bench.x, bench.options
    rows, cols = x.shape
    progress(f"{variant.title}: compiling")
    resources = _resources(engine, variant, _layout(options, x))
    progress(f"{variant.title}: counting bytes")
    counted = engine.traffic(variant.entry, (x,), counted=False)
    progress(f"{variant.title}: timing")
    timed = _timed(engine, variant, x, options) if counted.fault is None else counted
    for observation in (counted, timed):
        _refuse(observation.fault, x)
    progress(f"{variant.title}: checking every element")
    results = [outputs[0] for outputs in (timed.outputs or counted.outputs, *timed.others) if outputs]
    checks = [check(bench.truth, x, result) for result in results]
    return LabRow(
        variant=variant.name,
        title=variant.title,
        predicted=variants.predicted(variant, options.rows, options.cols, options.itemsize),
        predicted_ran=variants.predicted(variant, rows, cols, options.itemsize),
        traffic=msgspec.structs.replace(counted.traffic, per_tensor=()) if counted.traffic else None,
        checked=next((one for one in checks if not one.passed), checks[0] if checks else None),
        speed=timed.speed,
        effective=_effective(counted, timed),
        launches=timed.launches or counted.launches or None,
        resources=resources,
        fault=counted.fault or timed.fault,
        absent=_absent(counted, timed),
    )


def _layout(options: Options, x: Array) -> Array:
    """What a variant is compiled for: the columns asked for, where fewer of them run."""
    if x.shape[1] == options.cols:
        return x
    return np.empty((x.shape[0], options.cols), numpy_dtype(options.dtype))


def _resources(engine: Engine, variant: Variant, layout: Array) -> tuple[Resources, ...]:
    plan = engine.compile(variant.entry, (layout,))
    if isinstance(plan, Fault):
        return ()
    return tuple(
        Resources(
            kernel=kernel.name,
            target=plan.target,
            num_warps=kernel.num_warps,
            shared_bytes=kernel.shared_bytes,
            registers=kernel.registers,
            spilled_bytes=kernel.spilled_bytes,
        )
        for kernel in plan.kernels
    )


def _timed(engine: Engine, variant: Variant, x: Array, options: Options) -> Observation:
    """Beside a copy of x, which is two traversals, for every variant the same."""
    return engine.time(variant.entry, [(x,)], 2 * x.nbytes, options.rounds)[0]


def _refuse(fault: Fault | None, x: Array) -> None:
    """Raise for what is no finding about a variant."""
    if fault is None:
        return
    if fault.error == _OUT_OF_MEMORY:
        raise memory.too_large_for_gpu(x.shape[0], x.shape[1], fault.message)
    if fault.verdict == "grader_error":
        raise GraderError(f"{fault.message}; run `kata doctor`")


def _effective(counted: Observation, timed: Observation) -> float | None:
    if counted.traffic is None or timed.speed is None:
        return None
    return bandwidth_of(counted.traffic.requested.total, timed.speed.kernel_us)


def _absent(counted: Observation, timed: Observation) -> dict[str, str]:
    levels = dict(counted.traffic.absent) if counted.traffic else {}
    if counted.traffic is None and "traffic" in counted.absent:
        levels["traffic"] = counted.absent["traffic"]
    if timed.speed is None and "speed" in timed.absent:
        levels["speed"] = timed.absent["speed"]
    return levels
