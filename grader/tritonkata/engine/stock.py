"""Untrusted workers started ahead of need.

A worker takes seconds to import torch and Triton. One that waits in its sandbox has done so before there
is a submission for it, and still serves only one.
"""

from __future__ import annotations

from pathlib import Path

from tritonkata.boundary.process import WorkerProcess, start_untrusted

_Kind = tuple[str, str | None, tuple[Path, ...]]


class Stock:
    """Workers by kind: the module, bubblewrap's path, and the folders that are hidden.

    `ahead` is how many of each kind are kept waiting once one was asked for. All are started by the
    thread that asks, which must outlive them.
    """

    def __init__(self, ahead: int = 0) -> None:
        self._ahead = ahead
        self._waiting: dict[_Kind, list[WorkerProcess]] = {}

    def take(self, module: str, bubblewrap: str | None, hidden: tuple[Path, ...]) -> WorkerProcess:
        """A worker that nobody has used.

        Raises:
            OSError: none could be started.
        """
        kind = (module, bubblewrap, hidden)
        waiting = self._waiting.setdefault(kind, [])
        while waiting and not waiting[0].is_running:
            waiting.pop(0).end()
        taken = waiting.pop(0) if waiting else _start(kind)
        while len(waiting) < self._ahead:
            waiting.append(_start(kind))
        return taken

    def close(self) -> None:
        """End those that still wait."""
        for waiting in self._waiting.values():
            for worker in waiting:
                worker.end()
        self._waiting.clear()


def _start(kind: _Kind) -> WorkerProcess:
    module, bubblewrap, hidden = kind
    return start_untrusted(module, bubblewrap=bubblewrap, hidden=hidden)
