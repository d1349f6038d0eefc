"""The untrusted workers of one submission, and what they are started with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tritonkata.boundary.messages import DeviceFigures, InterpreterReply, Load, TracerReply
from tritonkata.boundary.process import WorkerProcess
from tritonkata.boundary.sandbox import SandboxUnavailable, find_bubblewrap
from tritonkata.boundary.seccomp import SeccompUnavailable, filter_program
from tritonkata.engine.ahead import Ahead
from tritonkata.engine.answering import MAX_TIMEOUTS, Answers
from tritonkata.engine.base import Tracer
from tritonkata.engine.client import UntrustedWorker
from tritonkata.engine.discreet import NOTE, Discreet
from tritonkata.engine.interpreting import Interpreter
from tritonkata.engine.recompiling import RECOMPILER, Recompiler
from tritonkata.engine.stock import INTERPRETER, TRACER, Stock
from tritonkata.model.course import Entry, Kata, Limits

MAX_OUTPUT_BYTES = 1 << 30
"""All outputs of one case in the interpreter, whose cases are small."""


@dataclass(frozen=True)
class Assignment:
    """One file of kernels and what is called in it, before any process is started.

    `target` is what to compile for; None leaves it to the engine (sm_90
    without a GPU, the card with one). `hidden` are folders that no worker may see. With `recompile` each kernel is
    compiled again, where the submission never was, and must come out the same. With `discreet` nothing that a process
    with hidden values says is passed on in its own words. `ahead` are plans that were traced before.
    """

    entry_points: tuple[Entry, ...]
    limits: Limits
    filename: str
    source: bytes
    target: str | None = None
    hidden: tuple[Path, ...] = ()
    recompile: bool = False
    discreet: bool = False
    ahead: Ahead | None = None

    @classmethod
    def to_kata(cls, kata: Kata, filename: str, source: bytes, **how: Any) -> Assignment:
        """One submission to one kata, whose course is hidden; `how` are the other fields."""
        hidden = hidden_in(kata.root)
        return cls(kata.file.entry_points, kata.file.limits, filename, source, hidden=hidden, **how)


def hidden_in(root: Path) -> tuple[Path, ...]:
    """The folders of a course of which no worker may see anything."""
    return tuple(root / folder for folder in ("katas", "reference", "skeletons"))


class Workers:
    """Tracers and the interpreter worker; `device` is asked for once a worker stands."""

    def __init__(self, assignment: Assignment, device: Callable[[], DeviceFigures], stock: Stock) -> None:
        self._assignment = assignment
        self._stock = stock
        self._device = device
        self._tracers: list[Tracer] = []
        self._recompilers: list[Recompiler] = []
        self._notes: list[str] = []
        self._bubblewrap = self._find_bubblewrap()
        self._interpreter: Interpreter | None = None
        self._answers: Answers | None = None

    @property
    def interpreter(self) -> Interpreter:
        """The interpreter worker, started when it is first asked for."""
        if self._interpreter is None:
            discreet = _discreet(self._assignment) if self._assignment.discreet else None
            worker = self._worker(INTERPRETER, InterpreterReply, lambda _: "sm_90")
            worker.may_skip, worker.max_reply_bytes = True, MAX_OUTPUT_BYTES
            self._interpreter = Interpreter(worker, self._assignment.limits, discreet)
        return self._interpreter

    @property
    def answers(self) -> Answers:
        """One more interpreter worker, for worksheets alone: what it gives is shown, so it must not have had values."""
        if self._answers is None:
            discreet = _discreet(self._assignment) if self._assignment.discreet else None
            worker = self._worker(INTERPRETER, InterpreterReply, lambda _: "sm_90")
            worker.max_timeouts = MAX_TIMEOUTS
            self._answers = Answers(worker, discreet)
        return self._answers

    def tracer(self, target: Callable[[DeviceFigures], str], ahead: Ahead | None = None) -> Tracer:
        """One more tracer, started; `ahead` is told what it is asked for."""

        def noted(device: DeviceFigures) -> str:
            if ahead is not None:
                ahead.loaded(device, target(device))
            return target(device)

        worker = self._worker(TRACER, TracerReply, noted)
        tracer = Tracer(worker, self._assignment.limits, self._recompiler(), ahead)
        self._tracers.append(tracer)
        return tracer

    def versions(self) -> tuple[str | None, str | None]:
        """Triton's and torch's, once a worker has said them."""
        for worker in self._all():
            if worker.ready is not None:
                return worker.ready.triton, worker.ready.torch
        return None, None

    def notes(self) -> tuple[str, ...]:
        """Of all workers, and a missing sandbox; each once."""
        gathered = [*self._notes, *(note for worker in self._all() for note in worker.notes)]
        gathered += [NOTE] * self._assignment.discreet
        gathered += [recompiler.note() for recompiler in self._recompilers]
        return tuple(dict.fromkeys(gathered))

    def printed(self) -> str:
        """What the submission printed in a tracer, which has no values that it could tell; once that has ended.

        A second tracer, for another target, runs the same code.
        """
        return next((tracer.worker.printed for tracer in self._tracers if tracer.worker.printed), "")

    def close(self) -> None:
        """End all of them."""
        for worker in self._all():
            worker.end()
        for recompiler in self._recompilers:
            recompiler.end()

    def _recompiler(self) -> Recompiler | None:
        if not self._assignment.recompile:
            return None

        def take() -> WorkerProcess:
            return self._stock.take(RECOMPILER, self._bubblewrap, self._assignment.hidden)

        self._recompilers.append(Recompiler(take, self._assignment.limits.compile_seconds))
        return self._recompilers[-1]

    def _all(self) -> list[UntrustedWorker]:
        others = (self._interpreter, self._answers)
        return [*(tracer.worker for tracer in self._tracers), *(one.worker for one in others if one is not None)]

    def _worker(self, module: str, replies: Any, target: Callable[[DeviceFigures], str]) -> UntrustedWorker:
        def load() -> Load:
            device = self._device()
            return _load(self._assignment, device, target(device))

        def take() -> WorkerProcess:
            return self._stock.take(module, self._bubblewrap, self._assignment.hidden)

        worker = UntrustedWorker(module, replies, load, take)
        worker.start()
        return worker

    def _find_bubblewrap(self) -> str | None:
        try:
            found = find_bubblewrap()
        except SandboxUnavailable as error:
            self._notes.append(f"no sandbox, only process limits: {error}")
            return None
        try:
            filter_program()
        except SeccompUnavailable as error:
            self._notes.append(f"a sandbox without a filter of system calls: {error}")
        return found


def _discreet(assignment: Assignment) -> Discreet:
    names = [name for entry in assignment.entry_points for name in (*entry.parameters, *entry.results)]
    return Discreet(assignment.source, names)


def _load(assignment: Assignment, device: DeviceFigures, target: str) -> Load:
    return Load(
        filename=assignment.filename,
        source=assignment.source,
        entry_points=tuple(entry.name for entry in assignment.entry_points),
        target=target,
        device=device,
        seconds=assignment.limits.load_seconds,
        keep_origins=assignment.recompile,
    )
