"""One device allocation, carved into buffers with a guard zone before, between and after them.

Everything in it starts as one poison byte. A guard zone reaches from the exact
last byte of one buffer to the first of the next, so a store one byte too far shows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from tritonkata.launcher import driver, looking

ALIGNMENT = 4096
"""Bytes. No less than any alignment that Triton asks of scratch memory or of a descriptor."""

GUARD_BYTES = 1 << 20
"""At least this much before, between and after buffers: a row of 131,072 columns, rounded up, ends inside."""

_OVERWRITTEN = 0xA5
"""What is left of a submission's memory for the next: neither zeros nor a NaN."""


@dataclass(frozen=True)
class Slot:
    """One buffer inside the arena; `offset` and `nbytes` in bytes."""

    name: str
    offset: int
    nbytes: int

    @property
    def end(self) -> int:
        """The first byte after the buffer."""
        return self.offset + self.nbytes


@dataclass(frozen=True)
class Layout:
    """Where each buffer lies, in order of address, and the size of the whole."""

    slots: tuple[Slot, ...]
    nbytes: int


@dataclass(frozen=True)
class Arena:
    """A layout in device memory, from address `base` (aligned)."""

    layout: Layout
    base: int

    def address(self, slot: int, offset: int = 0) -> int:
        """Device address of a byte of a buffer."""
        return self.base + self.layout.slots[slot].offset + offset


def lay_out(buffers: Sequence[tuple[str, int]], *, guard_bytes: int = GUARD_BYTES) -> Layout:
    """Place buffers, given as (name, bytes), with at least `guard_bytes` around each."""
    slots = []
    cursor = guard_bytes
    for name, nbytes in buffers:
        offset = _align(cursor)
        slots.append(Slot(name, offset, nbytes))
        cursor = offset + nbytes + guard_bytes
    return Layout(tuple(slots), _align(cursor))


def guards(layout: Layout) -> list[tuple[int, int]]:
    """The guard zones, as (first byte, byte after the last), in order of address."""
    starts = [0, *(slot.end for slot in layout.slots)]
    stops = [*(slot.offset for slot in layout.slots), layout.nbytes]
    return list(zip(starts, stops, strict=True))


def nearest(layout: Layout, position: int) -> tuple[str, int]:
    """The buffer nearest to a byte of a guard zone, and the byte's offset from that buffer's first byte."""

    def distance(slot: Slot) -> int:
        return slot.offset - position if position < slot.offset else position - slot.end + 1

    slot = min(layout.slots, key=distance)
    return slot.name, position - slot.offset


class OutOfDeviceMemory(Exception):
    """The device has less free memory than a layout needs; both in bytes."""

    def __init__(self, asked_bytes: int, free_bytes: int) -> None:
        super().__init__(f"{asked_bytes} bytes of device memory are needed, {free_bytes} are free")
        self.asked_bytes = asked_bytes
        self.free_bytes = free_bytes


@contextmanager
def allocated(layout: Layout) -> Iterator[Arena]:
    """Device memory for a layout; overwritten and freed at the end, also after a fault of a kernel.

    Raises:
        OutOfDeviceMemory: it does not fit.
    """
    address = allocate(layout.nbytes + ALIGNMENT)
    try:
        yield Arena(layout, _align(address))
    finally:
        release(address, layout.nbytes + ALIGNMENT)


def release(address: int, nbytes: int) -> None:
    """Overwrite memory that a submission's data was in, and give it back."""
    # After a kernel's fault the whole context is gone, and its memory with it.
    with suppress(driver.CudaError):
        driver.fill(address, _OVERWRITTEN, 1, nbytes)
        driver.free(address)


def allocate(nbytes: int) -> int:
    """Address of device memory.

    Raises:
        OutOfDeviceMemory: it does not fit.
    """
    try:
        return driver.allocate(nbytes)
    except driver.CudaError as error:
        if error.code != driver.OUT_OF_MEMORY:
            raise
        raise OutOfDeviceMemory(nbytes, driver.free_memory()) from error


def poison(arena: Arena, byte: int) -> None:
    """Fill everything, buffers and guards, with one byte."""
    driver.fill(arena.base, byte, 1, arena.layout.nbytes)


def guard_hits(arena: Arena, byte: int) -> list[tuple[str, int]]:
    """The first changed byte of each guard zone that no longer holds the poison, by nearest buffer."""
    hits = []
    for start, stop in guards(arena.layout):
        offset = looking.first_other(arena.base + start, stop - start, byte)
        if offset is not None and arena.layout.slots:
            hits.append(nearest(arena.layout, start + offset))
    return hits


def _align(position: int) -> int:
    return -(-position // ALIGNMENT) * ALIGNMENT
