"""Tensors without values: a shape, strides and a synthetic address on a device that is not there.

A stand-in is a wrapper subclass of `torch.Tensor` with device `cuda:0`. Its
geometry lives in a tensor on torch's `meta` device, so torch itself computes
what a view looks like, and two views of one storage share that storage. Host
operations arrive in `__torch_dispatch__` and become steps of the recording.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, ClassVar, NoReturn

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_flatten, tree_map_only

from tritonkata.model.plan import Copy, Fill, View
from tritonkata.model.tensors import ITEMSIZE, TensorSpec
from tritonkata.worker import hostops
from tritonkata.worker.hostops import HostOpRefused
from tritonkata.worker.tracer.recording import Memory, Storage

DEVICE = torch.device("cuda", 0)
DTYPES: dict[str, torch.dtype] = {name: getattr(torch, name) for name in ITEMSIZE}
_NAMES = {dtype: name for name, dtype in DTYPES.items()}


class ArgumentError(ValueError):
    """Arguments of a host operation that torch would not accept either."""


class StandIn(torch.Tensor):
    """A tensor of the traced call. `meta` holds its geometry, `home` the storage that it views."""

    memory: ClassVar[Memory]
    written: ClassVar[str] = ""
    meta: torch.Tensor
    home: Storage

    @staticmethod
    def __new__(cls, meta: torch.Tensor, home: Storage) -> StandIn:
        """A tensor of the geometry of `meta` on the storage `home`."""
        made: StandIn = torch.Tensor._make_wrapper_subclass(
            cls,
            meta.shape,
            strides=meta.stride(),
            storage_offset=meta.storage_offset(),
            dtype=meta.dtype,
            device=DEVICE,
        )
        made.meta = meta
        made.home = home
        return made

    @classmethod
    def __torch_function__(
        cls, func: Callable[..., Any], types: Iterable[type], args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        """Remember what the learner wrote, for the refusal, and let torch dispatch it."""
        outer, StandIn.written = StandIn.written, StandIn.written or hostops.public_name(func)
        try:
            with torch._C.DisableTorchFunctionSubclass():
                return func(*args, **(kwargs or {}))
        finally:
            StandIn.written = outer

    @classmethod
    def __torch_dispatch__(  # type: ignore[override]  # torch's stub lacks func
        cls, func: Any, types: Iterable[type], args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        """One host operation that involves a stand-in."""
        return perform(func, args, kwargs or {})

    # torch answers the following in C++, through a device that is not there, before any dispatch.

    def __getitem__(self, index: Any) -> StandIn:
        """A view by numbers, slices, None and `...`."""
        for part in index if isinstance(index, tuple) else (index,):
            if isinstance(part, bool) or not (part is None or part is ... or isinstance(part, (int, slice))):
                raise hostops.refuse("Tensor.__getitem__")
        return StandIn(_on_meta(torch.Tensor.__getitem__, self.meta, index), self.home)

    def __setitem__(self, index: Any, value: Any) -> None:
        """A recorded fill or copy of a view."""
        target = self[index]
        if isinstance(value, (int, float)):
            _fill(target, value)
        elif isinstance(value, StandIn):
            _copy_into(target, value, "Tensor.__setitem__")
        else:
            raise hostops.refuse("Tensor.__setitem__")

    def contiguous(self, memory_format: torch.memory_format = torch.contiguous_format) -> StandIn:
        """Itself if it is dense, otherwise a recorded copy."""
        return self if self.meta.is_contiguous(memory_format=memory_format) else _clone(self, memory_format)

    def copy_(self, source: torch.Tensor, non_blocking: bool = False) -> StandIn:  # noqa: ARG002 - torch's signature
        """A recorded copy."""
        return _copy_into(self, source, "Tensor.copy_")

    def __deepcopy__(self, _memo: Any) -> NoReturn:
        raise hostops.refuse("copy.deepcopy of a tensor", "Use clone().")

    def data_ptr(self) -> int:
        """The synthetic address of the first element."""
        return self.home.address + int(self.meta.storage_offset()) * self.meta.element_size()

    def ptr_range(self) -> int:
        """Bytes of the storage: AMD's backend picks its addressing by them."""
        return self.home.nbytes

    def __repr__(self, *_args: Any, **_kwargs: Any) -> str:  # type: ignore[override]
        shape, strides = tuple(self.meta.shape), self.meta.stride()
        return f"tensor(shape={shape}, strides={strides}, dtype={self.meta.dtype}, device='cuda:0', values unknown)"

    def __format__(self, _spec: str) -> str:
        return repr(self)

    def __len__(self) -> int:
        if self.meta.dim() == 0:
            raise TypeError("len() of a 0-d tensor")
        return int(self.meta.shape[0])

    @property
    def __cuda_array_interface__(self) -> NoReturn:
        raise hostops.refuse("Tensor.__cuda_array_interface__")


