"""NumPy arrays to and from the storages that cross a pipe."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from tritonkata.boundary.channel import Blob, ChannelError
from tritonkata.model.tensors import DType, Run, TensorData, TensorSpec

Array = NDArray[Any]

WHOLE_STORAGE_BYTES = 64 << 20
MAX_OUTPUT_BYTES = 8 << 30

_NUMPY_DTYPES: dict[str, Any] = {"bfloat16": ml_dtypes.bfloat16}


def numpy_dtype(name: str) -> np.dtype[Any]:
    """The NumPy dtype of a dtype's name; bfloat16 comes from ml_dtypes."""
    dtype: np.dtype[Any] = np.dtype(_NUMPY_DTYPES.get(name, name))
    return dtype


def spec_of(array: Array) -> TensorSpec:
    """The layout of an array within the storage that it is a view of."""
    storage = _storage(array)
    step = array.dtype.itemsize
    offset = (_address(array) - _address(storage)) // step if array.size else 0
    return TensorSpec(
        dtype=_dtype_name(array),
        shape=array.shape,
        strides=tuple(stride // step for stride in array.strides) if array.size else _dense_strides(array.shape),
        offset=offset,
        storage_elements=storage.size,
    )


def to_wire(array: Array) -> tuple[TensorData, memoryview | bytes]:
    """The layout of an array and the bytes of its storage.

    A storage over `WHOLE_STORAGE_BYTES` is sent as the rows of the view
    alone; what lies between them is zero on the other side.
    """
    spec = spec_of(array)
    storage = _storage(array).reshape(-1)
    if storage.nbytes <= WHOLE_STORAGE_BYTES or spec.elements == storage.size:
        runs: tuple[Run, ...] = (Run(0, storage.size),) if storage.size else ()
        return TensorData(spec, runs), _raw(storage)
    rows, columns = array.shape
    stride = spec.strides[0]
    runs = tuple(Run(spec.offset + row * stride, columns) for row in range(rows))
    return TensorData(spec, runs), _raw(np.ascontiguousarray(array).reshape(-1))


def from_wire(data: TensorData, blob: Blob) -> Array:
    """An array with the spec's shape and strides.

    Raises:
        ChannelError: the layout does not fit the bytes that came with it.
    """
    spec = data.spec
    if len(spec.shape) != len(spec.strides):
        raise ChannelError("a tensor has as many strides as dimensions")
    if spec.span > spec.storage_elements or spec.storage_elements * spec.itemsize > MAX_OUTPUT_BYTES:
        raise ChannelError("a tensor reaches past its storage")
    if sum(run.length for run in data.runs) * spec.itemsize != len(blob):
        raise ChannelError("a tensor's bytes do not fill its runs")
    dtype = numpy_dtype(spec.dtype)
    values = np.frombuffer(blob, dtype=dtype)
    storage = np.zeros(spec.storage_elements, dtype=dtype)
    position = 0
    for run in data.runs:
        if run.start + run.length > spec.storage_elements:
            raise ChannelError("a run reaches past its storage")
        storage[run.start : run.start + run.length] = values[position : position + run.length]
        position += run.length
    strides = tuple(stride * spec.itemsize for stride in spec.strides)
    return np.ndarray(spec.shape, dtype, storage.view(np.uint8), spec.offset * spec.itemsize, strides)


def many_to_wire(arrays: Sequence[Array]) -> tuple[tuple[TensorData, ...], list[memoryview | bytes]]:
    """`to_wire` for each array."""
    pairs = [to_wire(array) for array in arrays]
    return tuple(data for data, _ in pairs), [blob for _, blob in pairs]


def many_from_wire(datas: Sequence[TensorData], blobs: Sequence[Blob]) -> tuple[Array, ...]:
    """`from_wire` for each tensor; as many blobs as tensors must have come."""
    if len(datas) != len(blobs):
        raise ChannelError(f"{len(datas)} tensors came with {len(blobs)} blobs")
    return tuple(from_wire(data, blob) for data, blob in zip(datas, blobs, strict=True))


def _dense_strides(shape: tuple[int, ...]) -> tuple[int, ...]:
    """What torch gives a tensor without elements (NumPy gives zeros)."""
    strides: list[int] = []
    step = 1
    for extent in reversed(shape):
        strides.append(step)
        step *= max(extent, 1)
    return tuple(reversed(strides))


def _storage(array: Array) -> Array:
    """The outermost array that owns the memory, flat or not but contiguous."""
    owner = array
    while True:
        base: Any = owner.base
        if isinstance(base, np.ndarray):
            owner = base
        elif isinstance(getattr(base, "base", None), np.ndarray):
            owner = base.base  # as_strided puts a helper object between the view and its base
        else:
            break
    if owner.dtype != array.dtype or not owner.flags.c_contiguous:
        return np.ascontiguousarray(array)
    return owner.reshape(-1)


def _address(array: Array) -> int:
    return int(array.__array_interface__["data"][0])


def _dtype_name(array: Array) -> DType:
    name: Any = str(array.dtype)
    return name  # type: ignore[no-any-return]


def _raw(flat: Array) -> memoryview | bytes:
    if not flat.size:
        return b""
    raw: Any = flat.view(np.uint8)
    return memoryview(raw)
