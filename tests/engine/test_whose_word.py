"""On the GPU engine, whose word decides where the interpreter does not run a kernel, or says so."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tritonkata.boundary.messages import Counted
from tritonkata.engine.engines import GpuEngine
from tritonkata.model.course import Entry
from tritonkata.model.faults import Fault, Verdict
from tritonkata.model.observation import INTERPRETER, LAUNCHER, TRACER, Level, Observation, Traffic
from tritonkata.model.plan import LaunchPlan

ENTRY = Entry("f", ("x",), ("y",))
X = np.ones((2, 3), np.float32)
SKIP = Fault("skipped", "kernel", "the interpreter does not know tl.double")
PLAN = LaunchPlan("sm_90", 1, (), (), (), ())
MEASURED = Traffic("cupti", Level(24, 24), Level(24, 24))


def engine(interpreted: Observation, *, plan: Any = PLAN, replayed: Any = None, counted: Any = None) -> GpuEngine:
    """The engine, with what its processes answer."""
    made = GpuEngine.__new__(GpuEngine)
    parts: dict[str, Any] = {
        "_interpreter": SimpleNamespace(run=lambda *_: interpreted),
        "_tracer": SimpleNamespace(trace=lambda *_: plan),
        "_launcher": SimpleNamespace(replay=lambda *_: replayed, count=lambda *_: counted),
    }
    vars(made).update(parts)
    return made


def fault(verdict: Verdict) -> Fault:
    return Fault(verdict, "kernel", "told")


@pytest.mark.parametrize("verdict", [None, "out_of_bounds", "runtime_error", "skipped"])
def test_accesses_that_the_interpreter_does_not_check_are_the_launchers_to_judge(verdict: Verdict | None) -> None:
    judged = Observation(LAUNCHER, fault=None if verdict is None else fault(verdict))
    assert engine(Observation(INTERPRETER, fault=SKIP), replayed=judged).access(ENTRY, (X,)) == judged


@pytest.mark.parametrize("verdict", [None, "out_of_bounds", "race", "runtime_error"])
def test_what_the_interpreter_checked_stands(verdict: Verdict | None) -> None:
    checked = Observation(INTERPRETER, fault=None if verdict is None else fault(verdict))
    assert engine(checked, replayed=Observation(LAUNCHER)).access(ENTRY, (X,)) is checked


def test_bytes_that_the_interpreter_does_not_count_are_the_hardwares() -> None:
    observation = engine(Observation(INTERPRETER, fault=SKIP), counted=Counted(MEASURED)).traffic(ENTRY, (X,))
    assert (observation.fault, observation.traffic) == (None, MEASURED)


@pytest.mark.parametrize("interpreted", [Observation(INTERPRETER), Observation(INTERPRETER, fault=SKIP)])
def test_a_fault_is_told_by_whom_it_comes_from(interpreted: Observation) -> None:
    """What the launcher cannot run is a limit of the machine; a tracer could say so of everything."""
    limit = fault("skipped")
    assert engine(interpreted, counted=limit).traffic(ENTRY, (X,)) == Observation(LAUNCHER, fault=limit)
    assert engine(interpreted, plan=limit).traffic(ENTRY, (X,)) == Observation(TRACER, fault=limit)
    assert engine(interpreted, plan=limit).run(ENTRY, (X,)) == Observation(TRACER, fault=limit)
    assert engine(interpreted, plan=limit).time(ENTRY, ((X,),), 24) == (Observation(TRACER, fault=limit),)
