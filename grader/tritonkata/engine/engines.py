"""The two engines, and the choice between them."""

from __future__ import annotations

import json
import platform
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from numpy.typing import NDArray

from tritonkata.boundary.messages import DeviceFigures, InterpreterReply, Load, TracerReply
from tritonkata.boundary.sandbox import SandboxUnavailable, find_bubblewrap
from tritonkata.engine.base import Engine, Tracer
from tritonkata.engine.client import UntrustedWorker
from tritonkata.engine.interpreting import Interpreter
from tritonkata.engine.launching import Launcher
from tritonkata.model.course import Entry, Kata
from tritonkata.model.faults import Fault
from tritonkata.model.observation import Observation, Resources
from tritonkata.model.plan import LaunchPlan
from tritonkata.model.report import Engine as EngineReport

Array = NDArray[Any]
EngineName = Literal["auto", "gpu", "interpreter"]
TARGETS = ("sm_80", "sm_90", "sm_100", "gfx942")
PROBE_SECONDS = 30.0


@dataclass(frozen=True)
class Plan:
    """What is to be run, before any process is started."""

    kata: Kata
    filename: str
    source: bytes
    target: str
    hidden: tuple[Path, ...]


class _Shared:
    """The tracer and the interpreter worker of one submission, both started at once."""

    def __init__(self, plan: Plan, device: Callable[[], DeviceFigures], target: Callable[[DeviceFigures], str]) -> None:
        self.notes: list[str] = []
        bubblewrap = self._bubblewrap()
        limits = plan.kata.file.limits

        def load() -> Load:
            figures = device()
            return _load(plan, figures, target(figures))

        def worker(module: str, replies: Any) -> UntrustedWorker:
            return UntrustedWorker(f"tritonkata.worker.{module}", replies, load, bubblewrap, plan.hidden)

        self.tracer = Tracer(worker("tracer", TracerReply), limits)
        self.interpreter = Interpreter(worker("interpreter", InterpreterReply), limits)
        self.tracer.worker.start()
        self.interpreter.worker.start()

    def versions(self) -> tuple[str | None, str | None]:
        ready = self.tracer.worker.ready or self.interpreter.worker.ready
        return (ready.triton, ready.torch) if ready else (None, None)

    def all_notes(self) -> tuple[str, ...]:
        gathered = [*self.notes, *self.tracer.worker.notes, *self.interpreter.worker.notes]
        return tuple(dict.fromkeys(gathered))

    def close(self) -> None:
        self.tracer.worker.end()
        self.interpreter.worker.end()

    def _bubblewrap(self) -> str | None:
        try:
            return find_bubblewrap()
        except SandboxUnavailable as error:
            self.notes.append(f"no sandbox, only process limits: {error}")
            return None


class InterpreterEngine:
    """Machines without a GPU: the interpreter runs, the compiler is asked as well."""

    def __init__(self, plan: Plan) -> None:
        self._target = plan.target
        self._shared = _Shared(plan, DeviceFigures, lambda _: plan.target)

    def describe(self) -> EngineReport:
        """Name, processor and versions."""
        triton, torch = self._shared.versions()
        return EngineReport("interpreter", processor_name(), self._target, triton, torch)

    def load(self) -> None:
        """Import the submission in both workers."""
        self._shared.tracer.worker.ensure_loaded()
        self._shared.interpreter.worker.ensure_loaded()

    def compile(self, entry: Entry, arguments: tuple[Array, ...]) -> LaunchPlan | Fault:
        """Trace for the target, without a device."""
        return self._shared.tracer.trace(entry, arguments)

    def run(self, entry: Entry, arguments: tuple[Array, ...]) -> Observation:
        """Run in the interpreter; where a kernel crashes there, the compiler is asked for its opinion.

        The compiler's message is the better one, and the only one that a
        learner with a GPU would see.
        """
        observation = self._shared.interpreter.run(entry, arguments)
        fault = observation.fault
        if fault is not None and fault.phase == "kernel" and fault.verdict in ("runtime_error", "skipped"):
            plan = self.compile(entry, arguments)
            if isinstance(plan, Fault) and plan.verdict == "compile_error":
                return replace(observation, fault=plan)
        return observation

    def access(self, entry: Entry, arguments: tuple[Array, ...]) -> Observation:
        """The same: every interpreter run is checked."""
        return self.run(entry, arguments)

    def resources(self) -> tuple[Resources, ...]:
        """From the traces."""
        return self._shared.tracer.resources()

    def notes(self) -> tuple[str, ...]:
        """Of both workers, and a missing sandbox."""
        return self._shared.all_notes()

    def close(self) -> None:
        """End both workers."""
        self._shared.close()


