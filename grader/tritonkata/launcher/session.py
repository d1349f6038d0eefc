"""One plan set up on the device: buffers, loaded kernels, and the running of its steps."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tritonkata.boundary.validate import scratch_bytes
from tritonkata.launcher import arena as arenas
from tritonkata.launcher import driver, faults, hostops, kernels, looking
from tritonkata.launcher.arena import Arena, Layout
from tritonkata.launcher.kernels import LoadedKernel, ScratchSlots
from tritonkata.model.plan import Choice, Copy, Fill, Launch, LaunchPlan, Step
from tritonkata.model.tensors import TensorData


@dataclass(frozen=True)
class Session:
    """What the steps of one replay work on. `blobs` are the arguments' bytes, as `TensorData` describes them."""

    plan: LaunchPlan
    arguments: tuple[TensorData, ...]
    blobs: tuple[NDArray[np.uint8], ...]
    arena: Arena
    kernels: tuple[LoadedKernel, ...]
    scratch: ScratchSlots


@contextmanager
def opened(plan: LaunchPlan, arguments: tuple[TensorData, ...], blobs: Sequence[Any]) -> Iterator[Session]:
    """Memory and kernels for one plan; all of it is given back at the end.

    Raises:
        ReplayFault: a kernel that the driver refuses, or blobs that do not fit the arguments.
        OutOfDeviceMemory: the buffers do not fit.
    """
    arrays = _arrays(arguments, blobs)
    layout, scratch = _layout(plan)
    with kernels.loaded(plan.kernels) as loaded, arenas.allocated(layout) as arena:
        yield Session(plan, arguments, arrays, arena, loaded, scratch)


def with_arguments(session: Session, arguments: tuple[TensorData, ...], blobs: Sequence[Any]) -> Session:
    """The same memory and kernels for other values of the same layouts.

    Raises:
        ReplayFault: blobs that do not fit the arguments.
    """
    return replace(session, arguments=arguments, blobs=_arrays(arguments, blobs))


def refresh(session: Session, poison: int) -> None:
    """Poison everything, then put the arguments' values in place."""
    arenas.poison(session.arena, poison)
    for slot, (argument, blob) in enumerate(zip(session.arguments, session.blobs, strict=True)):
        _upload(session.arena, slot, argument, blob)


def run(session: Session, steps: Sequence[Step]) -> None:
    """Start the steps one after another, and wait after each launch so that a fault has the kernel's name.

    Raises:
        ReplayFault: a kernel failed.
    """
    for step in steps:
        start(session, step)
        if isinstance(step, Launch):
            name = session.kernels[step.kernel].kernel.name
            try:
                driver.synchronize()
            except driver.CudaError as error:
                raise faults.kernel_fault(name, error) from error


def start(session: Session, step: Step) -> None:
    """Start one step.

    Raises:
        ReplayFault: the driver turned a launch down.
    """
    if isinstance(step, Fill):
        hostops.fill(session.arena, step)
    elif isinstance(step, Copy):
        hostops.copy(session.arena, step)
    else:
        loaded = session.kernels[step.kernel]
        try:
            kernels.launch(loaded, step, session.arena, session.scratch)
        except driver.CudaError as error:
            raise faults.kernel_fault(loaded.kernel.name, error) from error


def inputs_changed(session: Session) -> tuple[str, ...]:
    """Names of the arguments whose uploaded values are no longer what was sent."""
    return tuple(
        session.plan.buffers[slot].name
        for slot, (argument, blob) in enumerate(zip(session.arguments, session.blobs, strict=True))
        if not all(looking.same_bytes(address, part) for address, part in _parts(session.arena, slot, argument, blob))
    )


def _layout(plan: LaunchPlan) -> tuple[Layout, ScratchSlots]:
    """The plan's buffers, then the scratch buffers, each as large as the launch that needs most."""
    buffers = [(buffer.name or f"buffer {index}", buffer.nbytes) for index, buffer in enumerate(plan.buffers)]
    needs = [scratch_bytes(plan.kernels[step.kernel], step) for step in _all_launches(plan)]
    largest = [max(column) for column in zip((0, 0), *needs, strict=True)]
    slots: list[int | None] = []
    for name, nbytes in zip(("global scratch", "profiling scratch"), largest, strict=True):
        slots.append(len(buffers) if nbytes else None)
        if nbytes:
            buffers.append((name, nbytes))
    return arenas.lay_out(buffers), ScratchSlots(*slots)


def _all_launches(plan: LaunchPlan) -> Iterator[Launch]:
    for step in plan.steps:
        parts = [part for variant in step.variants for part in variant] if isinstance(step, Choice) else [step]
        yield from (part for part in parts if isinstance(part, Launch))


def _arrays(arguments: Sequence[TensorData], blobs: Sequence[Any]) -> tuple[NDArray[np.uint8], ...]:
    arrays = tuple(np.frombuffer(blob, np.uint8) for blob in blobs)
    _check_blobs(arguments, arrays)
    return arrays


def _check_blobs(arguments: Sequence[TensorData], blobs: Sequence[NDArray[np.uint8]]) -> None:
    if len(arguments) != len(blobs):
        raise faults.request_fault(f"{len(arguments)} arguments came with {len(blobs)} blobs")
    for index, (argument, blob) in enumerate(zip(arguments, blobs, strict=True)):
        described = sum(run.length for run in argument.runs) * argument.spec.itemsize
        if described != blob.nbytes:
            raise faults.request_fault(f"argument {index} describes {described} bytes, its blob has {blob.nbytes}")
        if any(run.start + run.length > argument.spec.storage_elements for run in argument.runs):
            raise faults.request_fault(f"argument {index} has a run outside its storage")


def _upload(arena: Arena, slot: int, argument: TensorData, blob: NDArray[np.uint8]) -> None:
    nbytes = arena.layout.slots[slot].nbytes
    if blob.nbytes < nbytes:
        driver.fill(arena.address(slot), 0, 1, nbytes)
    for address, part in _parts(arena, slot, argument, blob):
        driver.upload(address, part)


def _parts(
    arena: Arena, slot: int, argument: TensorData, blob: NDArray[np.uint8]
) -> Iterator[tuple[int, NDArray[np.uint8]]]:
    """Each run of an argument: where it lies on the device, and its bytes."""
    size = argument.spec.itemsize
    taken = 0
    for run_ in argument.runs:
        length = run_.length * size
        yield arena.address(slot, run_.start * size), blob[taken : taken + length]
        taken += length
