"""A tracer in two steps: what can be done before there is a controller to answer, and the conversation."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

from tritonkata.boundary.channel import Channel, ChannelClosed
from tritonkata.worker.tracer import environment


def prepare() -> Callable[[int, int], int]:
    """Import torch and Triton and compile once. What is returned serves one submission on two descriptors."""
    folder = Path(tempfile.mkdtemp(prefix="tracer-"))
    environment.prepare(str(folder / "cache"))
    from tritonkata.worker.tracer.serve import serve, warm_up

    settings = warm_up()

    def run(read_fd: int, write_fd: int) -> int:
        # A process forked from the one that prepared has a temporary folder of its own, still empty.
        folder.mkdir(mode=0o700, exist_ok=True)
        try:
            serve(Channel(read_fd, write_fd), folder, settings)
        except ChannelClosed:
            return 0
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    return run
