"""Which configuration of an autotuned launch is the fastest, on the buffers of this case."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from tritonkata.launcher import driver, faults
from tritonkata.launcher.session import Session, refresh, run, start
from tritonkata.model.plan import Choice, Launch, LaunchPlan, Step

REPEATS = 3


def choose(session: Session, poison: int) -> tuple[int, ...]:
    """The index of the fastest variant of each choice, in order. The buffers hold leftovers afterwards.

    Raises:
        ReplayFault: a variant failed, or no variant can be launched.
    """
    if not any(isinstance(step, Choice) for step in session.plan.steps):
        return ()
    refresh(session, poison)
    chosen = []
    for step in session.plan.steps:
        if isinstance(step, Choice):
            chosen.append(_fastest(session, step))
            run(session, step.variants[chosen[-1]])
        else:
            run(session, (step,))
    return tuple(chosen)


def resolve(plan: LaunchPlan, chosen: Sequence[int]) -> list[Step]:
    """The plan's steps with each choice replaced by the chosen variant."""
    remaining = iter(chosen)
    steps: list[Step] = []
    for step in plan.steps:
        steps.extend(step.variants[next(remaining)] if isinstance(step, Choice) else (step,))
    return steps


def _fastest(session: Session, choice: Choice) -> int:
    refused: list[faults.ReplayFault] = []
    times = [_milliseconds(session, variant, refused) for variant in choice.variants]
    best = min(range(len(times)), key=times.__getitem__)
    if math.isinf(times[best]):
        raise refused[0]
    return best


def _milliseconds(session: Session, steps: Sequence[Step], refused: list[faults.ReplayFault]) -> float:
    """Shortest of a few timed runs after one to warm up; infinite if the GPU has too little for this variant."""
    try:
        run(session, steps)
    except faults.ReplayFault as fault:
        # As with Triton's own autotuner, a configuration that does not fit is no mistake.
        if fault.context_lost or fault.fault.verdict == "grader_error":
            raise
        refused.append(fault)
        return math.inf
    with _events() as (before, after):
        return min(_timed(session, steps, before, after) for _ in range(REPEATS))


def _timed(session: Session, steps: Sequence[Step], before: Any, after: Any) -> float:
    driver.record(before)
    for step in steps:
        start(session, step)
    driver.record(after)
    try:
        return driver.milliseconds_between(before, after)
    except driver.CudaError as error:
        # The variant ran once without a fault; on its own leftovers it may still have one.
        names = [session.kernels[step.kernel].kernel.name for step in steps if isinstance(step, Launch)]
        raise faults.kernel_fault(", ".join(dict.fromkeys(names)), error) from error


@contextmanager
def _events() -> Iterator[tuple[Any, Any]]:
    before, after = driver.make_event(), driver.make_event()
    try:
        yield before, after
    finally:
        # After a kernel's fault the context is gone, and its events with it.
        with suppress(driver.CudaError):
            driver.destroy_event(before)
            driver.destroy_event(after)