class GpuEngine:
    """Trace in the sandbox, replay on the GPU; the interpreter only counts and checks accesses."""

    def __init__(self, plan: Plan) -> None:
        self._launcher = Launcher(plan.kata.file.limits)
        self._launcher.start()
        self._shared = _Shared(plan, lambda: self._launcher.ready.device, _target_of)

    def describe(self) -> EngineReport:
        """Name, card and versions."""
        triton, torch = self._shared.versions()
        return EngineReport(
            "gpu", self._launcher.ready.device.name, _target_of(self._launcher.ready.device), triton, torch
        )

    def load(self) -> None:
        """Import the submission in the tracer, once there is a GPU."""
        _ = self._launcher.ready
        self._shared.tracer.worker.ensure_loaded()

    def compile(self, entry: Entry, arguments: tuple[Array, ...]) -> LaunchPlan | Fault:
        """Trace for this card."""
        return self._shared.tracer.trace(entry, arguments)

    def run(self, entry: Entry, arguments: tuple[Array, ...]) -> Observation:
        """Trace, validate, replay."""
        plan = self.compile(entry, arguments)
        if isinstance(plan, Fault):
            return Observation("gpu", fault=plan)
        return self._launcher.replay(plan, arguments)

    def access(self, entry: Entry, arguments: tuple[Array, ...]) -> Observation:
        """Run in the interpreter on this machine."""
        return self._shared.interpreter.run(entry, arguments)

    def resources(self) -> tuple[Resources, ...]:
        """From the traces."""
        return self._shared.tracer.resources()

    def notes(self) -> tuple[str, ...]:
        """Of all workers, and a missing sandbox."""
        return self._shared.all_notes()

    def close(self) -> None:
        """End all processes."""
        self._shared.close()
        self._launcher.end()


def open_engine(name: EngineName, plan: Plan) -> Engine:
    """The engine asked for; `auto` takes the GPU where one answers.

    Raises:
        GraderError: a process could not be started. A GPU that was asked for
            and is not there shows when the engine is first used.
    """
    if name == "gpu" or (name == "auto" and gpu_problem() is None):
        return GpuEngine(plan)
    return InterpreterEngine(plan)


def _load(plan: Plan, device: DeviceFigures, target: str) -> Load:
    return Load(
        filename=plan.filename,
        source=plan.source,
        entry_points=tuple(entry.name for entry in plan.kata.file.entry_points),
        target=target,
        device=device,
        seconds=plan.kata.file.limits.load_seconds,
    )


def _target_of(device: DeviceFigures) -> str:
    return f"sm_{device.capability[0]}{device.capability[1]}"


def gpu_problem() -> str | None:
    """Why the GPU engine cannot run here, or None. Asked in a process of its own."""
    command = [sys.executable, "-m", "tritonkata.launcher", "--probe"]
    try:
        done = subprocess.run(command, capture_output=True, timeout=PROBE_SECONDS, check=False, cwd="/")
        answer = json.loads(done.stdout.decode(errors="replace").strip().splitlines()[-1])
    except (OSError, subprocess.TimeoutExpired, ValueError, IndexError) as error:
        return f"the probe failed: {error}"
    return None if done.returncode == 0 else str(answer.get("error", "unknown"))


def processor_name() -> str:
    """The processor's name, as Linux gives it."""
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()
