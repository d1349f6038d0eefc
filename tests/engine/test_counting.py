"""What becomes of a count when the counters fail in the launcher."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

import numpy as np
import pytest

from tritonkata.boundary.channel import Channel
from tritonkata.boundary.messages import Count, Counted, DeviceFigures, LauncherReady, LauncherRequest
from tritonkata.engine.hosting import Turn
from tritonkata.engine.launching import Launcher
from tritonkata.model.course import Limits
from tritonkata.model.observation import Traffic
from tritonkata.model.plan import Buffer, LaunchPlan

X = np.zeros(4, np.float32)
PLAN = LaunchPlan("sm_90", 1, (Buffer(16, "x"),), (), (), ())
READY = LauncherReady(DeviceFigures(), "13.0", 1 << 36)


def counted(source: Any, *, ends: bool) -> Counted:
    return Counted(Traffic(source, 16, 16), ends=ends)


class Host:
    """Launchers that give these answers in turn; after one that ends, the grader must have replaced it."""

    def __init__(self, answers: Sequence[Counted]) -> None:
        self.answers = list(answers)
        self.replaced = 0

    def start(self) -> None:
        pass

    def ready(self) -> LauncherReady:
        return READY

    @contextmanager
    def turn(self) -> Iterator[Turn]:
        (to_us, theirs), (to_them, ours) = os.pipe(), os.pipe()
        grader, launcher = Channel(to_us, ours), Channel(to_them, theirs)

        def answer() -> None:
            assert isinstance(launcher.receive(LauncherRequest, seconds=10).message, Count)
            launcher.send(self.answers.pop(0), seconds=10)

        thread = threading.Thread(target=answer)
        thread.start()
        yield Turn(grader, READY)
        thread.join()
        grader.close()
        launcher.close()

    def packed(self, blobs: Sequence[Any]) -> AbstractContextManager[Sequence[Any]]:
        return nullcontext(blobs)

    def replace(self) -> str:
        self.replaced += 1
        return ""

    def end(self) -> None:
        pass


@pytest.mark.parametrize(
    ("answers", "source", "replaced"),
    [
        ([counted("cupti", ends=False)], "cupti", 0),
        ([counted("ncu", ends=False)], "ncu", 0),
        ([counted("ncu", ends=True), counted("cupti", ends=False)], "cupti", 1),
        ([counted("ncu", ends=True), counted("ncu", ends=True)], "ncu", 2),
        ([Counted(None, reason="no ncu", ends=True), counted("cupti", ends=False)], "cupti", 1),
    ],
)
def test_where_the_counters_broke_the_next_launcher_counts(answers: list[Counted], source: str, replaced: int) -> None:
    host = Host(answers)
    found = Launcher(Limits(), host).count(PLAN, (X,))
    assert isinstance(found, Counted)
    assert found.traffic is not None
    assert (found.traffic.source, host.replaced, host.answers) == (source, replaced, [])
