"""What a process asks of Linux for itself. Each function raises OSError where the kernel refuses it."""

from __future__ import annotations

import ctypes
import os
import signal

_SET_PDEATHSIG = 1
_SET_DUMPABLE = 4
_SET_CHILD_SUBREAPER = 36


def end_with_the_parent() -> None:
    """Have the kernel end this process with the one that started it. A change of user undoes this."""
    _call(_SET_PDEATHSIG, signal.SIGKILL)


def hide() -> None:
    """Let no process of the same user look into this one's descriptors or memory through /proc."""
    _call(_SET_DUMPABLE, 0)


def adopt_orphans(wanted: bool) -> None:
    """Whether processes below this one, whose parent has ended, become its children."""
    _call(_SET_CHILD_SUBREAPER, int(wanted))


def _call(option: int, argument: int) -> None:
    if ctypes.CDLL(None, use_errno=True).prctl(option, ctypes.c_ulong(argument), 0, 0, 0) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"prctl {option}: {os.strerror(number)}")
