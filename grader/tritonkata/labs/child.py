"""Modules of this package run in a process of their own: what they need (torch, CUDA) never enters the grader's."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path


def run_module(module: str, *arguments: str, seconds: float) -> subprocess.CompletedProcess[bytes]:
    """Run `python -m module arguments` and wait for its output.

    Raises:
        OSError: it could not be started.
        TimeoutExpired: it did not end within `seconds`, and was ended.
    """
    # The working directory is no place to import from, so relative entries of the path would be lost.
    parent = str(Path(__file__).resolve().parents[2])
    path = [parent, *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
    return subprocess.run(
        [sys.executable, "-s", "-m", module, *arguments],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(path)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=seconds,
        check=False,
        cwd="/",
    )