def _indexed(value: Any) -> Any:
    """A device without an index as the one device; anything else as it is."""
    if isinstance(value, (str, torch.device)):
        device = torch.device(value)
        return DEVICE if device.type == "cuda" and device.index is None else device
    return value


def _refusing(name: str) -> Callable[..., NoReturn]:
    def method(*_args: Any, **_kwargs: Any) -> NoReturn:
        raise hostops.refuse(f"Tensor.{name}")

    method.__name__ = name
    return method


for _name in (
    *("item", "tolist", "numpy", "cpu", "__array__", "__dlpack__", "__bool__", "__float__", "__int__"),
    *("__index__", "__complex__", "__contains__", "storage"),
):
    setattr(StandIn, _name, _refusing(_name))


def _to(tensor: torch.Tensor, *args: Any, **kwargs: Any) -> Any:
    """`Tensor.to`, where "cuda" means the one device: torch would ask the driver which."""
    return _torch_to(tensor, *map(_indexed, args), **{name: _indexed(value) for name, value in kwargs.items()})


def _cuda(tensor: torch.Tensor, *_args: Any, **_kwargs: Any) -> Any:
    """`Tensor.cuda`: a stand-in is there already, a CPU tensor is refused."""
    return tensor if isinstance(tensor, StandIn) else _torch_to(tensor, DEVICE)


_torch_to = torch.Tensor.to


def install(memory: Memory) -> None:
    """Let stand-ins live in `memory`, and torch's two ways to a device lead to the one that is not there."""
    StandIn.memory = memory
    for function, name in ((_to, "to"), (_cuda, "cuda")):
        function.__name__, function.__qualname__ = name, f"Tensor.{name}"  # what a refusal shows
    torch.Tensor.to = _to  # type: ignore[method-assign, assignment]
    torch.Tensor.cuda = _cuda  # type: ignore[method-assign, assignment]


