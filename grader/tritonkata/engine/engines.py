"""The two engines, and the choice between them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal

from numpy.typing import NDArray

from tritonkata.boundary.messages import Counted, DeviceFigures
from tritonkata.engine.base import TIMED_ROUNDS, Engine
from tritonkata.engine.launching import Launcher, with_hardware_traffic
from tritonkata.engine.machine import gpu_problem, processor_name
from tritonkata.engine.station import Station
from tritonkata.engine.workers import Assignment, Workers
from tritonkata.model.answers import Outcome, Value
from tritonkata.model.course import Entry
from tritonkata.model.faults import Fault
from tritonkata.model.observation import INTERPRETER, LAUNCHER, TRACER, Observation, Resources
from tritonkata.model.plan import LaunchPlan
from tritonkata.model.report import Engine as EngineReport

Array = NDArray[Any]
EngineName = Literal["auto", "gpu", "interpreter"]
DEFAULT_TARGET = "sm_90"
LOCATED_ELEMENTS = 1 << 20


class InterpreterEngine:
    """Machines without a GPU: the interpreter runs, the compiler is asked as well."""

    def __init__(self, assignment: Assignment, station: Station | None = None) -> None:
        self._target = assignment.target or DEFAULT_TARGET
        self._discreet = assignment.discreet
        self._workers = Workers(assignment, DeviceFigures, (station or Station()).stock)
        self._interpreter = self._workers.interpreter
        self._tracer = self._workers.tracer(lambda _: self._target, assignment.ahead)

    def describe(self) -> EngineReport:
        """Name, processor and versions."""
        return EngineReport("interpreter", processor_name(), self._target, *self._workers.versions())

    def load(self) -> None:
        """Import the submission in both workers."""
        self._tracer.worker.ensure_loaded()
        self._interpreter.worker.ensure_loaded()

    def compile(self, entry: Entry, arguments: tuple[Array, ...]) -> LaunchPlan | Fault:
        """Trace for the target, without a device."""
        return self._tracer.trace(entry, arguments)

    def run(self, entry: Entry, arguments: tuple[Array, ...]) -> Observation:
        """Run in the interpreter; where a kernel crashes there, the compiler is asked for its opinion.

        The compiler's message is the better one, and the only one that a
        learner with a GPU would see.
        """
        observation = self._interpreter.run(entry, arguments)
        fault = observation.fault
        if fault is not None and fault.phase == "kernel" and fault.verdict in ("runtime_error", "skipped"):
            plan = self.compile(entry, arguments)
            if isinstance(plan, Fault) and plan.verdict == "compile_error":
                return replace(observation, fault=plan)
        if fault is not None and fault.phase == "host" and self._discreet:
            # The tracer has no values, so its words can be shown; host code mostly fails there as well.
            plan = self.compile(entry, arguments)
            if isinstance(plan, Fault) and plan.verdict == fault.verdict:
                return replace(observation, fault=plan)
        return observation

    def access(self, entry: Entry, arguments: tuple[Array, ...]) -> Observation:
        """The same: every interpreter run is checked."""
        return self.run(entry, arguments)

    def traffic(
        self,
        entry: Entry,
        arguments: tuple[Array, ...],
        *,
        counted: bool = True,  # noqa: ARG002 - only engines with hardware counters have the choice
    ) -> Observation:
        """The same: every interpreter run is counted."""
        return self.run(entry, arguments)

    def time(
        self,
        entry: Entry,  # noqa: ARG002 - nothing is run
        cases: Sequence[tuple[Array, ...]],
        copy_bytes: int,  # noqa: ARG002
        rounds: int = TIMED_ROUNDS,  # noqa: ARG002
    ) -> tuple[Observation, ...]:
        """Nothing: the interpreter's time says nothing of a GPU's."""
        return tuple(Observation(INTERPRETER, absent={"speed": "needs a GPU"}) for _ in cases)

    def evaluate(self, name: str, calls: tuple[tuple[Value, ...], ...]) -> tuple[Outcome, ...] | Fault:
        """In a worker of its own."""
        return self._workers.answers.evaluate(name, calls)

    def resources(self) -> tuple[Resources, ...]:
        """From the traces."""
        return self._tracer.resources()

    def notes(self) -> tuple[str, ...]:
        """Of both workers, and a missing sandbox."""
        return self._workers.notes()

    def printed(self) -> str:
        """What the tracer's process printed."""
        return self._workers.printed()

    def close(self) -> None:
        """End both workers."""
        self._workers.close()


