"""What disturbs a GPU while it is timed: lowered clocks, and other programs."""

from __future__ import annotations

import os
from functools import cache
from typing import Any

_REASONS = {
    "SW_POWER_CAP": "the GPU lowers its clocks to keep within its power limit",
    "HW_SLOWDOWN": "the GPU's hardware slows its clocks (heat, power or a fault)",
    "SW_THERMAL_SLOWDOWN": "the GPU lowers its clocks because it is hot",
    "HW_THERMAL_SLOWDOWN": "the GPU's hardware slows its clocks because it is hot",
    "HW_POWER_BRAKE_SLOWDOWN": "the server's power supply slows the GPU's clocks",
}
UNKNOWN = "whether the GPU is throttled or shared is not known (cuda-bindings has no NVML before 13.0)"


def disturbances() -> tuple[str, ...]:
    """Plain sentences; empty when nothing disturbs the device that this process uses."""
    nvml, handle = _device()
    if nvml is None:
        return (UNKNOWN,)
    try:
        return (*_throttled(nvml, handle), *_shared(nvml, handle))
    # NVML refuses single queries on some cards and in some containers, each with an exception of its own.
    except Exception as error:
        return (f"whether the GPU is throttled or shared is not known ({type(error).__name__})",)


def _throttled(nvml: Any, handle: Any) -> tuple[str, ...]:
    active = int(nvml.device_get_current_clocks_event_reasons(handle))
    return tuple(sentence for flag, sentence in reasons(nvml).items() if active & flag)


def reasons(nvml: Any) -> dict[int, str]:
    """The sentence of each flag, by NVML's own enumeration."""
    flags = {member.name: int(member) for member in nvml.ClocksEventReasons}
    return {
        flag: sentence for ending, sentence in _REASONS.items() for name, flag in flags.items() if name.endswith(ending)
    }


def _shared(nvml: Any, handle: Any) -> tuple[str, ...]:
    running = nvml.device_get_compute_running_processes_v3(handle)
    others = [process for process in running if int(process.pid) != os.getpid()]
    # In a container NVML gives the host's process numbers, or none; one of them is this process.
    count = len(others) - (len(others) == len(running) and len(others) > 0)
    if count <= 0:
        return ()
    return (f"{count} other {'process uses' if count == 1 else 'processes use'} the GPU",)


@cache
def _device() -> tuple[Any, Any]:
    """NVML and the handle of the device whose context is current; None where there is none."""
    try:
        from cuda.bindings import nvml

        from tritonkata.launcher import driver

        nvml.init_v2()
        return nvml, nvml.device_get_handle_by_pci_bus_id_v2(driver.bus_id())
    except Exception:
        return None, None
