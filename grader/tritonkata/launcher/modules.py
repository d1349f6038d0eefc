"""Kernels' modules in the driver, of which none goes while this process has the counters.

At each counted launch CUPTI looks at the modules that it has met, and one that was unloaded since the counters were
taken ends the process: seen on an H200 with CUPTI 2025.3.1 and driver 580.159.04 as SIGSEGV below `cuLaunchKernelEx`,
in libnvperf_host, at one count in five. Once the counters are given back, the modules may go.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from tritonkata.launcher import driver

_waiting: list[Any] = []
_stay = False


def unload(module: Any) -> None:
    """Unload a module that nobody needs any more, now or as soon as the counters are given back.

    Raises:
        CudaError: the context is gone.
    """
    if _stay:
        _waiting.append(module)
    else:
        driver.unload_module(module)


def keep() -> None:
    """The counters were taken: from now on all modules stay."""
    global _stay  # noqa: PLW0603 - the driver has one context in a process, and CUPTI one profiler
    _stay = True


def let_go() -> None:
    """The counters were given back, or the context is gone: unload what waited."""
    global _stay  # noqa: PLW0603
    _stay = False
    # After a kernel's fault the modules are gone with the context.
    with suppress(driver.CudaError):
        while _waiting:
            driver.unload_module(_waiting.pop())
    _waiting.clear()
