"""Whether this machine has a GPU that the launcher can use, told without making a context."""

from __future__ import annotations

from typing import Any


def probe() -> dict[str, Any]:
    """`{"driver", "devices": [{"name", "capability", "memory_bytes"}]}`, or `{"error"}` with the reason and the fix."""
    try:
        from tritonkata.launcher import driver
    except ImportError as error:
        return {"error": f"the CUDA bindings cannot be imported ({error}): pip install 'tritonkata[gpu]'"}
    try:
        found = [
            {
                "name": driver.device_name(device),
                "capability": list(driver.capability(device)),
                "memory_bytes": driver.total_memory(device),
            }
            for device in driver.devices()
        ]
        version = driver.driver_version()
    # Without a driver the bindings raise types of their own, which differ between releases.
    except Exception as error:
        return {"error": f"no usable NVIDIA driver: {error}"}
    if not found:
        return {"error": "the NVIDIA driver is there, but it sees no GPU"}
    return {"driver": version, "devices": found}
