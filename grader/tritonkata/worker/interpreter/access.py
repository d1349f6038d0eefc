"""Loads and stores of kernels: looked up, checked and counted before they happen."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from typing import Any, Literal, NoReturn

import numpy as np
from numpy.typing import NDArray

from tritonkata.model.faults import Access, Fault
from tritonkata.worker.hostops import HostOpRefused
from tritonkata.worker.interpreter.memory import SLOT_BITS, Indices, Memory, Storage
from tritonkata.worker.loading import SubmissionFault

Operation = Literal["load", "store", "atomic"]
Array = NDArray[Any]

_VERBS = {"load": "reads", "store": "writes", "atomic": "updates"}


@dataclass
class Running:
    """What is running now. `serial` numbers programs from 1, across all launches of the case."""

    memory: Memory
    path: str
    kernel: str = ""
    grid: tuple[int, int, int] = (1, 1, 1)
    program: tuple[int, int, int] = (0, 0, 0)
    serial: int = 0
    first_of_launch: int = 1
    launches: int = 0
    fault: Fault | None = None
    race: Fault | None = None
    refused: HostOpRefused | None = None
    notes: list[str] = field(default_factory=list)


def load(running: Running, addresses: Array, mask: Array | None, fill: Array, dtype: np.dtype[Any]) -> Array:
    """Load one element of `dtype` from each address whose lane is on; the other lanes keep `fill`.

    Raises:
        SubmissionFault: an address lies outside of its storage, or nobody wrote there.
    """
    result = np.array(np.broadcast_to(fill, addresses.shape), dtype)
    flat = result.reshape(-1)
    for storage, lanes, offsets in _by_storage(running, "load", addresses, mask):
        at = _elements(running, "load", storage, offsets, dtype.itemsize, mask is not None)
        marks = _marks(storage, at, dtype.itemsize)
        _refuse_uninitialised(running, "load", storage, marks, mask is not None)
        storage.count(line_of(running), loaded=at.size * dtype.itemsize)
        storage.loads()[marks] = 1
        values = storage.bytes[: storage.nbytes // dtype.itemsize * dtype.itemsize].view(dtype)
        flat[lanes] = values[at]
    return result


def store(running: Running, addresses: Array, value: Array, mask: Array | None) -> None:
    """Store `value`, broadcast to the addresses, where the lane is on.

    Raises:
        SubmissionFault: an address lies outside of its storage.
    """
    flat = np.broadcast_to(value, addresses.shape).reshape(-1)
    for storage, lanes, offsets in _by_storage(running, "store", addresses, mask):
        at = _elements(running, "store", storage, offsets, value.itemsize, mask is not None)
        marks = _marks(storage, at, value.itemsize)
        _note_race(running, storage, marks, mask is not None)
        storage.count(line_of(running), stored=at.size * value.itemsize)
        storage.stores()[marks] = 1
        storage.written_by()[marks] = running.serial
        storage.bytes[: storage.nbytes // value.itemsize * value.itemsize].view(value.dtype)[at] = flat[lanes]


def translate_atomic(running: Running, addresses: Array, mask: Array | None, itemsize: int) -> Array:
    """Real addresses for an atomic operation, which counts as a load and a store of each element.

    Lanes that are off get the null pointer.

    Raises:
        SubmissionFault: an address lies outside of its storage, or nobody wrote there.
    """
    real = np.zeros(addresses.shape, np.uint64)
    flat = real.reshape(-1)
    for storage, lanes, offsets in _by_storage(running, "atomic", addresses, mask):
        at = _elements(running, "atomic", storage, offsets, itemsize, mask is not None)
        marks = _marks(storage, at, itemsize)
        _refuse_uninitialised(running, "atomic", storage, marks, mask is not None)
        storage.count(line_of(running), loaded=at.size * itemsize, stored=at.size * itemsize)
        storage.loads()[marks] = 1
        storage.stores()[marks] = 1
        flat[lanes] = (offsets + storage.bytes.ctypes.data).astype(np.uint64)
    return real


def _by_storage(
    running: Running, operation: Operation, addresses: Array, mask: Array | None
) -> list[tuple[Storage, Any, Indices]]:
    """Split the active lanes by storage: the storage, the lanes, and byte offsets from its start."""
    flat = np.ascontiguousarray(addresses).reshape(-1).view(np.int64)
    lanes: Any = slice(None)
    if mask is not None and not mask.all():
        lanes = np.flatnonzero(np.broadcast_to(mask, addresses.shape))
        flat = flat[lanes]
    if not flat.size:
        return []
    slots = flat >> SLOT_BITS
    if (slots == slots[0]).all():
        return [(_storage(running, operation, int(flat[0])), lanes, flat - _base(running, int(flat[0])))]
    every = np.arange(addresses.size)[lanes]
    parts = [slots == slot for slot in np.unique(slots)]
    return [
        (_storage(running, operation, int(flat[part][0])), every[part], flat[part] - _base(running, int(flat[part][0])))
        for part in parts
    ]


def _base(running: Running, address: int) -> int:
    storage = running.memory.find(address)
    return storage.address if storage is not None else 0


def _storage(running: Running, operation: Operation, address: int) -> Storage:
    storage = running.memory.find(address)
    if storage is None:
        message = f"a {operation} goes through address {address:#x}, which was not made from any tensor"
        access = Access(operation, "", 0, 0, running.program, running.kernel, line_of(running))
        _fail(running, Fault("out_of_bounds", "kernel", message, line=access.line, access=access))
    return storage


def _elements(
    running: Running, operation: Operation, storage: Storage, offsets: Indices, itemsize: int, masked: bool
) -> Indices:
    """Element numbers, in units of `itemsize`, once all are known to lie inside."""
    outside = (offsets < 0) | (offsets > storage.nbytes - itemsize)
    if outside.any():
        element = int(offsets[outside][0]) // storage.itemsize
        _out_of_bounds(running, operation, storage, element, masked)
    at, rest = np.divmod(offsets, itemsize)
    if rest.any():
        message = (
            f"the kernel {_VERBS[operation]} {storage.label} at an address that is no multiple of {itemsize} bytes"
        )
        _fail(running, Fault("runtime_error", "kernel", message, "misaligned address", line_of(running)))
    return at


def _marks(storage: Storage, at: Indices, itemsize: int) -> Any:
    """Indices into the storage's maps: a slice where the lanes are neighbours, since that is much faster."""
    if itemsize != storage.itemsize:
        # Seen through a pointer of another type: every element of the storage that is touched.
        width = max(1, itemsize // storage.itemsize)
        return ((at * itemsize // storage.itemsize)[:, None] + np.arange(width)).reshape(-1)
    first, last = int(at[0]), int(at[-1])
    if last - first + 1 == at.size and (at.size == 1 or bool((np.diff(at) == 1).all())):
        return slice(first, last + 1)
    return at


def _refuse_uninitialised(running: Running, operation: Operation, storage: Storage, marks: Any, masked: bool) -> None:
    if storage.is_input:
        return
    known = storage.stores()[marks]
    if known.all():
        return
    element = _element_at(marks, int(np.argmin(known)))
    access = _access(running, operation, storage, element, masked)
    message = f"the kernel {_VERBS[operation]} element {element} of {storage.label} before anything was written there"
    _fail(running, Fault("uninitialised_read", "kernel", message, line=access.line, access=access))


def _note_race(running: Running, storage: Storage, marks: Any, masked: bool) -> None:
    if running.race is not None:
        return
    writers = storage.written_by()[marks]
    clash = (writers >= running.first_of_launch) & (writers != running.serial)
    if not clash.any():
        return
    lane = int(np.argmax(clash))
    other = _program_of(running, int(writers[lane]))
    element = _element_at(marks, lane)
    access = _access(running, "store", storage, element, masked)
    message = (
        f"programs {other} and {running.program} of one launch both write element {element} of {storage.label}; "
        "which value stays is a matter of chance"
    )
    running.race = Fault("race", "kernel", message, line=access.line, access=access)


def end_of_launch(running: Running) -> None:
    """Raise the race of the launch that just ended, if there was one.

    Only now, because a store past the end of a row meets the next row first
    and the end of the tensor later, and the second says more.

    Raises:
        SubmissionFault: two programs wrote one element.
    """
    if running.race is not None:
        _fail(running, running.race)


def _program_of(running: Running, serial: int) -> tuple[int, int, int]:
    _, ny, nz = running.grid
    number = serial - running.first_of_launch
    return number // (ny * nz), number // nz % ny, number % nz


def _element_at(marks: Any, lane: int) -> int:
    return int(marks.start + lane) if isinstance(marks, slice) else int(marks[lane])


def _out_of_bounds(running: Running, operation: Operation, storage: Storage, element: int, masked: bool) -> NoReturn:
    access = _access(running, operation, storage, element, masked)
    if element < 0:
        where = f"{-element} elements before the start of {storage.label}"
    else:
        where = f"element {element} of {storage.label}, which has {storage.elements}"
    message = f"program {running.program} of {running.kernel} {_VERBS[operation]} {where}"
    _fail(running, Fault("out_of_bounds", "kernel", message, line=access.line, access=access))


def _access(running: Running, operation: Operation, storage: Storage, element: int, masked: bool) -> Access:
    row, column = _row_and_column(storage, element)
    return Access(
        operation=operation,
        tensor=storage.label,
        element=element,
        storage_elements=storage.elements,
        program=running.program,
        kernel=running.kernel,
        line=line_of(running),
        row=row,
        column=column,
        masked=masked,
    )


def _row_and_column(storage: Storage, element: int) -> tuple[int | None, int | None]:
    if len(storage.shape) != 2 or not 0 <= element < storage.elements:
        return None, None
    place = element - storage.offset
    (rows, columns), (row_stride, column_stride) = storage.shape, storage.strides
    row = place // row_stride if row_stride else 0
    rest = place - row * row_stride
    column = rest // column_stride if column_stride else 0
    if place < 0 or row >= rows or column >= columns:
        return None, None
    return row, column


def line_of(running: Running) -> int | None:
    """The learner's line that is running: the innermost frame of the submission's file."""
    frame = sys._getframe(1)
    while frame is not None:
        if frame.f_code.co_filename == running.path:
            return frame.f_lineno
        frame = frame.f_back  # type: ignore[assignment]
    return None


def _fail(running: Running, fault: Fault) -> NoReturn:
    """Raise `fault`. The first one is kept, in case the submission catches it."""
    if running.fault is None:
        running.fault = fault
    raise SubmissionFault(running.fault)
