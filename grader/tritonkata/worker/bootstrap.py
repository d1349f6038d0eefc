"""The first lines of every worker: give up privileges and accept limits, before any other import.

The controller starts a worker either inside bubblewrap or, where that cannot
run, as a plain process with limits. Either way this module runs before the
submission exists in the process, so what it gives up cannot be taken back.
"""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import sys

from tritonkata.boundary.agreed import NO_SANDBOX_WORD, SANDBOX_VARIABLE, SANDBOX_WORD

MEMORY_BYTES = 24 << 30
FILE_BYTES = 256 << 20
OPEN_FILES = 256
PROCESSES = 128
CPU_SECONDS = 600

_state = {"sandboxed": False}


def declare_sandbox() -> None:
    """Say that this process stands in a sandbox, although it was not started in one."""
    _state["sandboxed"] = True


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
    keep_descriptors({int(word) for word in sys.argv[1:3] if word.isdigit()})
    limit()
    go_first_when_memory_runs_out()
    if not _state["sandboxed"]:
        _end_with_the_controller(int(number) if word == NO_SANDBOX_WORD else os.getppid())
    elif os.getuid() == 0:
        become(int(number))


def keep_descriptors(keep: set[int]) -> None:
    """Close all descriptors but the standard three and these."""
    for name in os.listdir("/proc/self/fd"):
        descriptor = int(name)
        if descriptor > 2 and descriptor not in keep:
            try:
                os.close(descriptor)
            except OSError:
                continue


def limit() -> None:
    """Accept the limits of a worker, which every process that it starts has too."""
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


def go_first_when_memory_runs_out() -> None:
    """The kernel then ends this process, and not the grader that has to report it."""
    with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w") as file:
        file.write("1000")


def _end_with_the_controller(controller: int) -> None:
    """Without a namespace nothing else ends a worker, and what it forked, when the controller is killed."""
    from tritonkata.boundary import prctl

    def end_with(parent: int) -> None:
        prctl.end_with_the_parent()
        if os.getppid() != parent:  # it ended before the kernel was told
            os.kill(os.getpid(), signal.SIGKILL)

    end_with(controller)
    # What a case leaves running becomes this process's child, where the controller finds it.
    prctl.adopt_orphans(True)
    own = {"pid": os.getpid()}
    os.register_at_fork(
        before=lambda: own.update(pid=os.getpid()),
        after_in_child=lambda: end_with(own["pid"]),
    )


def become(number: int) -> None:
    """Change from root to the user and the group of this number, for good."""
    os.setgroups([])
    os.setresgid(number, number, number)
    os.setresuid(number, number, number)
