"""What host code may ask of the card, answered without one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import torch

from tritonkata.boundary.messages import DeviceFigures
from tritonkata.worker import hostops

_THREADS_PER_BLOCK = 1024
_STATIC_SHARED_BYTES = 49152
_RESERVED_SHARED_BYTES = 1024
_SILENT = (
    *("init", "_lazy_init", "set_device", "synchronize", "empty_cache", "reset_peak_memory_stats"),
    *("manual_seed", "manual_seed_all"),
)


@dataclass(frozen=True)
class DeviceProperties:
    """The attributes of `torch.cuda.get_device_properties()`, in torch's names. Sizes in bytes, rates in kHz."""

    name: str
    major: int
    minor: int
    total_memory: int
    multi_processor_count: int
    warp_size: int
    L2_cache_size: int
    max_threads_per_multi_processor: int
    regs_per_multiprocessor: int
    shared_memory_per_block: int
    shared_memory_per_block_optin: int
    shared_memory_per_multiprocessor: int
    clock_rate: int
    memory_clock_rate: int
    memory_bus_width: int
    max_threads_per_block: int = _THREADS_PER_BLOCK
    is_integrated: bool = False
    is_multi_gpu_board: bool = False
    gcnArchName: str = ""  # noqa: N815 - torch's name


def torch_properties(figures: DeviceFigures) -> DeviceProperties:
    """The figures as torch words them."""
    return DeviceProperties(
        name=figures.name,
        major=figures.capability[0],
        minor=figures.capability[1],
        total_memory=figures.total_memory,
        multi_processor_count=figures.multiprocessors,
        warp_size=figures.warp_size,
        L2_cache_size=figures.l2_bytes,
        max_threads_per_multi_processor=figures.max_threads_per_multiprocessor,
        regs_per_multiprocessor=figures.max_registers,
        shared_memory_per_block=_STATIC_SHARED_BYTES,
        shared_memory_per_block_optin=figures.max_shared_bytes,
        shared_memory_per_multiprocessor=figures.max_shared_bytes + _RESERVED_SHARED_BYTES,
        clock_rate=figures.clock_khz,
        memory_clock_rate=figures.memory_clock_khz,
        memory_bus_width=figures.memory_bus_bits,
    )


def triton_properties(figures: DeviceFigures, max_shared_bytes: int) -> dict[str, int]:
    """The figures as Triton's `driver.active.utils.get_device_properties` words them."""
    return {
        "max_shared_mem": max_shared_bytes,
        "max_num_regs": figures.max_registers,
        "multiprocessor_count": figures.multiprocessors,
        "warpSize": figures.warp_size,
        "sm_clock_rate": figures.clock_khz,
        "mem_clock_rate": figures.memory_clock_khz,
        "mem_bus_width": figures.memory_bus_bits,
    }


class Stream:
    """The one stream. Work on it is recorded in order, so there is nothing to wait for."""

    cuda_stream = 0
    device = torch.device("cuda", 0)

    def synchronize(self) -> None:
        """Nothing runs here."""

    def wait_stream(self, _stream: Any) -> None:
        """Nothing runs here."""

    def query(self) -> bool:
        """Whether all work is done."""
        return True


def _nothing(*_args: Any, **_kwargs: Any) -> None:
    return None


def _answers(figures: DeviceFigures) -> dict[str, Callable[..., Any]]:
    properties = torch_properties(figures)
    stream = Stream()
    return {
        "is_available": lambda: True,
        "is_initialized": lambda: True,
        "is_bf16_supported": lambda *_args, **_kwargs: True,
        "device_count": lambda: 1,
        "current_device": lambda: 0,
        "get_device_properties": lambda *_args, **_kwargs: properties,
        "get_device_capability": lambda *_args, **_kwargs: figures.capability,
        "get_device_name": lambda *_args, **_kwargs: figures.name,
        "current_stream": lambda *_args, **_kwargs: stream,
        "default_stream": lambda *_args, **_kwargs: stream,
        "mem_get_info": lambda *_args, **_kwargs: (figures.total_memory, figures.total_memory),
        "memory_allocated": lambda *_args, **_kwargs: 0,
        "max_memory_allocated": lambda *_args, **_kwargs: 0,
        # A function of its own for each name: torch keeps rules by function object.
        **{name: (lambda *_args, **_kwargs: None) for name in _SILENT},
    }


def install(figures: DeviceFigures) -> None:
    """Make `torch.cuda` answer with `figures`, and `torch.compile` refuse when its result is called."""
    for name, answer in _answers(figures).items():
        setattr(torch.cuda, name, answer)
    for context in (torch.cuda.device, torch.cuda.device_of, torch.cuda.StreamContext):
        context.__enter__ = _nothing  # type: ignore[method-assign]
        context.__exit__ = _nothing  # type: ignore[method-assign]
    torch.cuda.StreamContext.__init__ = _nothing  # type: ignore[method-assign]
    torch.cuda.device_of.__init__ = _nothing  # type: ignore[method-assign]
    torch.compile = _compile
    for name in ("tensor", "as_tensor", "asarray", "scalar_tensor"):
        setattr(torch, name, _without_upload(name, getattr(torch, name)))


def _without_upload(name: str, make: Callable[..., Any]) -> Callable[..., Any]:
    """`torch.tensor` and the like, which bring values of the host to the device before any dispatch."""

    def wrapped(*args: Any, **kwargs: Any) -> Any:
        device = kwargs.get("device")
        if device is not None and torch.device(device).type == "cuda":
            raise hostops.refuse(f"torch.{name}")
        return make(*args, **kwargs)

    return wrapped


def _compile(model: Callable[..., Any] | None = None, **_options: Any) -> Callable[..., Any]:
    """Stands for `torch.compile`: what it decorates can be defined, and is refused when called."""

    def refuse(*_args: Any, **_kwargs: Any) -> Any:
        advice = "Call the function as it is: the kernel is compiled by Triton already."
        raise hostops.refuse("torch.compile", advice)

    return (lambda _model: refuse) if model is None else refuse


def utilities(properties: dict[str, int], load_binary: Callable[..., Any]) -> SimpleNamespace:
    """The `utils` of a Triton driver."""
    return SimpleNamespace(
        load_binary=load_binary,
        unload_module=_nothing,
        get_device_properties=lambda _device=0: dict(properties),
        get_current_device=lambda: 0,
        set_current_device=_nothing,
        get_default_stream=lambda _device=0: 0,
        set_printf_fifo_size=_nothing,
        is_stream_capturing=lambda _stream=0: False,
    )
