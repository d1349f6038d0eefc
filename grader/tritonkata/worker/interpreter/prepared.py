"""An interpreter worker in two steps: what can be done before there is a controller to answer, and the conversation."""

from __future__ import annotations

import os
from collections.abc import Callable


def prepare() -> Callable[[int, int], int]:
    """Import and patch torch and Triton. What is returned serves one submission on two descriptors."""
    # Read when triton is imported, and by every @triton.jit.
    os.environ["TRITON_INTERPRET"] = "1"
    from tritonkata.worker.interpreter import serving

    ready = serving.prepare()
    return lambda read_fd, write_fd: serving.serve(read_fd, write_fd, ready)
