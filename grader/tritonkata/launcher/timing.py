"""Time of one workload as a fraction of a copy of the same bytes.

A round is copy, run, copy, each after a read that flushes the L2, all started at once so that the
host's own time hides behind the flush. Short runs on large buffers are done several times in a row.
A round whose two copies disagree is thrown away. Clocks are left as they are: the ratio holds where they drift.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

from tritonkata.launcher import arena, copying, driver, health
from tritonkata.launcher.copying import VECTOR_BYTES, OwnKernels
from tritonkata.model.observation import Speed

MAX_DISAGREEMENT = 0.02
NOISE_US = 1.0
"""Differences below this are no disagreement: they are the noise of one launch."""

_LONG_ENOUGH_US = 500.0
_MOST_REPEATS = 16
_TRIES_A_ROUND = 3
_FLUSHED_L2_SIZES = 4


@dataclass(frozen=True)
class Round:
    """Device times of one round, in microseconds."""

    before_us: float
    run_us: float
    after_us: float

    @property
    def agrees(self) -> bool:
        """Whether the two copies took the same time, to 2 % or a microsecond."""
        slow, fast = max(self.before_us, self.after_us), min(self.before_us, self.after_us)
        return slow - fast <= max(fast * MAX_DISAGREEMENT, NOISE_US)

    @property
    def copy_us(self) -> float:
        """The mean of both copies."""
        return (self.before_us + self.after_us) / 2


@dataclass(frozen=True)
class Bench:
    """Memory and kernels for timing: the two ends of a copy, and what is read to flush."""

    kernels: OwnKernels
    copy_bytes: int
    source: int
    target: int
    flushed: int
    flush_bytes: int
    sink: int

    def copy(self) -> None:
        """Start the copy: `copy_bytes` in all, half of them read and half written."""
        self.kernels.copy(self.target, self.source, self.copy_bytes // 2)

    def flush(self) -> None:
        """Start the read that leaves nothing of the buffers in the L2."""
        self.kernels.read(self.sink, self.flushed, self.flush_bytes)


@dataclass
class _Events:
    """Six timing events, a pair around each part of a round."""

    events: list[Any] = field(default_factory=lambda: [driver.make_event() for _ in range(6)])

    def around(self, index: int, start: Callable[[], None], repeats: int) -> None:
        driver.record(self.events[2 * index])
        for _ in range(repeats):
            start()
        driver.record(self.events[2 * index + 1])

    def microseconds(self, index: int) -> float:
        return 1e3 * driver.milliseconds_between(self.events[2 * index], self.events[2 * index + 1])

    def destroy(self) -> None:
        # After a kernel's fault the context is gone, and its events with it.
        with suppress(driver.CudaError):
            for event in self.events:
                driver.destroy_event(event)


@contextmanager
def bench(device: Any, copy_bytes: int) -> Iterator[Bench]:
    """Buffers for copies that move `copy_bytes`, read plus written.

    Raises:
        OutOfDeviceMemory: they do not fit.
    """
    half = -(-copy_bytes // (2 * VECTOR_BYTES)) * VECTOR_BYTES
    flush_bytes = _FLUSHED_L2_SIZES * max(driver.attribute(device, "L2_CACHE_SIZE"), 1 << 20)
    taken: list[int] = []
    try:
        for nbytes in (half, half, flush_bytes, VECTOR_BYTES):
            taken.append(arena.allocate(max(nbytes, VECTOR_BYTES)))
            driver.fill(taken[-1], 0x3C, 1, nbytes)
        with copying.loaded() as kernels:
            yield Bench(kernels, 2 * half, taken[0], taken[1], taken[2], flush_bytes, taken[3])
    finally:
        with suppress(driver.CudaError):
            for address in taken:
                driver.free(address)


def time_beside_copies(
    on: Bench,
    run: Callable[[], None],
    rounds: int,
    *,
    before: Callable[[int], None] = lambda _: None,
    after: Callable[[int], None] = lambda _: None,
) -> Speed:
    """Time `run`, which starts work and does not wait, in `rounds` rounds.

    `before` and `after` are called around each round with its number, outside what is timed: to set
    up inputs, and to look at outputs.
    """
    kept: list[Round] = []
    thrown: list[Round] = []
    notes: dict[str, None] = {}
    events = _Events()
    try:
        repeats = _repeats(on, _round(on, run, events, 1))
        for number in range(_TRIES_A_ROUND * rounds):
            before(number)
            measured = _round(on, run, events, repeats)
            notes.update(dict.fromkeys(health.disturbances()))
            after(number)
            (kept if measured.agrees else thrown).append(measured)
            if len(kept) == rounds:
                break
    finally:
        events.destroy()
    return summary(kept, thrown, on.copy_bytes, tuple(notes))


def summary(kept: list[Round], thrown: list[Round], copy_bytes: int, notes: tuple[str, ...]) -> Speed:
    """Medians over the rounds that were kept; over all of them, with a note, if hardly any was."""
    if len(kept) < max(1, len(thrown) // 4):
        total = len(kept) + len(thrown)
        notes = (
            *notes,
            f"the two copies disagreed by more than 2 % in {len(thrown)} of {total} rounds: an unsteady GPU",
        )
        kept = kept + thrown
    return Speed(
        kernel_us=statistics.median(one.run_us for one in kept),
        copy_us=statistics.median(one.copy_us for one in kept),
        fraction_of_copy=statistics.median(one.copy_us / one.run_us for one in kept),
        copy_bytes=copy_bytes,
        rounds=len(kept),
        repeated=len(thrown),
        notes=notes[:16],
    )


def _repeats(on: Bench, first: Round) -> int:
    """How often each part of a round is done in a row, so that it lasts long enough to be timed well.

    Once where the buffers fit into the L2 several times over: there only the first run finds it flushed.
    """
    if on.copy_bytes < on.flush_bytes:
        return 1
    shortest = max(min(first.before_us, first.run_us, first.after_us), 1.0)
    return max(1, min(_MOST_REPEATS, round(_LONG_ENOUGH_US / shortest)))


def _round(on: Bench, run: Callable[[], None], events: _Events, repeats: int) -> Round:
    driver.synchronize()
    for index, start in enumerate((on.copy, run, on.copy)):
        on.flush()
        events.around(index, start, repeats)
    driver.synchronize()
    return Round(*(events.microseconds(index) / repeats for index in range(3)))
