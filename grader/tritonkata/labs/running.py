"""The softmax and the fusion lab from their options to their result."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import msgspec

from tritonkata.boundary.available import available_bytes
from tritonkata.engine.base import Engine
from tritonkata.engine.client import GraderError, LoadFailed
from tritonkata.engine.engines import EngineName, open_engine
from tritonkata.engine.machine import gpu_problem
from tritonkata.labs import inputs, memory, peer, variants
from tritonkata.labs.environment import look_around
from tritonkata.labs.figures import bandwidth_for, bounded, notes_of, ratios
from tritonkata.labs.measuring import Array, Bench, Progress, measured
from tritonkata.labs.model import LabResult, LabRow, Options
from tritonkata.labs.truth import truth_of
from tritonkata.labs.variants import COMPARED, VARIANTS, Lab

COUNTED_ROWS = 8
COUNTED_ELEMENTS = 1 << 17
FEWEST_ROWS = 2
"""The interpreter runs at most 8 rows of the softmax lab, and 2 of the longest: every row asks for the same bytes."""

COUNTED_SIDE = 256
"""Rows and columns that it runs of the fusion lab, where rows differ."""

SPREADS: dict[Lab, float] = {"softmax": 1.0, "fusion": 8.0}
"""Standard deviation of the scores. Products of vectors of 64 have 8, which the scale brings back to 1."""


class NoGpu(Exception):
    """A GPU was asked for, and there is none that can be used."""


def run_lab(lab: Lab, options: Options, engine: EngineName, progress: Progress) -> LabResult:
    """Run one lab.

    Raises:
        NoGpu: the GPU engine was asked for, and there is no GPU.
        TooLarge: the shape does not fit in memory.
        GraderError: a process could not be started, or failed.
    """
    progress(f"{lab}: starting the engine")
    with opened(lab, engine) as running:
        result = _run(lab, options, running, progress)
    # Once the launcher has ended: two processes on one GPU would disturb each other.
    return _with_torch(result, progress) if lab == "softmax" else result


def _with_torch(result: LabResult, progress: Progress) -> LabResult:
    """The result with the row of torch.softmax, or why there is none."""
    row = peer.torch_row(result.options, progress) if result.engine.name == "gpu" else "not measured without a GPU"
    if not isinstance(row, LabRow):
        return msgspec.structs.replace(result, missing={**result.missing, "torch.softmax": row})
    rows = (*result.rows, bounded(row, result.bandwidth))
    notes = dict.fromkeys((*result.notes, *(row.speed.notes if row.speed else ())))
    return msgspec.structs.replace(result, rows=rows, notes=tuple(notes))


def _run(lab: Lab, options: Options, engine: Engine, progress: Progress) -> LabResult:
    report = engine.describe()
    on_gpu = report.name == "gpu"
    ran = (options.rows, options.cols) if on_gpu else counted_shape(lab, options)
    x = scores(lab, ran, options, poisoned=lab == "softmax", progress=progress)
    bench = Bench(engine, options, truth_of(lab), x)
    rows = [measured(bench, variant, progress) for variant in VARIANTS[lab]]
    bandwidth = bandwidth_for(options, rows)
    return LabResult(
        lab=lab,
        options=options,
        ran=ran,
        engine=engine.describe(),
        environment=look_around(engine.describe()),
        bandwidth=bandwidth,
        rows=tuple(bounded(row, bandwidth) for row in rows),
        ratios=tuple(ratios(rows, COMPARED[lab])),
        notes=notes_of(engine, rows),
    )


@contextmanager
def opened(lab: Lab, name: EngineName) -> Iterator[Engine]:
    """The engine with the lab's kernels loaded; its processes end with the block.

    Raises:
        NoGpu: the GPU engine was asked for, and there is no GPU.
        GraderError: the kernels could not be loaded.
    """
    problem = gpu_problem() if name == "gpu" else None
    if problem is not None:
        raise NoGpu(f"no GPU can be used: {problem.rstrip('.')}; run `kata doctor`, or use --engine interpreter")
    engine = open_engine(name, variants.assignment(lab))
    try:
        engine.load()
        yield engine
    except LoadFailed as error:
        raise GraderError(f"the kernels of the {lab} lab cannot be loaded: {error}; run `kata doctor`") from error
    finally:
        engine.close()


def counted_shape(lab: Lab, options: Options) -> tuple[int, int]:
    """What the interpreter runs in place of the shape asked for."""
    if lab == "softmax":
        fitting = max(COUNTED_ELEMENTS // options.cols, FEWEST_ROWS)
        return min(options.rows, fitting, COUNTED_ROWS), options.cols
    return min(options.rows, COUNTED_SIDE), min(options.cols, COUNTED_SIDE)


def scores(lab: Lab, shape: tuple[int, int], options: Options, *, poisoned: bool, progress: Progress) -> Array:
    """The lab's input, once it is known to fit.

    Raises:
        TooLarge: it does not.
    """
    memory.refuse_too_large(*shape, options.itemsize, available_bytes())
    progress(f"{lab}: making {shape[0]} x {shape[1]} scores")
    return inputs.scores(shape, options.dtype, options.seed, spread=SPREADS[lab], poisoned=poisoned)
