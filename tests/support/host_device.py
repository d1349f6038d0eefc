"""A device whose memory is the host's, for what the launcher does with memory and not with kernels."""

from __future__ import annotations

import ctypes
from contextlib import nullcontext
from typing import Any

import numpy as np
import pytest

from tritonkata.launcher import copying, driver, health


class HostDevice:
    """Answers the driver's calls for memory; `taken` are the allocations that were not given back.

    With `hides_differences` the kernel that compares finds none, as if it had been tampered with.
    """

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.taken: dict[int, Any] = {}
        for name in ("allocate", "free", "fill", "upload", "download", "copy"):
            monkeypatch.setattr(driver, name, getattr(self, name))
        for name in ("synchronize", "record", "destroy_event"):
            monkeypatch.setattr(driver, name, lambda *_: None)
        monkeypatch.setattr(driver, "make_event", object)
        monkeypatch.setattr(driver, "milliseconds_between", lambda *_: 1.0)
        monkeypatch.setattr(driver, "attribute", lambda *_: 1 << 20)
        monkeypatch.setattr(copying, "loaded", lambda: nullcontext(self))
        monkeypatch.setattr(health, "disturbances", tuple)
        self.hides_differences = False

    def allocate(self, nbytes: int) -> int:
        memory = np.zeros(nbytes, np.uint8)
        self.taken[memory.ctypes.data] = memory
        return int(memory.ctypes.data)

    def free(self, address: int) -> None:
        del self.taken[address]

    def fill(self, address: int, value: int, itemsize: int, count: int) -> None:
        words = (ctypes.c_uint8 * (count * itemsize)).from_address(address)
        np.frombuffer(words, f"u{itemsize}")[:] = value

    def upload(self, address: int, data: Any) -> None:
        ctypes.memmove(address, data.ctypes.data, data.nbytes)

    def download(self, data: Any, address: int) -> None:
        ctypes.memmove(data.ctypes.data, address, data.nbytes)

    def copy(self, target: int, source: int, nbytes: int) -> None:
        ctypes.memmove(target, source, nbytes)

    # The launcher's own kernels; `copy` stands for one of them, too.

    def read(self, sink: int, source: int, nbytes: int) -> None:
        pass

    def compare(self, result: int, one: int, other: int, nbytes: int) -> None:
        if not self.hides_differences and ctypes.string_at(one, nbytes) != ctypes.string_at(other, nbytes):
            self.fill(result, 1, 4, 1)
