"""Signals that end a command: each becomes an interruption, so that workers and their files go with it."""

from __future__ import annotations

import signal
from types import FrameType

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_ORDINARY = (signal.SIG_DFL, signal.default_int_handler)
_received: list[int] = []


def listen() -> None:
    """Take these signals from now on, except those that whoever started the command ignores (nohup)."""
    for number in _SIGNALS:
        if signal.getsignal(number) in _ORDINARY:
            signal.signal(number, _interrupt)


def finish() -> None:
    """Let nothing interrupt what is left: one line, and the end of what was started."""
    for number in _SIGNALS:
        signal.signal(number, signal.SIG_IGN)


def raise_if_ended() -> None:
    """Interrupt now, if the interruption was caught by code that ran in between.

    Raises:
        KeyboardInterrupt: a signal came.
    """
    if _received:
        raise KeyboardInterrupt


def exit_code() -> int:
    """What a shell gives for the signal that came."""
    return 128 + (_received[0] if _received else signal.SIGINT)


def words() -> str:
    """One line on what happened."""
    return "Interrupted." if exit_code() == 128 + signal.SIGINT else "Terminated."


def _interrupt(number: int, frame: FrameType | None) -> None:  # noqa: ARG001 - the signal module's signature
    _received.append(number)
    for other in (signal.SIGTERM, signal.SIGHUP):
        # They come in pairs, and the second must not stop the removal of what the first one ended.
        if signal.getsignal(other) is _interrupt:
            signal.signal(other, signal.SIG_IGN)
    raise KeyboardInterrupt
