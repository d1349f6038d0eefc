"""Untrusted workers made ready ahead of need.

A worker takes seconds to import torch and Triton. A template has done so once, and forks a worker for each
submission; where this machine refuses that, a worker that waits in its sandbox has done so before there is a
submission for it. Either serves one submission only.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path

from tritonkata.boundary.process import WorkerProcess, start_untrusted
from tritonkata.boundary.sandbox import SandboxUnavailable, find_bubblewrap
from tritonkata.boundary.template import Forking, Template, TemplateFailed, TemplateLine

TRACER = "tritonkata.worker.tracer"
INTERPRETER = "tritonkata.worker.interpreter"
_TOGETHER = (TRACER, INTERPRETER)
"""Modules that can be prepared before they serve. Whoever asks for one will soon ask for the other."""

Kind = tuple[str, str | None, tuple[Path, ...]]
Lines = Mapping[Kind, TemplateLine]


class Stock:
    """Workers by kind: the module, bubblewrap's path, and the folders that are hidden.

    `ahead` is how many of each kind wait once one was asked for, where they cannot be forked; with 0 each is started
    when it is asked for. All are started by the thread that asks, which must outlive them. `lines` lead to templates of
    another process, which are used as long as they run.
    """

    def __init__(self, ahead: int = 0, lines: Lines | None = None) -> None:
        self._ahead = ahead
        self._waiting: dict[Kind, list[WorkerProcess]] = {}
        self._templates: dict[Kind, Forking | None] = {**(lines or {})}
        self._proven: set[Kind] = set()
        self.why_not_forked = ""
        """What the last template said that could not fork."""

    def take(self, module: str, bubblewrap: str | None, hidden: tuple[Path, ...]) -> WorkerProcess:
        """A worker that nobody has used.

        Raises:
            OSError: none could be started.
        """
        kind = (module, bubblewrap, hidden)
        if self._ahead > 0 and bubblewrap is not None and module in _TOGETHER:
            worker = self._forked(kind)
            if worker is not None:
                return worker
        return self._started(kind)

    def close(self) -> None:
        """End the templates, and those that still wait."""
        for template in self._templates.values():
            if template is not None:
                template.end()
        for waiting in self._waiting.values():
            for worker in waiting:
                worker.end()
        self._templates.clear()
        self._waiting.clear()

    def _forked(self, kind: Kind) -> WorkerProcess | None:
        """A fork of the kind's template; None where there is none."""
        _, bubblewrap, hidden = kind
        for module in _TOGETHER:
            if (module, bubblewrap, hidden) not in self._templates and bubblewrap is not None:
                made = Template(module, bubblewrap=bubblewrap, hidden=hidden)
                self._templates[module, bubblewrap, hidden] = made
        template = self._templates[kind]
        if template is None:
            return None
        try:
            worker = template.fork()
        except TemplateFailed as error:
            self._give_up(kind, template, str(error))
            return None
        self._proven.add(kind)
        return worker

    def _give_up(self, kind: Kind, template: Forking, reason: str) -> None:
        """Go on without a template that never worked; make one that has ended anew the next time.

        One that has worked and still runs is kept: other forks of it are at work, and would end with it.
        """
        self.why_not_forked = reason
        if kind not in self._proven:
            template.end()
            self._templates[kind] = None
        elif not template.is_running:
            template.end()
            self._proven.discard(kind)
            del self._templates[kind]

    def _started(self, kind: Kind) -> WorkerProcess:
        waiting = self._waiting.setdefault(kind, [])
        while waiting and not waiting[0].is_running:
            waiting.pop(0).end()
        taken = waiting.pop(0) if waiting else _start(kind)
        while len(waiting) < self._ahead:
            waiting.append(_start(kind))
        return taken


@contextmanager
def shared_templates(hidden: tuple[Path, ...]) -> Iterator[Lines]:
    """Templates for the stocks of several processes, by the thread that enters; none where there is no sandbox."""
    lines: dict[Kind, TemplateLine] = {}
    with ExitStack() as ending:
        try:
            bubblewrap = find_bubblewrap()
            for module in _TOGETHER:
                template = Template(module, bubblewrap=bubblewrap, hidden=hidden)
                ending.callback(template.end)
                lines[module, bubblewrap, hidden] = template.line
        except (SandboxUnavailable, OSError):
            lines.clear()  # each process finds out for itself, and says so
        yield lines


def _start(kind: Kind) -> WorkerProcess:
    module, bubblewrap, hidden = kind
    return start_untrusted(module, bubblewrap=bubblewrap, hidden=hidden)
