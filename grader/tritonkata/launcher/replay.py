"""Running one request: once for each poison byte, and what the runs together say."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tritonkata.boundary.messages import Replay, Replayed
from tritonkata.launcher import arena as arenas
from tritonkata.launcher import compare, driver, faults, hostops, tuning
from tritonkata.launcher.compare import Mask
from tritonkata.launcher.repeating import Words, repeats
from tritonkata.launcher.session import Session, inputs_changed, opened, refresh, run
from tritonkata.model.faults import Fault
from tritonkata.model.observation import Unwritten
from tritonkata.model.plan import Step, View
from tritonkata.model.tensors import Run, TensorData, TensorSpec

Storages = list[NDArray[np.uint8]]


@dataclass(frozen=True)
class _Outcome:
    """One run: the outputs' bytes, and the guard zones that were written."""

    outputs: Storages
    guard_hits: list[tuple[str, int]]


def replay(request: Replay, blobs: Sequence[Any]) -> tuple[Replayed, Storages]:
    """Run a validated plan on fresh buffers; the reply and one blob for each output.

    Outputs are those of the run over the first poison byte. Whether an element
    was written can be told only from two different poison bytes; with one, nothing is called unwritten.

    Raises:
        ReplayFault: there are no outputs; why, and whether this process must end.
    """
    if not request.poisons:
        raise faults.request_fault("a replay needs at least one poison byte")
    try:
        with opened(request.plan, request.arguments, blobs) as session:
            return _replay(session, request.poisons)
    except arenas.OutOfDeviceMemory as error:
        raise faults.memory_fault(error, request.plan) from error
    except driver.CudaError as error:
        raise faults.driver_fault(error) from error


def _replay(session: Session, poisons: bytes) -> tuple[Replayed, Storages]:
    chosen = tuning.choose(session, poisons[0])
    steps = tuning.resolve(session.plan, chosen)
    first = _run_once(session, steps, poisons[0])
    changed = inputs_changed(session)
    others = [poison for poison in dict.fromkeys(poisons) if poison != poisons[0]]
    missing, hits = _compare_runs(session, steps, first, poisons[0], others)
    reply = Replayed(
        outputs=tuple(described(view, session) for view in session.plan.outputs),
        inputs_changed=changed,
        guard_hits=tuple(dict.fromkeys(hits))[:64],
        unwritten=missing,
        chosen=chosen,
    )
    return reply, first.outputs


def _run_once(session: Session, steps: Sequence[Step], poison: int) -> _Outcome:
    refresh(session, poison)
    run(session, steps)
    driver.synchronize()
    outputs = [hostops.download_view(session.arena, view) for view in session.plan.outputs]
    return _Outcome(outputs, arenas.guard_hits(session.arena, poison))


def _compare_runs(
    session: Session, steps: Sequence[Step], first: _Outcome, poison: int, others: Sequence[int]
) -> tuple[tuple[Unwritten, ...], list[tuple[str, int]]]:
    """Run over the other poison bytes: the elements that nobody wrote, and all guard hits.

    Raises:
        ReplayFault: an output depends on the poison, and no guard zone was written (which would explain it).
    """
    if not others:
        return (), first.guard_hits
    specs = [view.spec for view in session.plan.outputs]
    words = _words(first, specs)
    masks = [compare.holds_poison(flat, poison) for flat in words]
    found = {poison: words}
    hits = list(first.guard_hits)
    suspects: list[tuple[int, int]] = []
    for other in others:
        outcome = _run_once(session, steps, other)
        hits += outcome.guard_hits
        found[other] = _words(outcome, specs)
        for index, flat in enumerate(found[other]):
            suspects += _depends_on_poison(index, specs[index], words[index], flat, masks[index], other)
    dtypes = [spec.dtype for spec in specs]
    if suspects and not hits and repeats(lambda byte: _words(_run_once(session, steps, byte), specs), found, dtypes):
        raise faults.ReplayFault(_uninitialised(session, *suspects[0]))
    summaries = (compare.unwritten(index, mask, specs[index].shape) for index, mask in enumerate(masks))
    return tuple(summary for summary in summaries if summary), hits


def _words(outcome: _Outcome, specs: Sequence[TensorSpec]) -> Words:
    return [compare.flat_words(storage, spec) for storage, spec in zip(outcome.outputs, specs, strict=True)]


def _depends_on_poison(
    index: int, spec: TensorSpec, first: NDArray[Any], second: NDArray[Any], mask: Mask, poison: int
) -> list[tuple[int, int]]:
    """Narrow the mask of unwritten elements by a second run; the first other element that differs, if any."""
    mask &= compare.holds_poison(second, poison)
    differs = compare.differing(first, second, spec.dtype) & ~mask
    return [(index, int(differs.argmax()))] if differs.any() else []


def _uninitialised(session: Session, index: int, position: int) -> Fault:
    view = session.plan.outputs[index]
    place = compare.index_of(position, view.spec.shape)
    which = "the output" if len(session.plan.outputs) == 1 else f"output {index}"
    return Fault(
        "uninitialised_read",
        "kernel",
        f"{which} at {place} changes with what memory held before the call",
        advice="A kernel read elements that nobody wrote: beyond the end of a tensor or of a row, or from a buffer "
        "made by torch.empty. Look at the masks of the loads and at their `other`.",
    )


def described(view: View, session: Session) -> TensorData:
    """The output's place in its storage. Its blob holds what lies from the first element to the last."""
    spec = view.spec
    storage = session.plan.buffers[view.buffer].nbytes // spec.itemsize
    length = max(spec.span - spec.offset, 0)
    placed = TensorSpec(spec.dtype, spec.shape, spec.strides, spec.offset, storage)
    return TensorData(placed, (Run(spec.offset, length),) if length else ())
