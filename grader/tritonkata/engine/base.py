"""What hidden tests see of an engine, and what all engines share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from numpy.typing import NDArray

from tritonkata.boundary.messages import Trace, Traced
from tritonkata.engine.ahead import Ahead, Layout
from tritonkata.engine.arrays import spec_of
from tritonkata.engine.client import UntrustedWorker
from tritonkata.engine.recompiling import Recompiler
from tritonkata.model.answers import Outcome, Value
from tritonkata.model.course import Entry, Limits
from tritonkata.model.faults import Fault
from tritonkata.model.observation import Observation, Resources
from tritonkata.model.plan import LaunchPlan
from tritonkata.model.report import Engine as EngineReport

Array = NDArray[Any]
TIMED_ROUNDS = 10


class Engine(Protocol):
    """Runs one submission, case by case.

    Hidden tests do not know which engine ran. All methods may raise
    `GraderError`; what the submission does wrong is data in the observation.
    """

    def describe(self) -> EngineReport:
        """Name, device and versions, for the report."""

    def load(self) -> None:
        """Import the submission wherever this engine runs it.

        Raises:
            LoadFailed: it cannot be imported, or an entry point is missing.
        """

    def compile(self, entry: Entry, arguments: tuple[Array, ...]) -> LaunchPlan | Fault:
        """Trace the entry point for these layouts; no values are looked at."""

    def run(self, entry: Entry, arguments: tuple[Array, ...]) -> Observation:
        """Run one case the way this engine does."""

    def access(self, entry: Entry, arguments: tuple[Array, ...]) -> Observation:
        """Run one case with every memory access checked and counted."""

    def traffic(self, entry: Entry, arguments: tuple[Array, ...], *, counted: bool = True) -> Observation:
        """Run one case and count its bytes with the best source that this engine has.

        The outputs and faults are those of `access`; `traffic` is from hardware counters where they can be trusted.
        With `counted` False the interpreter is not asked where the hardware is: it takes minutes for large inputs.
        Then there are no outputs, and no count of each tensor.
        """

    def time(
        self, entry: Entry, cases: Sequence[tuple[Array, ...]], copy_bytes: int, rounds: int = TIMED_ROUNDS
    ) -> tuple[Observation, ...]:
        """Time one call beside copies that move `copy_bytes`, read plus written; the cases take turns.

        All cases have one layout. Each observation has the outputs of its case, and all have the same `speed`,
        or a reason in `absent["speed"]` where nothing can be timed.
        """

    def evaluate(self, name: str, calls: tuple[tuple[Value, ...], ...]) -> tuple[Outcome, ...] | Fault:
        """The value of a constant of the submission, or of each call of one of its plain functions.

        A fault stands in the place of one value, or for all where nothing came back.

        Runs in the sandbox, on every engine: a worksheet needs no GPU.
        """

    def resources(self) -> tuple[Resources, ...]:
        """Registers, spills and shared memory of every kernel compiled so far."""

    def notes(self) -> tuple[str, ...]:
        """What the learner should know about how this ran."""

    def printed(self) -> str:
        """The beginning of what the submission printed where it has no values of hidden inputs; known after `close`."""

    def close(self) -> None:
        """End every process."""


class Tracer:
    """Launch plans of one submission, each layout traced once, and not where `ahead` has its plan."""

    def __init__(
        self, worker: UntrustedWorker, limits: Limits, recompiler: Recompiler | None = None, ahead: Ahead | None = None
    ) -> None:
        self.worker = worker
        self._limits = limits
        self._recompiler = recompiler
        self._ahead = ahead or Ahead()
        self._plans: dict[Layout, LaunchPlan | Fault] = {}

    def trace(self, entry: Entry, arguments: tuple[Array, ...]) -> LaunchPlan | Fault:
        """The plan for these layouts, or why there is none."""
        return self.plan(entry, Layout(entry.name, tuple(spec_of(argument) for argument in arguments)))

    def plan(self, entry: Entry, layout: Layout) -> LaunchPlan | Fault:
        """The same, for arguments that need not exist."""
        if layout not in self._plans:
            plan = self._ahead.plan(layout) or self._ask(entry, layout)
            checked = plan if isinstance(plan, Fault) or self._recompiler is None else self._recompiler.compared(plan)
            self._plans[layout] = checked
        return self._plans[layout]

    def resources(self) -> tuple[Resources, ...]:
        """One row for each different kernel of all plans, the largest use of each first seen."""
        found: dict[tuple[object, ...], Resources] = {}
        for plan in self._plans.values():
            if isinstance(plan, Fault):
                continue
            for kernel in plan.kernels:
                row = Resources(
                    kernel=kernel.name,
                    target=plan.target,
                    num_warps=kernel.num_warps,
                    shared_bytes=kernel.shared_bytes,
                    registers=kernel.registers,
                    spilled_bytes=kernel.spilled_bytes,
                )
                found.setdefault((row.kernel, row.num_warps, row.shared_bytes, row.registers), row)
        return tuple(found.values())

    def _ask(self, entry: Entry, layout: Layout) -> LaunchPlan | Fault:
        message = Trace(entry.name, entry.parameters, layout.arguments, self._limits.compile_seconds)
        reply = self.worker.request(message, (), seconds=self._limits.compile_seconds, phase="compile")
        if isinstance(reply, Fault):
            return reply
        if not isinstance(reply.message, Traced):
            return Fault(verdict="runtime_error", phase="protocol", message="the trace gave no launch plan")
        return reply.message.plan
