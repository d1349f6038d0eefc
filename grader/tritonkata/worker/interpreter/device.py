"""What host code may ask of the card, answered with figures instead of a driver."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import torch
import triton
from triton.backends.compiler import GPUTarget

from tritonkata.boundary.messages import DeviceFigures


class StandInDriver:
    """The part of Triton's driver interface that host code of a kernel uses."""

    def __init__(self, figures: DeviceFigures) -> None:
        self._figures = figures
        self.utils = SimpleNamespace(get_device_properties=self._properties)

    def _properties(self, device: int = 0) -> dict[str, int]:
        del device
        return {
            "max_shared_mem": self._figures.max_shared_bytes,
            "max_num_regs": self._figures.max_registers,
            "multiprocessor_count": self._figures.multiprocessors,
            "warpSize": self._figures.warp_size,
            "sm_clock_rate": self._figures.clock_khz,
            "mem_clock_rate": self._figures.memory_clock_khz,
            "mem_bus_width": self._figures.memory_bus_bits,
        }

    def get_current_target(self) -> GPUTarget:
        """The card's architecture."""
        major, minor = self._figures.capability
        return GPUTarget("cuda", major * 10 + minor, self._figures.warp_size)

    def get_current_device(self) -> int:
        """Always the first device."""
        return 0

    def set_current_device(self, device: int) -> None:
        """Nothing to switch."""

    def get_current_stream(self, device: int = 0) -> int:
        """The default stream."""
        del device
        return 0

    def get_active_torch_device(self) -> torch.device:
        """Where tensors live."""
        return torch.device("cuda", 0)

    def get_device_interface(self) -> Any:
        """Torch's module for the device."""
        return torch.cuda


class _DeviceContext:
    """`with torch.cuda.device(...)`: there is one device."""

    def __init__(self, device: Any = None) -> None:
        del device

    def __enter__(self) -> None:
        return None

    def __exit__(self, *_: object) -> None:
        return None


def _device_properties(figures: DeviceFigures) -> SimpleNamespace:
    major, minor = figures.capability
    return SimpleNamespace(
        name=figures.name,
        major=major,
        minor=minor,
        total_memory=figures.total_memory,
        multi_processor_count=figures.multiprocessors,
        is_integrated=0,
        is_multi_gpu_board=0,
        max_threads_per_multi_processor=figures.max_threads_per_multiprocessor,
        warp_size=figures.warp_size,
        regs_per_multiprocessor=figures.max_registers,
        L2_cache_size=figures.l2_bytes,
        shared_memory_per_block=48 << 10,
        shared_memory_per_block_optin=figures.max_shared_bytes,
        shared_memory_per_multiprocessor=figures.max_shared_bytes + 1024,
        clock_rate=figures.clock_khz,
        memory_clock_rate=figures.memory_clock_khz,
        memory_bus_width=figures.memory_bus_bits,
    )


def answer_device_questions(figures: DeviceFigures) -> None:
    """Make `torch.cuda` and Triton's driver tell of the card that `figures` describe."""
    triton.runtime.driver.set_active(StandInDriver(figures))
    properties = _device_properties(figures)
    stream = SimpleNamespace(cuda_stream=0, device=torch.device("cuda", 0), synchronize=lambda: None)
    answers: dict[str, Any] = {
        "_lazy_init": lambda: None,
        "is_available": lambda: True,
        "is_initialized": lambda: True,
        "device_count": lambda: 1,
        "current_device": lambda: 0,
        "set_device": lambda _device: None,
        "synchronize": lambda _device=None: None,
        "get_device_properties": lambda _device=None: properties,
        "get_device_capability": lambda _device=None: figures.capability,
        "get_device_name": lambda _device=None: figures.name,
        "is_bf16_supported": lambda _including_emulation=True: True,
        "current_stream": lambda _device=None: stream,
        "default_stream": lambda _device=None: stream,
        "empty_cache": lambda: None,
        "device": _DeviceContext,
        "device_of": _DeviceContext,
    }
    for name, answer in answers.items():
        setattr(torch.cuda, name, answer)
