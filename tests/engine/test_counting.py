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
from tritonkata.boundary.messages import Count, Counted, DeviceFigures, Failed, LauncherReady, LauncherRequest
from tritonkata.engine.hosting import Turn
from tritonkata.engine.launching import Launcher
from tritonkata.model.course import Limits
from tritonkata.model.faults import Fault
from tritonkata.model.observation import Traffic
from tritonkata.model.plan import Buffer, LaunchPlan

X = np.zeros(4, np.float32)
PLAN = LaunchPlan("sm_90", 1, (Buffer(16, "x"),), (), (), ())
READY = LauncherReady(DeviceFigures(), "13.0", 1 << 36)


def counted(source: Any, *, ends: bool) -> Counted:
    return Counted(Traffic(source, 16, 16), ends=ends)


class Host:
    """Launchers that give these answers in turn, and are replaced by the grader after one that ends."""

    def __init__(self, answers: Sequence[Counted | Failed]) -> None:
        self.answers = list(answers)
        self.replaced = 0

    def start(self) -> None:
        pass

    def ready(self) -> LauncherReady:
        return READY

    @contextmanager
    def turn(self) -> Iterator[Turn]:
        assert self.answers, "a launcher is asked that there is no answer of"
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


FAULT = Failed(Fault("runtime_error", "kernel", "no memory"))
NOTHING = Counted(None, reason="another profiler holds the counters", ends=True)


@pytest.mark.parametrize(
    ("answers", "source", "replaced"),
    [
        ([counted("cupti", ends=False)], "cupti", 0),
        ([counted("ncu", ends=False)], "ncu", 0),
        ([counted("ncu", ends=True), counted("cupti", ends=False)], "cupti", 1),
        ([counted("ncu", ends=True), counted("ncu", ends=True)], "ncu", 2),
        ([NOTHING, counted("cupti", ends=False)], "cupti", 1),
        ([counted("ncu", ends=True), NOTHING], "ncu", 2),
        ([counted("ncu", ends=True), FAULT], "ncu", 1),
        ([NOTHING, NOTHING], None, 2),
        ([NOTHING, FAULT], None, 1),
    ],
)
def test_where_the_counters_broke_the_next_launcher_counts(
    answers: list[Counted | Failed], source: str | None, replaced: int
) -> None:
    """What it cannot tell takes nothing from what was counted already, and is no fault of the submission."""
    host = Host(answers)
    found = Launcher(Limits(), host).count(PLAN, (X,))
    assert isinstance(found, Counted)
    assert (found.traffic and found.traffic.source, host.replaced, host.answers) == (source, replaced, [])


def test_a_fault_while_counting_is_told_and_not_asked_about_again() -> None:
    host = Host([FAULT])
    assert Launcher(Limits(), host).count(PLAN, (X,)) == FAULT.fault
