"""The host operations of a plan: fills and copies of tensor views."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided
from numpy.typing import NDArray

from tritonkata.launcher import driver
from tritonkata.launcher.arena import Arena
from tritonkata.launcher.parameters import fill_bits
from tritonkata.model.plan import Copy, Fill, View
from tritonkata.model.tensors import TensorSpec

_WORD = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}
_MAX_PITCH = (1 << 31) - 1


def fill(arena: Arena, step: Fill) -> None:
    """Write the value into every element of the view and into nothing else."""
    spec = step.view.spec
    bits = fill_bits(spec.dtype, step.value)
    if spec.elements == 0:
        return
    if not spec.is_contiguous:
        storage, elements = _download(arena, step.view)
        elements[...] = bits
        driver.upload(address_of(arena, step.view), storage)
    elif spec.itemsize <= 4:
        driver.fill(address_of(arena, step.view), bits, spec.itemsize, spec.elements)
    else:
        driver.upload(address_of(arena, step.view), np.full(spec.elements, bits, np.uint64))


def copy(arena: Arena, step: Copy) -> None:
    """Copy every element of the source to the same index of the target."""
    source, target = step.source.spec, step.target.spec
    if target.elements == 0:
        return
    apart = step.source.buffer != step.target.buffer
    if apart and source.is_contiguous and target.is_contiguous:
        nbytes = target.elements * target.itemsize
        driver.copy(address_of(arena, step.target), address_of(arena, step.source), nbytes)
    elif apart and _has_rows(source) and _has_rows(target):
        _copy_rows(arena, step)
    else:
        _copy_through_host(arena, step)


def download_view(arena: Arena, view: View) -> NDArray[np.uint8]:
    """The bytes from the view's first element to its last, gaps included."""
    storage, _ = _download(arena, view)
    return storage.view(np.uint8)


def address_of(arena: Arena, view: View) -> int:
    """Device address of the view's first element."""
    return arena.address(view.buffer, view.spec.offset * view.spec.itemsize)


def elements_of(storage: NDArray[Any], spec: TensorSpec) -> NDArray[Any]:
    """The elements of a view as unsigned words, from bytes that start at its first element."""
    words = storage.view(_WORD[spec.itemsize])
    return as_strided(words, spec.shape, tuple(stride * spec.itemsize for stride in spec.strides))


def _download(arena: Arena, view: View) -> tuple[NDArray[Any], NDArray[Any]]:
    spec = view.spec
    storage: NDArray[Any] = np.empty(max(spec.span - spec.offset, 0), _WORD[spec.itemsize])
    driver.download(storage, address_of(arena, view))
    return storage, elements_of(storage, spec)


def _has_rows(spec: TensorSpec) -> bool:
    """Whether the view is a matrix of dense rows that do not overlap, as the driver's row copy wants it."""
    if len(spec.shape) != 2 or (spec.strides[1] != 1 and spec.shape[1] != 1):
        return False
    return spec.shape[1] <= spec.strides[0] and spec.strides[0] * spec.itemsize <= _MAX_PITCH


def _copy_rows(arena: Arena, step: Copy) -> None:
    source, target = step.source.spec, step.target.spec
    rows, columns = target.shape
    driver.copy_rows(
        address_of(arena, step.target),
        target.strides[0] * target.itemsize,
        address_of(arena, step.source),
        source.strides[0] * source.itemsize,
        columns * target.itemsize,
        rows,
    )


def _copy_through_host(arena: Arena, step: Copy) -> None:
    _, values = _download(arena, step.source)
    storage, elements = _download(arena, step.target)
    elements[...] = values
    driver.upload(address_of(arena, step.target), storage)
