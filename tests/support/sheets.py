"""A submission of plain Python in an interpreter worker, and the values of its functions."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, Literal

import pytest

from tritonkata.boundary.messages import DeviceFigures, Evaluate, Evaluated, InterpreterReply, Load, Loaded, Ready
from tritonkata.boundary.process import WorkerProcess, start_untrusted
from tritonkata.boundary.sandbox import SandboxUnavailable, find_bubblewrap
from tritonkata.boundary.seccomp import SeccompUnavailable, filter_program
from tritonkata.boundary.template import Template
from tritonkata.engine.stock import INTERPRETER

SPIN = """
import subprocess, sys

def spin(marker):
    code = "import time; time.sleep(600)"
    subprocess.Popen([sys.executable, "-c", code, marker], start_new_session=True)
    while True:
        pass

def say(word):
    return word
"""
"""A function that never ends, beside a process with `marker` in its command line, and one that ends at once."""


class Sheet:
    """The source is loaded; `ask` calls one of its functions."""

    def __init__(self, worker: WorkerProcess, source: str) -> None:
        self._channel = worker.channel
        assert isinstance(self._reply(), Ready)
        self._channel.send(Load("sheet.py", source.encode(), (), "sm_90", DeviceFigures(), 60.0))
        loaded = self._reply()
        assert isinstance(loaded, Loaded), loaded

    def ask(self, name: str, *arguments: Any) -> Any:
        """What the function returns."""
        self.send(name, *arguments)
        reply = self._reply()
        assert isinstance(reply, Evaluated), reply
        return reply.values[0]

    def send(self, name: str, *arguments: Any) -> None:
        """Call the function without waiting for it."""
        self._channel.send(Evaluate(name, (arguments,), 60.0))

    def _reply(self) -> Any:
        return self._channel.receive(InterpreterReply, seconds=120).message


@contextmanager
def in_sandbox(source: str, how: Literal["started", "forked"]) -> Iterator[Sheet]:
    """A sheet in a worker that was started by itself, or forked as those of a class are; skips where none can be."""
    try:
        bubblewrap = find_bubblewrap()
        filter_program()
    except (SandboxUnavailable, SeccompUnavailable) as error:
        pytest.skip(str(error))
    with ExitStack() as ends:
        if how == "started":
            process = start_untrusted(INTERPRETER, bubblewrap=bubblewrap)
        else:
            template = Template(INTERPRETER, bubblewrap=bubblewrap)
            ends.callback(template.end)
            process = template.fork()
        ends.callback(process.end)
        yield Sheet(process, source)
