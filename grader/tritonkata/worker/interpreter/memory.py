"""The memory that kernels and host code of one case may touch: every storage, with its history.

Addresses are made up. Each storage owns a slot of 2^40 bytes and starts in the
middle of it, so an address that strays, also far or below the start, still
belongs to the tensor it was computed from, and no access is ever a real one
before it has been looked up here.
"""

from __future__ import annotations

import mmap
from dataclasses import dataclass, field
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tritonkata.model.observation import LineTraffic, TensorTraffic, Traffic, Unwritten

SLOT_BITS = 40
_MIDDLE = 1 << (SLOT_BITS - 1)
MAX_STORAGES = 255
MAX_LINES = 64

Indices = NDArray[np.int64]
Map = NDArray[np.uint8]


@dataclass
class Storage:
    """One allocation.

    Maps hold one byte for each element. They are anonymous zero pages, so a map
    over gigabytes costs what is touched. `shape`, `strides` and `offset`
    describe the tensor that the storage was made for, in elements. `line` is
    where the submission allocated it. `lines` holds the bytes that kernels
    loaded and stored from each line of the submission.
    """

    name: str
    slot: int
    dtype: str
    itemsize: int
    nbytes: int
    bytes: NDArray[np.uint8]
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int
    is_input: bool
    loaded: int = 0
    stored: int = 0
    loaded_map: Map | None = None
    stored_map: Map | None = None
    writers: NDArray[np.int32] | None = None
    line: int | None = None
    lines: dict[int, tuple[int, int]] = field(default_factory=dict)

    @property
    def label(self) -> str:
        """The name, and the learner's line that allocated it: what a message calls it."""
        return self.name if self.line is None else f"{self.name} (line {self.line})"

    @property
    def address(self) -> int:
        """The made-up address of the first byte."""
        return (self.slot << SLOT_BITS) + _MIDDLE

    @property
    def elements(self) -> int:
        """Number of elements."""
        return self.nbytes // self.itemsize

    def count(self, line: int | None, *, loaded: int = 0, stored: int = 0) -> None:
        """Add the bytes of one access of a kernel, on the learner's line that asked for it."""
        self.loaded += loaded
        self.stored += stored
        if line is not None:
            loaded_before, stored_before = self.lines.get(line, (0, 0))
            self.lines[line] = (loaded_before + loaded, stored_before + stored)

    def loads(self) -> Map:
        """Which elements were loaded."""
        if self.loaded_map is None:
            self.loaded_map = np.zeros(self.elements, np.uint8)
        return self.loaded_map

    def stores(self) -> Map:
        """Which elements were stored."""
        if self.stored_map is None:
            self.stored_map = np.zeros(self.elements, np.uint8)
        return self.stored_map

    def written_by(self) -> NDArray[np.int32]:
        """The number of the last program that stored each element, 0 for none."""
        if self.writers is None:
            self.writers = np.zeros(self.elements, np.int32)
        return self.writers


@dataclass
class Memory:
    """All storages of one case."""

    storages: list[Storage] = field(default_factory=list)
    names: dict[str, int] = field(default_factory=dict)

    def allocate(
        self,
        name: str,
        dtype: str,
        itemsize: int,
        elements: int,
        shape: tuple[int, ...],
        strides: tuple[int, ...],
        *,
        offset: int = 0,
        is_input: bool = False,
    ) -> Storage:
        """A new storage of `elements` zeros.

        Raises:
            MemoryError: there is no room for it, or too many have been made.
        """
        if len(self.storages) >= MAX_STORAGES:
            raise MemoryError(f"more than {MAX_STORAGES} tensors were allocated in one call")
        nbytes = elements * itemsize
        storage = Storage(
            name=name,
            slot=len(self.storages) + 1,
            dtype=dtype,
            itemsize=itemsize,
            nbytes=nbytes,
            bytes=_anonymous(nbytes),
            shape=shape,
            strides=strides,
            offset=offset,
            is_input=is_input,
        )
        self.storages.append(storage)
        return storage

    def allocation_name(self, operation: str) -> str:
        """`empty[0]`, `empty[1]`, ... for the allocations that `operation` makes."""
        number = self.names.get(operation, 0)
        self.names[operation] = number + 1
        return f"{operation}[{number}]"

    def find(self, address: int) -> Storage | None:
        """The storage whose slot `address` lies in."""
        slot = address >> SLOT_BITS
        return self.storages[slot - 1] if 1 <= slot <= len(self.storages) else None