class HostMode(TorchDispatchMode):  # type: ignore[no-untyped-call]  # torch's has no types
    """Catches what no stand-in is part of: `torch.empty(..., device="cuda")` and the like."""

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        """Nothing is compiled by torch here, and shielding the mode from it would import all of its compiler."""
        return False

    def __torch_dispatch__(
        self, func: Any, types: Iterable[type], args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        """One host operation; those on CPU tensors alone are torch's own business."""
        kwargs = kwargs or {}
        values = tree_flatten((args, kwargs))[0]
        device = kwargs.get("device")
        on_device = device is not None and torch.device(device).type == "cuda"
        if on_device or any(isinstance(value, StandIn) for value in values):
            return perform(func, args, kwargs)
        return func(*args, **kwargs)


def perform(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Carry out one dispatched operation, or refuse it by the name that the learner wrote."""
    kind = hostops.classify(func)
    if kind == "view":
        return _view(func, args, kwargs)
    if kind == "allocate":
        return _allocate(func, args, kwargs)
    if kind == "fill" and not (len(args) > 1 and isinstance(args[1], torch.Tensor)):
        return _fill(args[0], args[1] if len(args) > 1 else 0)
    if kind == "copy" and isinstance(args[0], StandIn):
        return _copy(func, args, kwargs)
    if kind == "query":
        return _on_meta(func, *_metas(args), **_metas(kwargs))
    if hostops.base_name(func) == "_to_copy" and _same_kind(args[0], kwargs):
        return _clone(args[0], kwargs.get("memory_format") or torch.preserve_format)
    if hostops.base_name(func) == "_to_copy":
        _refuse_move(args[0], kwargs)
    raise hostops.refusal(func, StandIn.written)


def stand_in(memory: Memory, spec: TensorSpec, name: str) -> StandIn:
    """An input tensor of the geometry `spec`, on a fresh storage."""
    elements = max(spec.storage_elements, spec.span)
    dense = torch.empty(elements, dtype=DTYPES[spec.dtype], device="meta")
    meta = dense.as_strided(spec.shape, spec.strides, spec.offset)
    return StandIn(meta, memory.allocate(elements * spec.itemsize, "input", name))


def view_of(tensor: StandIn, operation: str) -> View:
    """The plan's view of a stand-in.

    Raises:
        HostOpRefused: a dtype that plans do not know.
    """
    meta = tensor.meta
    dtype = _NAMES.get(meta.dtype)
    if dtype is None:
        raise HostOpRefused(f"{operation} of {meta.dtype}", f"Use one of {', '.join(ITEMSIZE)}.")
    spec = TensorSpec(
        dtype=dtype,  # type: ignore[arg-type]  # a key of the same table
        shape=tuple(meta.shape),
        strides=meta.stride(),
        # torch gives the second half of nothing an offset beyond the end of nothing.
        offset=int(meta.storage_offset()) if meta.numel() else 0,
        storage_elements=tensor.home.nbytes // meta.element_size(),
    )
    return View(StandIn.memory.current().buffer_of(tensor.home), spec)


def _on_meta(func: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Let torch work out the geometry. What it raises here is about the learner's arguments."""
    with torch._C.DisableTorchFunctionSubclass():
        return func(*args, **kwargs)


def _metas(tree: Any) -> Any:
    return tree_map_only(StandIn, lambda tensor: tensor.meta, tree)


def _view(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    source = args[0]
    result = _on_meta(func, *_metas(args), **_metas(kwargs))
    if not isinstance(source, StandIn):
        raise hostops.refusal(func, StandIn.written)
    if isinstance(result, torch.Tensor):
        return _within(result, source.home)
    return type(result)(_within(part, source.home) for part in result)


def _within(meta: torch.Tensor, home: Storage) -> StandIn:
    """A view, which `as_strided` could have laid outside its storage."""
    reach = sum((extent - 1) * stride for extent, stride in zip(meta.shape, meta.stride(), strict=True))
    end = (int(meta.storage_offset()) + reach + 1) * meta.element_size()
    if meta.numel() and end > home.nbytes:
        raise ArgumentError(f"the view needs a storage of {end} bytes, and the tensor has {home.nbytes}")
    return StandIn(meta, home)


def _allocate(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    device = kwargs.get("device")
    if not _on_device(device):
        return _on_meta(func, *_metas(args), **_metas(kwargs))
    if kwargs.get("layout") not in (None, torch.strided):
        raise hostops.refuse("a sparse tensor")
    meta_kwargs = {**_metas(kwargs), "device": torch.device("meta"), "pin_memory": None}
    meta = _on_meta(func, *_metas(args), **meta_kwargs)
    made = _fresh(meta)
    name = hostops.base_name(func)
    if "empty" not in name:
        value = 0 if "zeros" in name else 1 if "ones" in name else kwargs.get("fill_value", args[-1])
        _fill(made, value)
    return made


def _fresh(meta: torch.Tensor) -> StandIn:
    """A stand-in on a storage of its own with the geometry of `meta`, a dense tensor."""
    return StandIn(meta, StandIn.memory.allocate(meta.untyped_storage().nbytes(), "allocation"))


def _fill(target: StandIn, value: Any) -> StandIn:
    if not isinstance(value, (bool, int, float)):
        raise hostops.refuse(f"filling with a {type(value).__name__}", "Fill with a number.")
    StandIn.memory.current().add_step(Fill(view_of(target, "filling a tensor"), value))
    return target


def _copy(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> StandIn:
    if hostops.base_name(func) == "clone":
        return _clone(args[0], kwargs.get("memory_format") or torch.preserve_format)
    return _copy_into(args[0], args[1], StandIn.written or "Tensor.copy_")


def _clone(source: StandIn, memory_format: torch.memory_format) -> StandIn:
    meta = _on_meta(torch.ops.aten.clone.default, source.meta, memory_format=memory_format)
    return _copy_into(_fresh(meta), source, "Tensor.clone")


def _copy_into(target: StandIn, source: Any, operation: str) -> StandIn:
    if not isinstance(source, StandIn):
        raise hostops.refuse(operation, "Copy between tensors of the device; host code has no values to write.")
    if source.meta.dtype != target.meta.dtype:
        raise hostops.refuse(f"{operation} between dtypes", hostops.refuse("Tensor.to").advice)
    wide = StandIn(_on_meta(torch.Tensor.expand, source.meta, target.meta.shape), source.home)
    StandIn.memory.current().add_step(Copy(view_of(wide, operation), view_of(target, operation)))
    return target


def _refuse_move(source: Any, kwargs: dict[str, Any]) -> None:
    """Name a move between devices as such; what is left is a cast."""
    if not isinstance(source, StandIn):
        raise hostops.refuse("a tensor brought from the CPU", hostops.refuse("torch.tensor").advice)
    if not _on_device(kwargs.get("device")):
        raise hostops.refuse(StandIn.written or "Tensor.to", hostops.refuse("Tensor.cpu").advice)


def _on_device(device: Any) -> bool:
    """Whether a `device` argument leaves a stand-in where it is."""
    return device is None or torch.device(device).type == "cuda"


def _same_kind(source: Any, kwargs: dict[str, Any]) -> bool:
    """Whether `.to(..., copy=True)` changes neither dtype nor device."""
    same_dtype = isinstance(source, StandIn) and kwargs.get("dtype") in (None, source.meta.dtype)
    return same_dtype and _on_device(kwargs.get("device"))
