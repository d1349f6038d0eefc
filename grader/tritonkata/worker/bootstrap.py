"""The first lines of every worker: give up privileges and accept limits, before any other import.

The controller starts a worker either inside bubblewrap or, where that cannot
run, as a plain process with limits. Either way this module runs before the
submission exists in the process, so what it gives up cannot be taken back.
"""

from __future__ import annotations

import os
import resource
import sys

SANDBOX_VARIABLE = "TRITONKATA_SANDBOX"
SANDBOX_WORD = "bubblewrap"

MEMORY_BYTES = 24 << 30
FILE_BYTES = 256 << 20
OPEN_FILES = 256
PROCESSES = 128
CPU_SECONDS = 600

_state = {"sandboxed": False}


def in_sandbox() -> bool:
    """Whether this process has a process namespace of its own, so that killing all others is safe."""
    return _state["sandboxed"]


def enter() -> None:
    """Set limits, drop root, and keep only the two protocol descriptors besides the standard three.

    Raises:
        OSError: a limit could not be set. The worker then ends, which the
            controller reports as its own fault.
    """
    word, _, number = os.environ.pop(SANDBOX_VARIABLE, "").partition(":")
    _state["sandboxed"] = word == SANDBOX_WORD
    keep = {int(word) for word in sys.argv[1:3] if word.isdigit()}
    _close_others(keep)
    _limit()
    if _state["sandboxed"] and os.getuid() == 0:
        _drop_root(int(number))


def _close_others(keep: set[int]) -> None:
    for name in os.listdir("/proc/self/fd"):
        descriptor = int(name)
        if descriptor > 2 and descriptor not in keep:
            try:
                os.close(descriptor)
            except OSError:
                continue


def _limit() -> None:
    limits = [
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_FSIZE, FILE_BYTES),
        (resource.RLIMIT_NOFILE, OPEN_FILES),
        (resource.RLIMIT_CPU, CPU_SECONDS),
        (resource.RLIMIT_AS, MEMORY_BYTES),
    ]
    if _state["sandboxed"]:
        # Outside a namespace this would count every process of the user, the grader's own among them.
        limits.append((resource.RLIMIT_NPROC, PROCESSES))
    for kind, wanted in limits:
        _, hard = resource.getrlimit(kind)
        value = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(kind, (value, value))


def _drop_root(number: int) -> None:
    os.setgroups([])
    os.setresgid(number, number, number)
    os.setresuid(number, number, number)