def _anonymous(nbytes: int) -> NDArray[np.uint8]:
    # Not np.zeros: small ones would come from the heap, unaligned.
    try:
        pages = mmap.mmap(-1, max(nbytes, 1))
    except OSError as error:
        raise MemoryError(f"an allocation of {nbytes} bytes does not fit in memory") from error
    return np.frombuffer(pages, np.uint8, count=nbytes)


def elements_of(array: NDArray[Any], shape: tuple[int, ...], strides: tuple[int, ...], offset: int) -> NDArray[Any]:
    """The view of a per-element `array` that a tensor with this geometry has of its storage.

    Dimensions of stride 0 are kept as extent 1: each element appears once.
    """
    if prod(shape) == 0:
        return array[:0]
    extents = tuple(1 if s == 0 else n for n, s in zip(shape, strides, strict=True))
    steps = tuple(s * array.itemsize for s in strides)
    return np.lib.stride_tricks.as_strided(array[offset:], extents, steps)


def mark_view(storage: Storage, shape: tuple[int, ...], strides: tuple[int, ...], offset: int) -> None:
    """Count a store to every element of a view (a fill, or the target of a copy)."""
    view = elements_of(storage.stores(), shape, strides, offset)
    storage.stored += view.size * storage.itemsize
    view[...] = 1
    if storage.writers is not None:
        elements_of(storage.writers, shape, strides, offset)[...] = 0


def mark_loaded_view(storage: Storage, shape: tuple[int, ...], strides: tuple[int, ...], offset: int) -> None:
    """Count a load of every element of a view (the source of a copy)."""
    view = elements_of(storage.loads(), shape, strides, offset)
    storage.loaded += prod(shape) * storage.itemsize
    view[...] = 1


def unwritten(
    index: int, storage: Storage, shape: tuple[int, ...], strides: tuple[int, ...], offset: int
) -> Unwritten | None:
    """The elements of output number `index` that nothing wrote, or None."""
    if storage.is_input or prod(shape) == 0:
        return None
    missing = np.argwhere(elements_of(storage.stores(), shape, strides, offset) == 0)
    if not len(missing):
        return None
    first, last = (tuple(int(i) for i in missing[at]) for at in (0, -1))
    return Unwritten(index, len(missing), first, last)


def traffic_of(memory: Memory) -> Traffic:
    """Bytes that were asked of every storage, in order of allocation."""
    tensors = tuple(_tensor_traffic(storage) for storage in memory.storages)
    loaded, stored = sum(t.loaded for t in tensors), sum(t.stored for t in tensors)
    return Traffic("interpreter", loaded, stored, tensors)


def _tensor_traffic(storage: Storage) -> TensorTraffic:
    def unique(seen: Map | None) -> int:
        return 0 if seen is None else int(np.count_nonzero(seen)) * storage.itemsize

    return TensorTraffic(
        # Results have been renamed by now; where one was allocated says nothing more.
        tensor=storage.name if storage.name.startswith("result") else storage.label,
        loaded=storage.loaded,
        stored=storage.stored,
        unique_loaded=unique(storage.loaded_map),
        unique_stored=unique(storage.stored_map),
        lines=_lines(storage),
    )


def _lines(storage: Storage) -> tuple[LineTraffic, ...]:
    """The lines that moved the most bytes of a storage, in order of line."""
    most = sorted(storage.lines.items(), key=lambda item: -sum(item[1]))[:MAX_LINES]
    return tuple(LineTraffic(line, loaded, stored) for line, (loaded, stored) in sorted(most))
