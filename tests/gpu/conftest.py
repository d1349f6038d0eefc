"""One launcher for all tests of a file whose kernels do not break it, and tracers that end with the tests."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from replaying import SECONDS, start_launcher, tracers

from tritonkata.boundary.messages import DeviceFigures, LauncherReady, LauncherReply
from tritonkata.boundary.process import WorkerProcess, start_trusted


@pytest.fixture(scope="module")
def launcher() -> Iterator[WorkerProcess]:
    """One launcher for all tests whose kernels do not break it."""
    process = start_launcher()
    yield process
    process.end()


@pytest.fixture(scope="module")
def device() -> DeviceFigures:
    process = start_trusted("tritonkata.launcher")
    try:
        ready = process.channel.receive(LauncherReply, seconds=SECONDS).message
        assert isinstance(ready, LauncherReady), ready
        return ready.device
    finally:
        process.end()


@pytest.fixture(scope="session", autouse=True)
def _end_tracers() -> Iterator[None]:
    yield
    if tracers.cache_info().currsize:
        tracers().end()
