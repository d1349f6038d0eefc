"""What becomes of a request when the launcher fails: by itself, by its counters, or by what it was asked."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

import numpy as np
import pytest

from tritonkata.boundary.channel import Channel
from tritonkata.boundary.messages import (
    Count,
    Counted,
    DeviceFigures,
    Failed,
    LauncherReady,
    LauncherRequest,
    Replay,
    Replayed,
)
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


Answer = Counted | Replayed | Failed | None


class Host:
    """Launchers that give these answers in turn, and are replaced by the grader after one that ends.

    For None a launcher ends without an answer.
    """

    def __init__(self, answers: Sequence[Answer]) -> None:
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
            assert isinstance(launcher.receive(LauncherRequest, seconds=10).message, (Count, Replay))
            reply = self.answers.pop(0)
            if reply is not None:
                launcher.send(reply, seconds=10)
            launcher.close()

        thread = threading.Thread(target=answer)
        thread.start()
        yield Turn(grader, READY)
        thread.join()
        grader.close()

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
    answers: list[Answer], source: str | None, replaced: int
) -> None:
    """What it cannot tell takes nothing from what was counted already, and is no fault of the submission."""
    host = Host(answers)
    found = Launcher(Limits(), host).count(PLAN, (X,))
    assert isinstance(found, Counted)
    assert (found.traffic and found.traffic.source, host.replaced, host.answers) == (source, replaced, [])


def test_a_fault_while_counting_is_told_and_not_asked_about_again() -> None:
    host = Host([FAULT])
    assert Launcher(Limits(), host).count(PLAN, (X,)) == FAULT.fault


def failed(fault: Fault, *, ends: bool = True) -> Failed:
    return Failed(fault, ends=ends)


DRIVER = failed(Fault("grader_error", "kernel", "cuMemcpyHtoD failed", error="CUDA_ERROR_LAUNCH_FAILED"))
STOPPED = failed(Fault("runtime_error", "kernel", "the kernel stopped", error="CUDA_ERROR_LAUNCH_FAILED"))
ADDRESS = failed(Fault("out_of_bounds", "kernel", "a stray access", error="CUDA_ERROR_ILLEGAL_ADDRESS"))
REFUSED = failed(Fault("runtime_error", "kernel", "the driver refuses this kernel"), ends=False)
SHORT_OF_MEMORY = failed(Fault("grader_error", "kernel", "out of memory"), ends=False)


@pytest.mark.parametrize("first", [None, DRIVER, STOPPED])
def test_what_may_come_from_outside_is_tried_once_more_and_told(first: Answer) -> None:
    """On a GPU that others use as well, their kernels' faults can end a context in which nothing went wrong."""
    host = Host([first, Replayed(outputs=())])
    launcher = Launcher(Limits(), host)
    observation = launcher.replay(PLAN, (X,))
    assert (observation.fault, host.replaced, host.answers) == (None, 1, [])
    (note,) = launcher.notes()
    assert (first.fault.message if first else "ended without an answer") in note


@pytest.mark.parametrize("fault", [DRIVER, STOPPED])
def test_what_comes_again_is_told_as_it_is(fault: Failed) -> None:
    host = Host([fault, fault])
    launcher = Launcher(Limits(), host)
    assert launcher.replay(PLAN, (X,)).fault == fault.fault
    assert (host.replaced, launcher.notes()) == (2, ())


@pytest.mark.parametrize(("fault", "replaced"), [(ADDRESS, 1), (REFUSED, 0), (SHORT_OF_MEMORY, 0)])
def test_what_a_kernel_alone_can_do_is_not_tried_again(fault: Failed, replaced: int) -> None:
    host = Host([fault])
    assert Launcher(Limits(), host).replay(PLAN, (X,)).fault == fault.fault
    assert host.replaced == replaced


def test_a_plan_that_ends_two_launchers_has_a_fault_where_it_is_run_and_none_where_it_is_counted() -> None:
    """A right kernel must not pay for counters that end the process."""
    host = Host([None, None])
    fault = Launcher(Limits(), host).replay(PLAN, (X,)).fault
    assert fault is not None
    assert (fault.verdict, host.replaced) == ("runtime_error", 2)
    found = Launcher(Limits(), Host([None, None])).count(PLAN, (X,))
    assert isinstance(found, Counted)
    assert found.traffic is None
    assert "ended 2 times" in found.reason


def test_a_count_goes_on_after_a_launcher_that_ended() -> None:
    launcher = Launcher(Limits(), Host([None, counted("cupti", ends=False)]))
    found = launcher.count(PLAN, (X,))
    assert isinstance(found, Counted)
    assert found.traffic is not None
    assert len(launcher.notes()) == 1
