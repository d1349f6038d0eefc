"""Tensors that say they are on the GPU and keep their bytes in a `Storage`.

Host code sees `is_cuda`, `cuda:0`, shapes, strides and views as on a card.
Underneath every tensor lies a CPU tensor over the storage's bytes, which no
kernel and no host code reaches except through the checks of this package.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from math import prod
from typing import Any, NoReturn

import numpy as np
import torch
from torch.utils._python_dispatch import _disable_current_modes

from tritonkata.model.tensors import DType
from tritonkata.worker import hostops
from tritonkata.worker.interpreter.access import Running, line_of
from tritonkata.worker.interpreter.memory import (
    Storage,
    elements_of,
    mark_loaded_view,
    mark_view,
)

TORCH_DTYPES: dict[str, torch.dtype] = {
    "float32": torch.float32,
    "float16": torch.float16,
    "bfloat16": torch.bfloat16,
    "int8": torch.int8,
    "uint8": torch.uint8,
    "int16": torch.int16,
    "int32": torch.int32,
    "int64": torch.int64,
    "bool": torch.bool,
}
NAMES: dict[torch.dtype, DType] = {dtype: name for name, dtype in TORCH_DTYPES.items()}  # type: ignore[misc]
_POISON_BYTE = 0xA5
_NAN_PATTERNS: Mapping[int, np.unsignedinteger[Any]] = {
    2: np.uint16(0x7FFF),
    4: np.uint32(0x7FFFFFFF),
    8: np.uint64(0x7FFFFFFFFFFFFFFF),
}


class DeviceTensor(torch.Tensor):
    """A tensor on `cuda:0`, as far as host code can tell."""

    cells: torch.Tensor
    storage_of: Storage
    owner: Running

    @staticmethod
    def __new__(cls, inner: torch.Tensor, storage: Storage, owner: Running) -> DeviceTensor:
        """Wrap `inner`, a CPU tensor over the bytes of `storage`."""
        tensor: DeviceTensor = torch.Tensor._make_wrapper_subclass(
            cls,
            inner.size(),
            strides=inner.stride(),
            storage_offset=inner.storage_offset(),
            dtype=inner.dtype,
            device=torch.device("cuda", 0),
        )
        tensor.cells, tensor.storage_of, tensor.owner = inner, storage, owner
        return tensor

    def __repr__(self, **_: Any) -> str:  # type: ignore[override]
        return f"tensor(..., device='cuda:0', size={tuple(self.shape)}, dtype={self.dtype})"

    __str__ = __repr__

    def __format__(self, spec: str) -> str:
        return format(repr(self), spec)

    def __len__(self) -> int:
        if not self.dim():
            raise TypeError("len() of a 0-d tensor")
        return int(self.shape[0])

    def __iter__(self) -> Iterator[DeviceTensor]:
        return (self[i] for i in range(len(self)))

    def __getitem__(self, index: Any) -> DeviceTensor:
        # torch's own indexing takes a device guard before any dispatch, which a CPU build does not have.
        if not _is_plain_index(index):
            raise refused(self.owner, hostops.refuse("Tensor.__getitem__"))
        with _disable_current_modes():
            inner = self.cells[index]
        return DeviceTensor(inner, self.storage_of, self.owner)

    def __setitem__(self, index: Any, value: Any) -> None:
        target = self[index]
        if isinstance(value, torch.Tensor):
            target.copy_(value)
        else:
            target.fill_(value)

    def contiguous(self, memory_format: torch.memory_format = torch.contiguous_format) -> DeviceTensor:
        """This tensor, or a dense copy of it (counted as traffic)."""
        if memory_format is not torch.contiguous_format:
            raise refused(self.owner, hostops.refuse("Tensor.contiguous", "Call contiguous() without a memory format."))
        return self if self.is_contiguous() else copy_of(self, "contiguous")

    def cuda(self, device: Any = 0, *_more: Any, **_options: Any) -> DeviceTensor:
        """This tensor, which is on the device; torch would ask a CUDA that a CPU build does not have."""
        moved: DeviceTensor = self.to(device)
        return moved

    def to(self, *arguments: Any, **options: Any) -> Any:
        """This tensor, where nothing but the device is named; else as torch has it, which refuses."""
        given = (*arguments, *options.values())
        if len(given) == 1 and _is_here(given[0]):
            return self
        if any(map(_is_here, given)):
            raise refused(self.owner, hostops.refuse("Tensor.to"))
        return super().to(*arguments, **options)

    def copy_(self, source: Any, non_blocking: bool = False) -> DeviceTensor:
        """Copy `source`, of the same dtype, into this tensor (counted as traffic)."""
        del non_blocking
        if not isinstance(source, DeviceTensor) or source.dtype != self.dtype:
            raise refused(self.owner, hostops.refuse("Tensor.copy_"))
        with _disable_current_modes():
            _copy_into(self, source)
        return self

    def data_ptr(self) -> int:
        """The made-up address of the first element; 0 for an empty tensor, as torch has it."""
        if not self.numel():
            return 0
        return self.storage_of.address + int(self.storage_offset()) * self.element_size()

    def new_empty(self, *size: Any, **options: Any) -> torch.Tensor:
        """As torch's; allocated through torch.empty, since this one too takes a device guard first."""
        return torch.empty(_extents(size), **self._like(options))

    def new_zeros(self, *size: Any, **options: Any) -> torch.Tensor:
        """As torch's."""
        return torch.zeros(_extents(size), **self._like(options))

    def new_ones(self, *size: Any, **options: Any) -> torch.Tensor:
        """As torch's."""
        return torch.ones(_extents(size), **self._like(options))

    def new_full(self, size: Any, fill_value: Any, **options: Any) -> torch.Tensor:
        """As torch's."""
        return torch.full(_extents((size,)), fill_value, **self._like(options))

    def _like(self, options: dict[str, Any]) -> dict[str, Any]:
        return {"dtype": options.get("dtype") or self.dtype, "device": options.get("device") or self.device}

    @classmethod
    def __torch_function__(
        cls, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        """Run `func` as torch would, without wrapping its result again."""
        del types
        method = _OWN_METHODS.get(func)
        if method is not None and args and isinstance(args[0], DeviceTensor):
            return method(*args, **(kwargs or {}))
        with torch._C.DisableTorchFunctionSubclass():
            return func(*args, **(kwargs or {}))

    @classmethod
    def __torch_dispatch__(  # type: ignore[override]
        cls, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        """Reached only outside of host code's modes, which judge every operation: from another thread."""
        del types, args, kwargs
        raise RuntimeError(f"{func} was called in another thread; host code must stay in the one it was called in")


def _extents(size: tuple[Any, ...]) -> tuple[int, ...]:
    return tuple(size[0]) if len(size) == 1 and isinstance(size[0], tuple | list) else size


def _refusing(name: str) -> Callable[..., NoReturn]:
    def method(self: DeviceTensor, *_: Any, **__: Any) -> NoReturn:
        raise refused(self.owner, hostops.refuse(f"Tensor.{name}"))

    method.__name__ = name
    return method


# Some of these would fail in C++ before any dispatch, and with a message about torch's build.
_REFUSED_METHODS = (
    *("item", "tolist", "numpy", "cpu", "__array__", "__dlpack__", "__bool__", "__float__", "__int__", "__index__"),
    *("__complex__", "__contains__", "storage", "untyped_storage"),
)
for _name in _REFUSED_METHODS:
    setattr(DeviceTensor, _name, _refusing(_name))

_OWN_METHODS: dict[Any, Callable[..., Any]] = {
    getattr(torch.Tensor, name): getattr(DeviceTensor, name)
    for name in (
        *_REFUSED_METHODS,
        *("__getitem__", "__setitem__", "__repr__", "contiguous", "copy_", "data_ptr"),
        *("new_empty", "new_zeros", "new_ones", "new_full"),
    )
}


def refused(running: Running, error: hostops.HostOpRefused) -> hostops.HostOpRefused:
    """`error`, kept as the case's first fault in case the submission catches it."""
    if running.refused is None:
        running.refused = error
    return error


def new_tensor(
    running: Running, operation: str, dtype: torch.dtype, shape: tuple[int, ...], strides: tuple[int, ...]
) -> DeviceTensor:
    """A fresh tensor full of poison: NaN for floating-point types, 0xA5 bytes for the others."""
    if dtype not in NAMES:
        advice = "Use float32, float16, bfloat16 or an integer type."
        raise refused(running, hostops.refuse(f"a tensor of {dtype}", advice))
    itemsize = dtype.itemsize
    reach = sum((n - 1) * s for n, s in zip(shape, strides, strict=True)) + 1 if prod(shape) else 0
    name = running.memory.allocation_name(operation)
    storage = running.memory.allocate(name, NAMES[dtype], itemsize, reach, shape, strides)
    storage.line = line_of(running)
    if dtype.is_floating_point:
        pattern = _NAN_PATTERNS[itemsize]
        storage.bytes.view(pattern.dtype)[...] = pattern
    else:
        storage.bytes[...] = _POISON_BYTE
    return tensor_over(running, storage, dtype, shape, strides, 0)


def tensor_over(
    running: Running, storage: Storage, dtype: torch.dtype, shape: Sequence[int], strides: Sequence[int], offset: int
) -> DeviceTensor:
    """The tensor with this geometry (in elements) over the bytes of `storage`."""
    with _disable_current_modes():
        if storage.nbytes:
            flat = torch.frombuffer(storage.bytes.data, dtype=torch.uint8).view(dtype)
            inner = torch.as_strided(flat, shape, strides, offset)
        else:
            inner = torch.empty_strided(shape, strides, dtype=dtype)
        return DeviceTensor(inner, storage, running)


def geometry(tensor: DeviceTensor) -> tuple[tuple[int, ...], tuple[int, ...], int]:
    """Shape, strides and offset, in elements."""
    return tuple(tensor.cells.size()), tuple(tensor.cells.stride()), int(tensor.cells.storage_offset())


def mark_stored(tensor: DeviceTensor) -> None:
    """Count a store to every element of `tensor`."""
    mark_view(tensor.storage_of, *geometry(tensor))


def copy_of(source: DeviceTensor, operation: str) -> DeviceTensor:
    """A dense copy of `source`, named after `operation` and counted as traffic."""
    shape = tuple(source.cells.size())
    with _disable_current_modes():
        strides = tuple(torch.empty(shape, dtype=torch.int8).stride())
        target = new_tensor(source.owner, operation, source.dtype, shape, strides)
        _copy_into(target, source)
    return target


def _copy_into(target: DeviceTensor, source: DeviceTensor) -> None:
    """Copy values and count both sides. What nobody wrote in the source stays unwritten in the target."""
    shape = target.cells.size()
    target.cells.copy_(source.cells)
    expanded = DeviceTensor(source.cells.expand(shape), source.storage_of, source.owner)
    mark_loaded_view(source.storage_of, *geometry(expanded))
    mark_stored(target)
    if not source.storage_of.is_input and source.storage_of is not target.storage_of:
        known = elements_of(source.storage_of.stores(), *geometry(expanded))
        elements_of(target.storage_of.stores(), *geometry(target))[...] = known


def _is_here(device: Any) -> bool:
    return str(device) in ("cuda", "cuda:0") or device is None or (type(device) is int and device == 0)


def _is_plain_index(index: Any) -> bool:
    # A bool is an int to Python, but indexing with one makes a copy.
    parts = index if isinstance(index, tuple) else (index,)
    return all(
        part is None or part is Ellipsis or (isinstance(part, int | slice) and not isinstance(part, bool))
        for part in parts
    )
