"""Recorded plans with parts changed at random: refused as invalid, or within all bounds. Never another exception.

`benchmarks/fuzz_plans.py` does the same with 100,000 plans and more.
"""

from __future__ import annotations

import importlib
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import msgspec
import numpy as np
import pytest

from tritonkata.boundary.messages import DeviceFigures
from tritonkata.courses import load_course
from tritonkata.engine.arrays import spec_of
from tritonkata.engine.engines import InterpreterEngine
from tritonkata.engine.workers import Assignment
from tritonkata.model.plan import InvalidPlan, LaunchPlan
from tritonkata.model.tensors import TensorSpec

PLANS = 4000
Recorded = tuple[LaunchPlan, tuple[TensorSpec, ...]]


@pytest.fixture
def mutations(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    return importlib.import_module("plan_mutations")


@pytest.fixture(scope="module")
def recorded() -> Recorded:
    kata = load_course().kata("masked_softmax")
    engine = InterpreterEngine(Assignment.to_kata(kata, "solution.py", kata.solution.read_bytes()))
    x = np.zeros((4, 1000), np.float32)
    plan = engine.compile(kata.file.entry_points[0], (x, x))
    engine.close()
    assert isinstance(plan, LaunchPlan)
    return plan, (spec_of(x), spec_of(x))


def test_a_bent_plan_is_refused_or_within_bounds(mutations: Any, recorded: Recorded) -> None:
    plan, arguments = recorded
    rng = Random(11)
    found = Counter(mutations.outcome(mutations.bent(plan, rng), arguments, DeviceFigures()) for _ in range(PLANS))
    assert found["invalid"] > PLANS // 20
    assert found["undecodable"] > PLANS // 20
    assert found["accepted"] > 0


def test_the_bounds_are_looked_at_in_truth(mutations: Any, recorded: Recorded) -> None:
    """The second opinion refuses what the validator refuses for bounds: else it could not find anything."""
    plan, arguments = recorded
    far = msgspec.structs.replace(plan, outputs=(msgspec.structs.replace(plan.outputs[0], buffer=0),))
    bent = msgspec.structs.replace(far, buffers=(msgspec.structs.replace(plan.buffers[0], nbytes=4), *plan.buffers[1:]))
    with pytest.raises(InvalidPlan):
        mutations.validate(bent, arguments, DeviceFigures())
    with pytest.raises(AssertionError):
        mutations.assert_within_bounds(bent, arguments, DeviceFigures())