class GpuEngine:
    """Trace in the sandbox, replay on the GPU; the interpreter only counts and checks accesses.

    A target other than the card's is compiled for as well, and not run.
    """

    def __init__(self, assignment: Assignment, station: Station | None = None) -> None:
        station = station or Station()
        self._launcher = Launcher(assignment.limits, station.host)
        self._launcher.start()
        self._workers = Workers(assignment, lambda: self._launcher.device, station.stock)
        self._interpreter = self._workers.interpreter
        self._tracer = self._workers.tracer(_target_of, assignment.ahead)
        other = assignment.target
        self._other = self._workers.tracer(lambda _: str(other)) if other is not None else None

    def describe(self) -> EngineReport:
        """Name, card and versions."""
        device = self._launcher.device
        return EngineReport("gpu", device.name, _target_of(device), *self._workers.versions())

    def load(self) -> None:
        """Import the submission in the tracer, once there is a GPU."""
        _ = self._launcher.device
        self._tracer.worker.ensure_loaded()

    def compile(self, entry: Entry, arguments: tuple[Array, ...]) -> LaunchPlan | Fault:
        """Trace for this card, and for the other target where one was asked for."""
        plan = self._tracer.trace(entry, arguments)
        if self._other is not None and not isinstance(plan, Fault):
            other = self._other.trace(entry, arguments)
            return other if isinstance(other, Fault) else plan
        return plan

    def run(self, entry: Entry, arguments: tuple[Array, ...]) -> Observation:
        """Trace, validate, replay."""
        plan = self._tracer.trace(entry, arguments)
        if isinstance(plan, Fault):
            return Observation(TRACER, fault=plan)
        observation = self._launcher.replay(plan, arguments)
        if observation.fault is not None and observation.fault.verdict == "out_of_bounds":
            return self._located(observation, entry, arguments)
        return observation

    def _located(self, observation: Observation, entry: Entry, arguments: tuple[Array, ...]) -> Observation:
        """A stray access that the GPU noticed, with the line and the program that the interpreter sees.

        Guard zones tell that something was written beside a tensor, and not by which line.
        """
        if sum(argument.size for argument in arguments) > LOCATED_ELEMENTS:
            return observation
        fault = self._interpreter.run(entry, arguments).fault
        if fault is None or fault.verdict not in ("out_of_bounds", "race"):
            return observation
        return replace(observation, fault=fault)

    def access(self, entry: Entry, arguments: tuple[Array, ...]) -> Observation:
        """Run in the interpreter on this machine; what that cannot run is judged by the launcher's guard zones."""
        observation = self._interpreter.run(entry, arguments)
        if observation.fault is not None and observation.fault.verdict == "skipped":
            # Or is said not to: a worker's word takes no check out of the grade.
            return self.run(entry, arguments)
        return observation

    def traffic(self, entry: Entry, arguments: tuple[Array, ...], *, counted: bool = True) -> Observation:
        """Bytes from the hardware's counters, with the interpreter's count of each tensor beside them.

        Without counters that can be trusted the interpreter's count stands for them, and says why.
        """
        observation = self._interpreter.run(entry, arguments) if counted else Observation(LAUNCHER)
        if observation.fault is not None and observation.fault.verdict == "skipped":
            # What the interpreter cannot run, or is said not to, the hardware counts all the same.
            observation = Observation(LAUNCHER)
        if observation.fault is not None:
            return observation
        plan = self._tracer.trace(entry, arguments)
        if isinstance(plan, Fault):
            return Observation(TRACER, fault=plan)
        answer = self._launcher.count(plan, arguments)
        if isinstance(answer, Fault):
            return Observation(LAUNCHER, fault=answer)
        return with_hardware_traffic(observation, answer)

    def count(self, entry: Entry, arguments: tuple[Array, ...]) -> Counted | Fault:
        """What the hardware alone counts, with the raw values of each launch."""
        plan = self._tracer.trace(entry, arguments)
        return plan if isinstance(plan, Fault) else self._launcher.count(plan, arguments)

    def time(
        self, entry: Entry, cases: Sequence[tuple[Array, ...]], copy_bytes: int, rounds: int = TIMED_ROUNDS
    ) -> tuple[Observation, ...]:
        """Trace once, then time in the launcher beside copies."""
        plan = self._tracer.trace(entry, cases[0])
        if isinstance(plan, Fault):
            return tuple(Observation(TRACER, fault=plan) for _ in cases)
        return self._launcher.time(plan, cases, copy_bytes, rounds)

    def evaluate(self, name: str, calls: tuple[tuple[Value, ...], ...]) -> tuple[Outcome, ...] | Fault:
        """In a worker of its own."""
        return self._workers.answers.evaluate(name, calls)

    def resources(self) -> tuple[Resources, ...]:
        """From the traces."""
        other = self._other.resources() if self._other is not None else ()
        return (*self._tracer.resources(), *other)

    def notes(self) -> tuple[str, ...]:
        """Of all workers, a missing sandbox, and a launcher that was started again in the middle."""
        return (*self._workers.notes(), *self._launcher.notes())

    def printed(self) -> str:
        """What the tracer's process printed."""
        return self._workers.printed()

    def close(self) -> None:
        """End all processes."""
        self._workers.close()
        self._launcher.end()


def open_engine(name: EngineName, assignment: Assignment, station: Station | None = None) -> Engine:
    """The engine asked for; `auto` takes the GPU where one answers. A station serves many engines, one at a time.

    Raises:
        GraderError: a process could not be started. A GPU that was asked for
            and is not there shows when the engine is first used.
    """
    if name == "gpu" or (name == "auto" and gpu_problem() is None):
        return GpuEngine(assignment, station)
    return InterpreterEngine(assignment, station)


def _target_of(device: DeviceFigures) -> str:
    return f"sm_{device.capability[0]}{device.capability[1]}"
