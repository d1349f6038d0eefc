"""Tensors in and out of a case: inputs from their runs, outputs as runs, and whether an input changed."""

from __future__ import annotations

from math import prod

import numpy as np

from tritonkata.boundary.channel import Blob
from tritonkata.model.tensors import Run, TensorData, TensorSpec
from tritonkata.worker.interpreter.access import Running
from tritonkata.worker.interpreter.memory import Storage
from tritonkata.worker.interpreter.tensors import NAMES, TORCH_DTYPES, DeviceTensor, geometry, tensor_over


def input_tensor(running: Running, name: str, data: TensorData, blob: Blob) -> DeviceTensor:
    """The parameter `name`, its runs copied in and the rest of its storage zero."""
    spec = data.spec
    elements = max(spec.storage_elements, spec.span)
    storage = running.memory.allocate(
        name, spec.dtype, spec.itemsize, elements, spec.shape, spec.strides, offset=spec.offset, is_input=True
    )
    at = 0
    for run in data.runs:
        start, nbytes = run.start * spec.itemsize, run.length * spec.itemsize
        storage.bytes[start : start + nbytes] = np.frombuffer(blob, np.uint8, nbytes, at) if nbytes else 0
        at += nbytes
    return tensor_over(running, storage, TORCH_DTYPES[spec.dtype], spec.shape, spec.strides, spec.offset)


def input_changed(storage: Storage, data: TensorData, blob: Blob) -> bool:
    """Whether what was stored to an input left it different. Only what was stored to is compared."""
    if storage.stored_map is None:
        return False
    width, at, end = storage.itemsize, 0, 0
    for run in sorted(data.runs, key=lambda r: r.start):
        if _nonzero_where_stored(storage, end, run.start):
            return True
        end = run.start + run.length
    for run in data.runs:
        sent = np.frombuffer(blob, np.uint8, run.length * width, at) if run.length else np.empty(0, np.uint8)
        at += run.length * width
        if not np.array_equal(storage.bytes[run.start * width : (run.start + run.length) * width], sent):
            return True
    return _nonzero_where_stored(storage, end, storage.elements)


def _nonzero_where_stored(storage: Storage, start: int, end: int) -> bool:
    touched = np.flatnonzero(storage.stores()[start:end]) + start
    return bool(storage.bytes.reshape(-1, storage.itemsize)[touched].any()) if touched.size else False


def output_data(tensor: DeviceTensor) -> tuple[TensorData, memoryview]:
    """A returned tensor as data: its span of the storage as one run, with the strides it has."""
    shape, strides, offset = geometry(tensor)
    width = tensor.cells.element_size()
    name = NAMES[tensor.cells.dtype]
    if not prod(shape):
        return TensorData(TensorSpec(name, shape, strides, 0, 0), ()), memoryview(b"")
    span = TensorSpec(name, shape, strides).span
    data = TensorData(TensorSpec(name, shape, strides, 0, span), (Run(0, span),))
    return data, tensor.storage_of.bytes[offset * width : (offset + span) * width].data
