"""The loop that people write: one process a submission, which imports it and runs the same hidden tests.

    python benchmarks/naive.py FILE KATA gpu|interpreter SEED

It prints one line of JSON: the verdict, the failed checks, and those that it has no means to run.
"""

from __future__ import annotations

import importlib.util
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from numpy.typing import NDArray

from tritonkata.courses import load_course
from tritonkata.engine.arrays import spec_of
from tritonkata.engine.base import TIMED_ROUNDS
from tritonkata.engine.client import LoadFailed
from tritonkata.engine.machine import processor_name
from tritonkata.hidden.plugin import run_hidden_tests
from tritonkata.model.answers import Value
from tritonkata.model.course import Entry
from tritonkata.model.faults import Fault
from tritonkata.model.observation import Observation, Resources
from tritonkata.model.plan import LaunchPlan
from tritonkata.model.report import Engine as EngineReport

Array = NDArray[Any]
ROOT = Path(__file__).resolve().parents[1]
COPIED_WHOLE_BYTES = 64 << 20


def naive(path: Path, slug: str, engine: str, seed: int) -> dict[str, Any]:
    """The hidden tests on one submission, in this process."""
    kata = load_course(ROOT).kata(slug)
    naive_engine = InProcess(path, "cuda" if engine == "gpu" else "cpu")
    try:
        naive_engine.load()
    except LoadFailed as error:
        return {"verdict": "error", "failed": [error.fault.message], "left_out": []}
    session = run_hidden_tests(kata, naive_engine, seed, lambda _: None)
    if session.problem is not None:
        raise SystemExit(session.problem)
    outcomes = {name: outcome for name, outcome in session.outcomes.items() if not outcome.absent}
    failed = [name for name, outcome in outcomes.items() if outcome.verdict not in ("pass", "skipped")]
    left_out = [name for name, outcome in session.outcomes.items() if outcome.absent]
    return {"verdict": "fail" if failed else "pass", "failed": failed, "left_out": left_out}


class InProcess:
    """The engine of the loop: the submission is imported here and called on torch tensors."""

    def __init__(self, path: Path, device: str) -> None:
        import torch

        self._torch: Any = torch
        self._path = path
        self._device = device
        self._module = ModuleType("submission")

    def describe(self) -> EngineReport:
        """Which of the two it stands for."""
        if self._device == "cuda":
            return EngineReport("gpu", self._torch.cuda.get_device_name(), "")
        return EngineReport("interpreter", processor_name(), "")

    def load(self) -> None:
        """Import the file.

        Raises:
            LoadFailed: that failed.
        """
        spec = importlib.util.spec_from_file_location("submission", self._path)
        assert spec is not None
        assert spec.loader is not None
        self._module = importlib.util.module_from_spec(spec)
        sys.modules["submission"] = self._module
        try:
            spec.loader.exec_module(self._module)
        except Exception as error:
            raise LoadFailed(Fault("runtime_error", "load", f"{type(error).__name__}: {error}"[:2000])) from error

    def compile(self, entry: Entry, arguments: tuple[Array, ...]) -> LaunchPlan | Fault:
        """Call it once; there is no plan to look at."""
        fault = self.run(entry, arguments).fault
        return fault or LaunchPlan("", len(arguments), (), (), (), ())

    def run(self, entry: Entry, arguments: tuple[Array, ...]) -> Observation:
        """Call it on copies of the arguments."""
        tensors = [self._tensor(argument) for argument in arguments]
        before = [tensor.clone() for tensor in tensors]
        try:
            result = getattr(self._module, entry.name)(*tensors)
            results = result if isinstance(result, tuple) else (result,)
            outputs = tuple(self._array(one) for one in results)
        except Exception as error:
            # As a learner's loop would: whatever happens is a failed case.
            fault = Fault("runtime_error", "host", f"{type(error).__name__}: {error}"[:2000])
            return Observation(self.describe().name, fault=fault)
        changed = [
            name
            for name, one, other in zip(entry.parameters, tensors, before, strict=True)
            if not self._torch.equal(self._torch.nan_to_num(one), self._torch.nan_to_num(other))
        ]
        return Observation(
            self.describe().name,
            outputs=outputs,
            inputs_changed=tuple(changed),
            returned_tuple=isinstance(result, tuple),
        )

    def access(self, entry: Entry, arguments: tuple[Array, ...]) -> Observation:
        """The same: nothing here sees an access."""
        return self.run(entry, arguments)

    def traffic(self, entry: Entry, arguments: tuple[Array, ...], *, counted: bool = True) -> Observation:  # noqa: ARG002
        """Nothing: bytes are not counted here."""
        pytest.skip("bytes are not counted")

    def time(
        self,
        entry: Entry,  # noqa: ARG002
        cases: Sequence[tuple[Array, ...]],  # noqa: ARG002
        copy_bytes: int,  # noqa: ARG002
        rounds: int = TIMED_ROUNDS,  # noqa: ARG002
    ) -> tuple[Observation, ...]:
        """Nothing: no copy is timed beside it."""
        pytest.skip("nothing is timed")

    def evaluate(self, name: str, calls: tuple[tuple[Value, ...], ...]) -> tuple[Value, ...] | Fault:
        """A constant, or each call of a function."""
        try:
            found = getattr(self._module, name)
            return tuple(found(*call) for call in calls) if calls else (found,)
        except Exception as error:
            return Fault("runtime_error", "host", f"{type(error).__name__}: {error}"[:2000])

    def resources(self) -> tuple[Resources, ...]:
        """None."""
        return ()

    def notes(self) -> tuple[str, ...]:
        """None."""
        return ()

    def close(self) -> None:
        """Nothing: the process ends."""

    def _tensor(self, array: Array) -> Any:
        """A tensor of the array's layout, with what lies between its rows where that is not too much."""
        spec = spec_of(array)
        dtype = getattr(self._torch, spec.dtype)
        storage = self._torch.zeros(spec.storage_elements, dtype=dtype, device=self._device)
        owner = array
        while isinstance(owner.base, np.ndarray):
            owner = owner.base
        if owner.size == spec.storage_elements and owner.nbytes <= COPIED_WHOLE_BYTES and owner.flags.c_contiguous:
            storage.copy_(self._values(owner.reshape(-1)))
        view = storage.as_strided(spec.shape, spec.strides, spec.offset)
        if array.size and 0 not in spec.strides:
            view.copy_(self._values(np.ascontiguousarray(array)))
        return view

    def _values(self, array: Array) -> Any:
        if array.dtype == ml_dtypes.bfloat16:
            return self._torch.from_numpy(array.view(np.int16).copy()).view(self._torch.bfloat16)
        return self._torch.from_numpy(array.copy())

    def _array(self, tensor: Any) -> Array:
        host = tensor.detach().to("cpu")
        if host.dtype == self._torch.bfloat16:
            return np.asarray(host.view(self._torch.int16).numpy().view(ml_dtypes.bfloat16))
        return np.asarray(host.numpy())


if __name__ == "__main__":
    print(json.dumps(naive(Path(sys.argv[1]), sys.argv[2], sys.argv[3], int(sys.argv[4]))))
