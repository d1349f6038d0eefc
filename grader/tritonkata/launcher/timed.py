"""Timing one plan: its cases in turn, every output looked at.

What must stand in memory before a run, and what its outputs must be, are kept on the device, so that
neither putting the one in place nor looking at the other takes longer than the runs.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tritonkata.boundary.messages import Time, Timed
from tritonkata.launcher import arena as arenas
from tritonkata.launcher import compare, driver, faults, hostops, looking, timing, tuning
from tritonkata.launcher.copying import VECTOR_BYTES, OwnKernels
from tritonkata.launcher.replay import described
from tritonkata.launcher.session import Session, inputs_changed, opened, refresh, run, start, with_arguments
from tritonkata.model.plan import Step

_POISONS = (0xFF, 0x7B)
_ON_HOST_ONE_IN = 5
"""Of the timed runs, how many have their outputs compared outside the device's memory; the first and last always."""

Storages = list[NDArray[np.uint8]]


@dataclass
class _Case:
    """One case: the arena's bytes before a run at `before`, and after the first run at `after`, both on the device.

    `outputs` are the first run's; `differing` those of the last run that gave something else.
    """

    session: Session
    before: int
    after: int
    outputs: Storages
    differing: Storages | None = None
    inputs_changed: tuple[str, ...] = ()


def time_plan(request: Time, blobs: Sequence[Any], device: Any) -> tuple[Timed, Storages]:
    """Time a validated plan beside copies; the reply and its blobs.

    Before every run the buffers hold poison, and the inputs of the next case, so that a result cannot be left
    over from the run before; after every run its outputs are compared with the first of the same case.

    Raises:
        ReplayFault: a kernel failed, or there is no memory for the buffers.
    """
    try:
        sets = _by_case(request, blobs)
        with (
            opened(request.plan, request.cases[0], sets[0]) as session,
            timing.bench(device, request.copy_bytes) as bench,
        ):
            sessions = [with_arguments(session, *pair) for pair in zip(request.cases, sets, strict=True)]
            return _timed(request, sessions, bench)
    except arenas.OutOfDeviceMemory as error:
        copies = 1 + 2 * len(request.cases)
        beside = request.copy_bytes + (1 << 30)  # the L2's flush among them
        raise faults.memory_fault(error, request.plan, copies, beside) from error
    except driver.CudaError as error:
        raise faults.driver_fault(error) from error


def _timed(request: Time, sessions: Sequence[Session], bench: timing.Bench) -> tuple[Timed, Storages]:
    chosen = tuning.choose(sessions[0], _POISONS[0])
    steps = tuning.resolve(request.plan, chosen)
    with _first_runs(sessions, steps) as cases:
        looked: list[_Case] = []

        def look(number: int) -> None:
            looked[:] = [cases[number % len(cases)]]
            # A kernel that found where the device keeps what it is compared with could change both.
            if _same_on_device(bench, looked[0]) and secrets.randbelow(_ON_HOST_ONE_IN):
                return
            _look_on_host(looked[0])

        speed = timing.time_beside_copies(
            bench,
            lambda: _start_all(sessions[0], steps),
            request.rounds,
            before=lambda number: _put_back(bench.kernels, cases[number % len(cases)]),
            after=look,
        )
        # The last run's outputs are still in place.
        _look_on_host(looked[0])
    differing = [index for index, case in enumerate(cases) if case.differing is not None]
    storages = [part for case in cases for part in case.outputs]
    storages += [part for index in differing for part in cases[index].differing or ()]
    views = [described(view, sessions[0]) for view in request.plan.outputs]
    changed = dict.fromkeys(name for case in cases for name in case.inputs_changed)
    reply = Timed(
        speed=speed,
        outputs=tuple(views * (len(cases) + len(differing))),
        inputs_changed=tuple(changed),
        differing=tuple(differing),
        chosen=chosen,
    )
    return reply, storages


@contextmanager
def _first_runs(sessions: Sequence[Session], steps: Sequence[Step]) -> Iterator[list[_Case]]:
    """Run every case once and keep, on the device, what stood in memory before and after."""
    taken: list[int] = []
    try:
        cases = []
        for number, session in enumerate(sessions):
            taken += [arenas.allocate(session.arena.layout.nbytes) for _ in range(2)]
            refresh(session, _POISONS[number % 2])
            driver.copy(taken[-2], session.arena.base, session.arena.layout.nbytes)
            run(session, steps)
            driver.synchronize()
            driver.copy(taken[-1], session.arena.base, session.arena.layout.nbytes)
            cases.append(_Case(session, taken[-2], taken[-1], _download(session), None, inputs_changed(session)))
        yield cases
    finally:
        for address in taken:
            arenas.release(address, sessions[0].arena.layout.nbytes)


def _start_all(session: Session, steps: Sequence[Step]) -> None:
    """Start all steps and wait for none: the launches of one plan follow each other on the device."""
    for step in steps:
        start(session, step)


def _put_back(kernels: OwnKernels, case: _Case) -> None:
    """Poison and inputs as before the first run, by a kernel that takes microseconds."""
    arena = case.session.arena
    kernels.copy(arena.base, case.before, arena.layout.nbytes)


def _look_on_host(case: _Case) -> None:
    """Compare the outputs in memory with the first ones of the case, which were sent; keep them if they differ."""
    addresses = [hostops.address_of(case.session.arena, view) for view in case.session.plan.outputs]
    if all(looking.same_bytes(address, first) for address, first in zip(addresses, case.outputs, strict=True)):
        return
    outputs = _download(case.session)
    if any(_differs(case.session, index, outputs[index], first) for index, first in enumerate(case.outputs)):
        case.differing = outputs


def _same_on_device(bench: timing.Bench, case: _Case) -> bool:
    """Whether the storages of all outputs have the bytes of the first run; False may still be the same values."""
    try:
        driver.synchronize()
    except driver.CudaError as error:
        names = [kernel.kernel.name for kernel in case.session.kernels]
        raise faults.kernel_fault(", ".join(dict.fromkeys(names)), error) from error
    arena = case.session.arena
    driver.fill(bench.sink, 0, 4, 1)
    for slot in {view.buffer for view in case.session.plan.outputs}:
        place = arena.layout.slots[slot]
        # Buffers begin on a page and guard zones follow, so whole vectors stay inside the arena.
        nbytes = -(-place.nbytes // VECTOR_BYTES) * VECTOR_BYTES
        bench.kernels.compare(bench.sink, arena.base + place.offset, case.after + place.offset, nbytes)
    return looking.same_bytes(bench.sink, np.zeros(4, np.uint8))


def _download(session: Session) -> Storages:
    return [hostops.download_view(session.arena, view) for view in session.plan.outputs]


def _differs(session: Session, index: int, one: NDArray[Any], other: NDArray[Any]) -> bool:
    """Whether two storages of one output differ in an element of it; gaps between rows hold poison."""
    if np.array_equal(one, other):
        return False
    spec = session.plan.outputs[index].spec
    return bool(compare.differing(compare.flat_words(one, spec), compare.flat_words(other, spec), spec.dtype).any())


def _by_case(request: Time, blobs: Sequence[Any]) -> list[list[Any]]:
    """The blobs of each case."""
    if sum(map(len, request.cases)) != len(blobs):
        raise faults.request_fault(f"{sum(map(len, request.cases))} arguments came with {len(blobs)} blobs")
    remaining = iter(blobs)
    return [[next(remaining) for _ in case] for case in request.cases]
