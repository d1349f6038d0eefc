"""A launcher that writes down where its time goes, unchanged: functions are wrapped by ones with a clock."""

from __future__ import annotations

import functools
import json
import time
from collections import Counter
from collections.abc import Callable
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

from tritonkata.boundary import memory_file, socket_channel
from tritonkata.launcher import arena, compare, driver, hostops, looking, serve, session, timing
from tritonkata.launcher.traffic.cupti import RangeProfiler
from tritonkata.launcher.traffic.hold import Hold

REST = "the rest of the answer"

WATCHED: tuple[tuple[Any, tuple[str, ...]], ...] = (
    (driver, ("allocate", "free", "fill", "upload", "download", "copy", "copy_rows", "synchronize", "launch")),
    (driver, ("load_module", "unload_module", "milliseconds_between")),
    (looking, ("same_bytes", "first_other")),
    (hostops, ("download_view",)),
    (compare, ("holds_poison", "differing", "flat_words", "unwritten")),
    (arena, ("poison", "guard_hits", "release")),
    (session, ("_upload",)),
    (timing, ("time_beside_copies",)),
    (memory_file, ("filled",)),
    (socket_channel, ("mapped",)),
    (socket_channel.SocketChannel, ("receive", "send")),
    (RangeProfiler, ("_call",)),
    (Hold, ("__enter__",)),
)


class Clock:
    """The seconds in each part, without those in the parts that it calls."""

    def __init__(self) -> None:
        self.seconds: Counter[str] = Counter()
        self._running = ["between requests"]
        self._since = time.perf_counter()

    @contextmanager
    def part(self, name: str) -> Any:
        """What runs inside is of this part."""
        self._pass()
        self._running.append(name)
        try:
            yield
        finally:
            self._pass()
            self._running.pop()

    def taken(self) -> dict[str, float]:
        """What came together since this was last asked for."""
        self._pass()
        found, self.seconds = dict(self.seconds), Counter()
        return found

    def _pass(self) -> None:
        now = time.perf_counter()
        self.seconds[self._running[-1]] += now - self._since
        self._since = now


def watch_launcher(path: str) -> None:
    """From now on each request that this process serves becomes a line of JSON: its kind, and the seconds by part."""
    clock = Clock()
    for owner, names in WATCHED:
        for name in names:
            label = f"{owner.__name__.rpartition('.')[2]}.{name}"
            setattr(owner, name, _inside(functools.partial(clock.part, label), getattr(owner, name)))
    answer, serve_one = serve._answer, serve._serve_one
    kinds: list[str] = []

    def answered(request: Any, *more: Any) -> Any:
        kinds.append(type(request).__name__)
        with clock.part(REST):
            return answer(request, *more)

    def served(channel: Any, opened: Any) -> bool:
        clock.taken()
        kinds.clear()
        try:
            return serve_one(channel, opened)
        finally:
            line = {"kind": (kinds or [""])[0], "parts": clock.taken()}
            with Path(path).open("a", encoding="utf-8") as file:
                file.write(json.dumps(line) + "\n")

    serve._answer, serve._serve_one = answered, served


def _inside(part: Callable[[], AbstractContextManager[None]], function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def timed(*arguments: Any, **more: Any) -> Any:
        with part():
            return function(*arguments, **more)

    return timed
