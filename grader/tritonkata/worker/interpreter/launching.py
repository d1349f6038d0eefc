"""Launches: arguments to scalar blocks, the grid checked, every program run in turn."""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch
import triton.language as tl
from triton.runtime import interpreter
from triton.runtime.autotuner import Autotuner
from triton.runtime.jit import TensorWrapper
from triton.tools.tensor_descriptor import TensorDescriptor

from tritonkata.model.faults import Fault
from tritonkata.worker.grids import checked
from tritonkata.worker.interpreter.access import Running, end_of_launch, load, store, translate_atomic
from tritonkata.worker.interpreter.tensors import DeviceTensor
from tritonkata.worker.launch_mistakes import ALLOCATE_THERE
from tritonkata.worker.loading import SubmissionFault
from tritonkata.worker.wording import kind_of

_INT_POISON = 0xA5A5A5A5A5A5A5A5
# What host code may ask of a compiled kernel. There is none here, so these are ordinary figures.
_REGISTERS, _SHARED_BYTES = 32, 1024

_REFUSED_TYPES = "a kernel takes tensors on the GPU, numbers and constants"


def install(running: Running) -> None:
    """Send launches, loads and stores through `running`. Once, in the process of one case."""
    _install_memory(running)

    def run(self: Any, *args: Any, grid: Any, warmup: bool, **kwargs: Any) -> Any:
        kernel = _CompiledKernel(self, running, kwargs)
        if warmup:
            note = f"nothing is compiled here: n_regs is taken to be {_REGISTERS}, shared memory {_SHARED_BYTES} bytes"
            running.notes = [*{*running.notes, note}]
        else:
            launch(running, self, grid, args, kwargs)
        return kernel

    interpreter.InterpretedFunction.run = run
    Autotuner.run = _run_first_configuration


