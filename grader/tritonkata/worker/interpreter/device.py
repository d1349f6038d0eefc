"""What host code may ask of the card, answered with figures instead of a driver."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import torch
import triton
from triton.backends.compiler import GPUTarget

from tritonkata.boundary.messages import DeviceFigures
from tritonkata.worker import device


class StandInDriver:
    """The part of Triton's driver interface that host code of a kernel uses."""

    def __init__(self, figures: DeviceFigures) -> None:
        self._figures = figures
        properties = device.triton_properties(figures, figures.max_shared_bytes)
        self.utils = SimpleNamespace(get_device_properties=lambda _device=0: dict(properties))

    def get_current_target(self) -> GPUTarget:
        """The card's architecture."""
        major, minor = self._figures.capability
        return GPUTarget("cuda", major * 10 + minor, self._figures.warp_size)

    def get_current_device(self) -> int:
        """Always the first device."""
        return 0

    def set_current_device(self, _device: int) -> None:
        """Nothing to switch."""

    def get_current_stream(self, _device: int = 0) -> int:
        """The default stream."""
        return 0

    def get_active_torch_device(self) -> torch.device:
        """Where tensors live."""
        return torch.device("cuda", 0)

    def get_device_interface(self) -> Any:
        """Torch's module for the device."""
        return torch.cuda


def answer_device_questions(figures: DeviceFigures) -> None:
    """Make `torch.cuda` and Triton's driver tell of the card that `figures` describe."""
    triton.runtime.driver.set_active(StandInDriver(figures))
    device.install(figures)
