"""One process of a crew: it calls what it is sent, one call at a time, and keeps a station meanwhile."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import pickle
import signal
import threading
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from types import FrameType
from typing import Any

from tritonkata import doing
from tritonkata.engine.client import GraderError
from tritonkata.engine.sharing import SharedHost
from tritonkata.engine.station import Station, open_station
from tritonkata.engine.stock import Lines


@dataclass(frozen=True)
class Place:
    """What a member works with. `gpu` is the GPU that it takes turns on, None for none; turns are kept in `folder`."""

    gpu: int | None = None
    folder: Path | None = None
    owner: int = 0
    ahead: int = 1


@dataclass(frozen=True)
class Call:
    """A function of a module, with arguments that can be pickled."""

    function: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: dict[str, Any]


@dataclass(frozen=True)
class Answer:
    """What a call returned, or raised.

    `aside` says why the member's GPU must not be used any more; empty if it may. `busy_seconds` is how long the call
    had the GPU.
    """

    value: Any = None
    error: BaseException | None = None
    aside: str = ""
    busy_seconds: float = 0.0


_station = Station()
_working = False
_told_to_end = False


def station() -> Station:
    """The station of this process; an empty one outside a crew."""
    return _station


def serve(connection: Connection, place: Place, note: Any, lines: Lines) -> None:
    """Answer calls until told to end (by None, or a closed connection).

    `note` is shared memory for a text: what this process does, should it end meanwhile. `lines` lead to templates that
    the whole crew has its workers from.
    """

    def tell(what: str) -> None:
        note.value = what.encode(errors="replace")[: len(note) - 1]

    doing.tell(tell)
    with contextlib.suppress(KeyboardInterrupt):
        _prepare()
        _answer_calls(connection, place, lines)


def _answer_calls(connection: Connection, place: Place, lines: Lines) -> None:
    global _station
    host = None
    if place.gpu is not None and place.folder is not None:
        host = SharedHost(place.folder, place.gpu, place.owner)
    with open_station(ahead=place.ahead, host=host, lines=lines) as _station:
        while (call := _next(connection)) is not None:
            answer = _called(call)
            connection.send_bytes(_packed(answer, host))


def _next(connection: Connection) -> Call | None:
    try:
        call: Call | None = connection.recv()
    except (EOFError, OSError):
        return None
    return call


def _called(call: Call) -> Answer:
    global _working  # noqa: PLW0603 - a signal's handler knows nothing else of this process
    _working = True
    try:
        return Answer(call.function(*call.args, **call.kwargs))
    except KeyboardInterrupt:
        raise
    except Exception as error:
        return Answer(error=error)
    # What ends a process or a test comes from code of the course, which is neither.
    except BaseException as error:
        return Answer(error=GraderError(f"code of the course ended the grading ({type(error).__name__}: {error})"))
    finally:
        _working = False
        if _told_to_end:
            raise KeyboardInterrupt


def _packed(answer: Answer, host: SharedHost | None) -> bytes:
    """The answer as bytes; an error that does not survive pickling is told in words."""
    aside = "" if host is None else host.aside()
    busy = 0.0
    if host is not None:
        busy, host.busy_seconds = host.busy_seconds, 0.0
    try:
        packed = pickle.dumps(Answer(answer.value, answer.error, aside, busy))
        pickle.loads(packed)
    except Exception:
        what = GraderError(
            f"{type(answer.error).__name__}: {answer.error}" if answer.error else "an answer cannot be sent"
        )
        packed = pickle.dumps(Answer(error=what, aside=aside))
    return packed


def _prepare() -> None:
    """Begin a process of a crew."""
    # Ctrl-C on a terminal reaches every process of the command; the first one decides.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, _end)
    # What a hidden test prints is no part of the command's output.
    os.dup2(2, 1)
    threading.Thread(target=_follow_parent, daemon=True).start()


def _follow_parent() -> None:
    """End with the process that began this one, however that ended."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os.kill(os.getpid(), signal.SIGTERM)


def _end(number: int, frame: FrameType | None) -> None:  # noqa: ARG001 - the signal module's signature
    """Unwind what runs, so that its workers and files go with it."""
    global _told_to_end
    first, _told_to_end = not _told_to_end, True
    if first:
        raise KeyboardInterrupt