def launch(running: Running, kernel: Any, grid: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Run every program of one launch.

    Raises:
        SubmissionFault: a bad grid, or an access that may not happen.
        InterpreterError: the kernel raised; the cause is chained.
    """
    function = kernel.rewrite()
    names = set(kernel.arg_names)
    known = {name: value for name, value in kwargs.items() if name in names}
    for hook in kernel.pre_run_hooks:
        hook(*args, **known)
    bound = inspect.getcallargs(kernel.fn, *args, **known)
    judged = checked(grid)
    shape = judged({**kwargs, **bound}) if callable(judged) else judged
    constants = _constants(kernel.fn)
    values = {name: value if name in constants else _argument(name, value) for name, value in bound.items()}
    running.kernel, running.grid = kernel.fn.__name__, shape
    running.launches += 1
    running.first_of_launch = running.serial + 1
    with np.errstate(all="ignore"):
        run_programs(running, function, values)
    end_of_launch(running)


def run_programs(running: Running, function: Callable[..., Any], values: dict[str, Any]) -> None:
    """Run the kernel once for each program of the grid. What is called from here runs in the kernel."""
    builder = interpreter.interpreter_builder
    builder.set_grid_dim(*running.grid)
    for x, y, z in itertools.product(*map(range, running.grid)):
        running.serial += 1
        running.program = program = (x, y, z)
        builder.set_grid_idx(*program)
        function(**values)


def _constants(function: Any) -> set[str]:
    """Names of the parameters annotated as `tl.constexpr`, under whatever alias."""
    annotations = inspect.get_annotations(function)
    return {name for name, annotation in annotations.items() if _is_constexpr(annotation, function.__globals__)}


def _is_constexpr(annotation: Any, scope: dict[str, Any]) -> bool:
    if not isinstance(annotation, str):
        return annotation is tl.constexpr
    try:
        return eval(annotation, scope) is tl.constexpr
    except Exception:  # a name that does not exist in this scope: the last part tells
        return annotation.rpartition(".")[2] == "constexpr"


def _argument(name: str, value: Any) -> Any:
    if isinstance(value, TensorWrapper):
        value = value.base if value.base.dtype == value.dtype else value
    if isinstance(value, torch.Tensor) and not isinstance(value, DeviceTensor):
        message = f"the argument {name} is a tensor on the CPU, and no tensor on the device"
        raise SubmissionFault(Fault("runtime_error", "host", message, advice=ALLOCATE_THERE))
    if isinstance(value, TensorDescriptor | DeviceTensor | bool | int | tuple):
        return _scalar_bool(value) if isinstance(value, bool) else interpreter._implicit_cvt(value)
    if isinstance(value, float):
        # Compiled kernels get a float argument as fp32, not as Python's 64 bits.
        return tl.tensor(interpreter.TensorHandle(np.array([value], np.float32), tl.float32), tl.float32)
    if value is None or isinstance(value, tl.constexpr | tl.dtype | str) or callable(value):
        return value
    raise TypeError(f"the argument {name} is {kind_of(value)}, and {_REFUSED_TYPES}")


def _scalar_bool(value: bool) -> Any:
    return tl.tensor(interpreter.TensorHandle(np.array([value], np.bool_), tl.int1), tl.int1)


def _run_first_configuration(self: Any, *args: Any, **kwargs: Any) -> Any:
    """Replaces `Autotuner.run`: no clock here says anything of a GPU, so nothing is benchmarked."""
    self.nargs = dict(zip(self.arg_names, args, strict=False))
    config = self.prune_configs(kwargs)[0]
    self.best_config = config
    full = {**self.nargs, **kwargs, **config.all_kwargs()}
    if config.pre_hook is not None:
        config.pre_hook(full)
    if len(self.configs) > 1:
        self.pre_hook(full, reset_only=True)
    try:
        return self.fn.run(*args, **kwargs, **config.all_kwargs())
    finally:
        self.nargs = None


class _CompiledKernel:
    """What a launch or `warmup` returns: figures, and a way to launch again."""

    def __init__(self, kernel: Any, running: Running, kwargs: dict[str, Any]) -> None:
        self._kernel, self._running, self._kwargs = kernel, running, kwargs
        self.n_regs, self.n_spills = _REGISTERS, 0
        warps = kwargs.get("num_warps", 4)
        self.metadata = SimpleNamespace(
            name=kernel.fn.__name__, shared=_SHARED_BYTES, num_warps=warps, num_stages=3, num_ctas=1
        )
        self.asm: dict[str, str] = {}

    def _init_handles(self) -> None:
        """Nothing to load."""

    def __getitem__(self, grid: Any) -> Callable[..., None]:
        def run(*args: Any, **kwargs: Any) -> None:
            free = dict(itertools.islice(((n, None) for n in self._kernel.arg_names), len(args)))
            known = {name: value for name, value in self._kwargs.items() if name not in free}
            launch(self._running, self._kernel, grid, args, {**known, **kwargs})

        return run


def _install_memory(running: Running) -> None:
    builder = interpreter.InterpreterBuilder
    builder.create_load = lambda _self, ptrs, *_, **__: _load(running, ptrs, None, None)
    builder.create_store = lambda _self, ptrs, value, *_, **__: _store(running, ptrs, value, None)
    builder.create_masked_load = lambda _self, ptrs, mask, other, *_, **__: _load(running, ptrs, mask, other)
    builder.create_masked_store = lambda _self, ptrs, value, mask, *_, **__: _store(running, ptrs, value, mask)
    builder.create_atomic_rmw = _atomic_rmw(running, builder.create_atomic_rmw)
    builder.create_atomic_cas = _atomic_cas(running, builder.create_atomic_cas)


def _data(handle: Any) -> Any:
    # Some releases pass the mask of a block pointer or descriptor as a bare array.
    return handle.data if isinstance(handle, interpreter.TensorHandle) else handle


def _load(running: Running, ptrs: Any, mask: Any, other: Any) -> Any:
    element = ptrs.get_element_ty()
    dtype = interpreter._get_np_dtype(element)
    # Without `other` the hardware leaves anything in a lane that is off; a value nobody misses is the kindest.
    fill = _poison(element, dtype) if other is None else _data(other)
    values = load(running, ptrs.data, None if mask is None else _data(mask), fill, dtype)
    return interpreter.TensorHandle(values, element)


def _store(running: Running, ptrs: Any, value: Any, mask: Any) -> None:
    dtype = interpreter._get_np_dtype(ptrs.get_element_ty())
    data = _data(value)
    data = data if data.dtype == dtype else data.astype(dtype)
    store(running, ptrs.data, data, None if mask is None else _data(mask))


def _poison(element: Any, dtype: np.dtype[Any]) -> Any:
    if element == tl.bfloat16:
        return np.array(0x7FC0, dtype)
    if dtype.kind == "f":
        return np.array(np.nan, dtype)
    if dtype.kind == "b":
        return np.array(True)
    return np.array(_INT_POISON, np.uint64).astype(dtype)


def _atomic_rmw(running: Running, method: Callable[..., Any]) -> Callable[..., Any]:
    def create_atomic_rmw(self: Any, operation: Any, ptr: Any, val: Any, mask: Any, *rest: Any) -> Any:
        return method(self, operation, _translated(running, ptr, mask), val, mask, *rest)

    return create_atomic_rmw


def _atomic_cas(running: Running, method: Callable[..., Any]) -> Callable[..., Any]:
    def create_atomic_cas(self: Any, ptr: Any, *rest: Any) -> Any:
        return method(self, _translated(running, ptr, None), *rest)

    return create_atomic_cas


def _translated(running: Running, ptr: Any, mask: Any) -> Any:
    element = ptr.get_element_ty()
    if element == tl.bfloat16:
        message = "the interpreter cannot add bfloat16 atomically; this is a limit of the interpreter, not a mistake"
        raise SubmissionFault(Fault("skipped", "kernel", message, operation="tl.atomic_add", advice="Use float32."))
    itemsize = interpreter._get_np_dtype(element).itemsize
    real = translate_atomic(running, ptr.data, None if mask is None else _data(mask), itemsize)
    return interpreter.TensorHandle(real, ptr.dtype)
