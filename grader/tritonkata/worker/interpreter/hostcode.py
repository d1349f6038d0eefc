"""Host code of a submission: every tensor operation is judged, run on the tensors' bytes, and counted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode, _disable_current_modes
from torch.utils._pytree import tree_any, tree_map

from tritonkata.worker import hostops
from tritonkata.worker.interpreter.access import Running
from tritonkata.worker.interpreter.tensors import DeviceTensor, copy_of, mark_stored, new_tensor, refused


class HostMode(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Sees every operation of host code, also those that make tensors out of nothing."""

    def __init__(self, running: Running, written: list[str]) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._running = running
        self._written = written

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        # Otherwise the first operation imports all of torch's compiler, which takes a second.
        return False

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        """Judge and run one dispatched operation."""
        del types
        written = self._written[0] if self._written else ""
        return run_operation(self._running, func, args, dict(kwargs or {}), written)


class NameMode(torch.overrides.TorchFunctionMode):
    """Remembers how the outermost torch call was written, for the message when it is refused."""

    def __init__(self, written: list[str]) -> None:
        super().__init__()
        self._written = written

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        """Run `func` with its public name on record."""
        del types
        self._written.append(hostops.public_name(func))
        try:
            return func(*args, **(kwargs or {}))
        finally:
            self._written.pop()


@contextmanager
def host_code(running: Running) -> Iterator[None]:
    """Run the body as a submission's host code: refusing and counting what it does with tensors."""
    written: list[str] = []
    with NameMode(written), HostMode(running, written):
        yield


def run_operation(running: Running, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any], written: str) -> Any:
    """Run one dispatched operation on the tensors' bytes.

    Raises:
        HostOpRefused: host code may not do this.
    """
    kind = hostops.classify(func)
    if kind == "refused":
        raise refused(running, hostops.refusal(func, written))
    on_device = tree_any(lambda leaf: isinstance(leaf, DeviceTensor), (args, kwargs))
    with _disable_current_modes():
        if kind == "allocate":
            device = kwargs.get("device")
            on_device = on_device if device is None else torch.device(device).type == "cuda"
            return _allocate(running, func, args, kwargs) if on_device else func(*args, **kwargs)
        if not on_device:
            return func(*args, **kwargs)
        if kind == "copy":
            return _copy(running, func, args, written)
        result = func(*_cells(args), **_cells(kwargs))
        if kind == "fill":
            mark_stored(args[0])
            return args[0]
        if kind == "view":
            return _wrap_views(running, func, result, args)
        return result


def _cells(tree: Any) -> Any:
    return tree_map(lambda leaf: leaf.cells if isinstance(leaf, DeviceTensor) else leaf, tree)


def _wrap_views(running: Running, func: Any, result: Any, args: tuple[Any, ...]) -> Any:
    base = next(leaf for leaf in args if isinstance(leaf, DeviceTensor))

    def wrap(leaf: Any) -> Any:
        if not isinstance(leaf, torch.Tensor):
            return leaf
        if leaf.dtype != base.dtype:
            raise refused(running, hostops.refusal(func, "Tensor.view with a dtype"))
        return DeviceTensor(leaf, base.storage_of, base.owner)

    return tree_map(wrap, result)


def _allocate(running: Running, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> DeviceTensor:
    # Done once on the CPU to learn shape, strides and values; on torch's meta device the first such call
    # would import half of its compiler. Memory that nobody touches costs nothing.
    like = func(*_cells(args), **{**_cells(kwargs), "device": "cpu", "pin_memory": False})
    name = hostops.base_name(func)
    tensor = new_tensor(running, name, like.dtype, tuple(like.size()), tuple(like.stride()))
    if "empty" not in name:
        tensor.cells.copy_(like)
        mark_stored(tensor)
    return tensor


def _copy(running: Running, func: Any, args: tuple[Any, ...], written: str) -> DeviceTensor:
    if hostops.base_name(func) == "clone":
        return copy_of(args[0], "clone")
    if not isinstance(args[0], DeviceTensor):
        raise refused(running, hostops.refusal(func, written))
    return args[0].copy_(args[1])
