"""The proxy through which hidden tests call a submission."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tritonkata.engine.arrays import spec_of
from tritonkata.engine.base import Engine
from tritonkata.hidden.asserts import CandidateFault, CheckFailed, assert_form, assert_no_fault
from tritonkata.model.answers import NEVER_ENDS, RAISES, Answer, Outcome, Value
from tritonkata.model.course import Entry, Kata
from tritonkata.model.faults import Fault
from tritonkata.model.observation import TRACER, Observation, Speed
from tritonkata.model.report import Case, Evidence, Mismatch

Array = NDArray[Any]


@dataclass(frozen=True)
class Call:
    """One call of the submission: what went in, and what came out (empty after a fault)."""

    check: str
    entry: str
    arguments: tuple[Array, ...]
    outputs: tuple[Array, ...]
    observation: Observation


@dataclass(frozen=True)
class TimedCall:
    """The speed of an entry point on a unit of this shape and dtype, timed by a check."""

    check: str
    entry: str
    shape: tuple[int, ...]
    dtype: str
    speed: Speed


@dataclass
class Candidate:
    """The submission, as a function of NumPy arrays.

    `calls` keeps every call with an output, for the diagnosis afterwards.
    """

    engine: Engine
    kata: Kata
    check: str = ""
    calls: list[Call] = field(default_factory=list)
    speeds: list[TimedCall] = field(default_factory=list)

    def __call__(self, *arguments: Array) -> Any:
        """Call the first entry point; see `call`."""
        return self.call(self.kata.file.entry_points[0].name, *arguments)

    def call(self, entry_name: str, *arguments: Array) -> Any:
        """Call an entry point and return its result, or a tuple of results.

        Raises:
            CheckFailed: there is no result, or its number, dtype, shape or layout is wrong.
        """
        entry = self._entry(entry_name)
        observation = self._observed(entry, arguments, self.engine.run(entry, arguments))
        assert_no_fault(observation)
        _assert_results(observation, entry, arguments[0])
        return observation.outputs[0] if len(entry.results) == 1 else observation.outputs

    def observe(self, *arguments: Array, entry: str | None = None) -> Observation:
        """Call without raising: faults, traffic and changed inputs are in the observation."""
        chosen = self._entry(entry)
        return self._observed(chosen, arguments, self.engine.run(chosen, arguments))

    def access(self, *arguments: Array, entry: str | None = None) -> Observation:
        """Call with every memory access checked and counted, on either engine."""
        chosen = self._entry(entry)
        observation = self._observed(chosen, arguments, self.engine.access(chosen, arguments))
        if observation.fault is not None and observation.fault.verdict == "skipped":
            assert_no_fault(observation)
        return observation

    def traffic(self, *arguments: Array, entry: str | None = None) -> Observation:
        """Call with its bytes counted, by the hardware where it can be trusted, else by the interpreter."""
        chosen = self._entry(entry)
        return self._observed(chosen, arguments, self.engine.traffic(chosen, arguments))

    def traffic_at_full_size(self, *arguments: Array, entry: str | None = None) -> Observation:
        """Call with its bytes counted by the hardware alone; there is no traffic where it cannot be trusted.

        The interpreter would take minutes. Not kept in `calls`: it is large, and no diagnosis needs it.
        """
        return self.engine.traffic(self._entry(entry), arguments, counted=False)

    def time(self, *cases: tuple[Array, ...], entry: str | None = None) -> tuple[Observation, ...]:
        """Call over and over, the cases in turn, beside copies that move as many bytes as the kata's par.

        All cases have one layout. These calls are not kept in `calls`: they are large, and no diagnosis needs them.

        Raises:
            CandidateFault: there is no result.
            CheckFailed: the number of results is wrong.
        """
        chosen = self._entry(entry)
        unit = cases[0][chosen.parameters.index(self.kata.file.traffic.unit)]
        observations = self.engine.time(chosen, cases, round(self.kata.file.traffic.par * unit.nbytes))
        for observation in observations:
            assert_no_fault(observation)
            _assert_count(observation, chosen)
            if observation.speed is not None:
                self.speeds.append(TimedCall(self.check, chosen.name, unit.shape, str(unit.dtype), observation.speed))
        return observations

    def value(self, name: str) -> Outcome:
        """A constant of the submission, or why it has none.

        Raises:
            CandidateFault: nothing came back.
        """
        return self.values(name, ())[0]

    def values(self, name: str, calls: Sequence[tuple[Value, ...]]) -> tuple[Outcome, ...]:
        """What a plain function of the submission gives for each call, or why it gives nothing.

        Raises:
            CandidateFault: nothing came back: it did not end in time, or it ended the process.
        """
        found = self.engine.evaluate(name, tuple(calls))
        if isinstance(found, Fault):
            raise CandidateFault(found, Answer(name, "", NEVER_ENDS if found.verdict == "timeout" else RAISES))
        return found

    def compile(self, *arguments: Array, entry: str | None = None) -> None:
        """Compile for these layouts.

        Raises:
            CandidateFault: the host code or the compiler refused.
        """
        chosen = self._entry(entry)
        plan = self.engine.compile(chosen, arguments)
        if isinstance(plan, Fault):
            self._observed(chosen, arguments, Observation(TRACER, fault=plan))
            raise CandidateFault(plan)

    def _entry(self, name: str | None) -> Entry:
        entries = self.kata.file.entry_points
        if name is None:
            return entries[0]
        return next(entry for entry in entries if entry.name == name)

    def _observed(self, entry: Entry, arguments: tuple[Array, ...], observation: Observation) -> Observation:
        self.calls.append(Call(self.check, entry.name, arguments, observation.outputs, observation))
        return observation


def case_of(call: Call) -> Case:
    """The layout of a call's input, for the report."""
    specs = [spec_of(argument) for argument in call.arguments]
    return Case(
        entry=call.entry,
        shapes=tuple(spec.shape for spec in specs),
        dtypes=tuple(spec.dtype for spec in specs),
        strides=tuple(spec.strides for spec in specs),
    )


def _assert_count(observation: Observation, entry: Entry) -> None:
    wanted, got = len(entry.results), len(observation.outputs)
    if wanted != got or (wanted > 1 and not observation.returned_tuple):
        mismatch = Mismatch(kind="count", expected_text=f"{wanted} tensors", got_text=f"{got}")
        raise CheckFailed(
            "invalid_output",
            f"{entry.name} returns {got} tensors, it must return {wanted}",
            Evidence(mismatch=mismatch),
        )


def _assert_results(observation: Observation, entry: Entry, first: Array) -> None:
    _assert_count(observation, entry)
    shape = first.shape if entry.result_shape == "input" else first.shape[:1]
    dtype = first.dtype if entry.result_dtype == "input" else np.dtype(np.float32)
    for output in observation.outputs:
        assert_form(output, shape, dtype)
    if observation.unwritten:
        hole = observation.unwritten[0]
        what = "one element was" if hole.count == 1 else f"{hole.count} elements were"
        message = f"{what} never written in the result, first at {hole.first}"
        raise CheckFailed("uninitialised_read", message, Evidence(unwritten=observation.unwritten))
