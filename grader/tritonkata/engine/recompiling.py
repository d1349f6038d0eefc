"""Proof that a kernel is Triton's: it is compiled again from its TTIR, in a sandbox where the submission never was."""

from __future__ import annotations

from collections.abc import Callable

from tritonkata.boundary.channel import ChannelError
from tritonkata.boundary.messages import Failed, Ready, Recompile, Recompiled, RecompilerReply
from tritonkata.boundary.process import WorkerProcess
from tritonkata.engine.client import GRACE_SECONDS, START_SECONDS, GraderError
from tritonkata.model.faults import Fault
from tritonkata.model.plan import Kernel, LaunchPlan, Origin

RECOMPILER = "tritonkata.worker.recompiler"


class Recompiler:
    """Compares the kernels of one submission's plans. `take` gives a process of `RECOMPILER` that nobody has used."""

    def __init__(self, take: Callable[[], WorkerProcess], seconds: float) -> None:
        self._take = take
        self._seconds = seconds
        self._process: WorkerProcess | None = None
        self._same: set[tuple[str, bytes, str]] = set()

    def compared(self, plan: LaunchPlan) -> LaunchPlan | Fault:
        """The plan, or why one of its kernels cannot be believed. Raises `GraderError` if that cannot be told."""
        for kernel in plan.kernels:
            problem = self._difference(plan.target, kernel)
            if problem:
                return Fault(
                    verdict="runtime_error",
                    phase="compile",
                    message=f"the kernel {kernel.name} is not what Triton's compiler makes: {problem}",
                    advice="Leave the compiler as it is, and write the kernel with @triton.jit.",
                )
        return plan

    def note(self) -> str:
        """How far it has come, for the report."""
        count = len(self._same)
        return (
            f"compiled again in a clean process, with the same result: {count} {'kernel' if count == 1 else 'kernels'}"
        )

    def end(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.end()
            self._process = None

    def _difference(self, target: str, kernel: Kernel) -> str:
        if not kernel.cubin:
            return ""  # nothing that a GPU here could run
        if kernel.origin is None or not kernel.origin.ttir:
            return "it came without its TTIR"
        key = (target, kernel.cubin, kernel.origin.ttir)
        if key in self._same:
            return ""
        answer = self._asked(target, kernel.origin)
        if isinstance(answer, str):
            return answer
        if answer.cubin != kernel.cubin:
            return "its TTIR compiles to something else"
        self._same.add(key)
        return ""

    def _asked(self, target: str, origin: Origin) -> Recompiled | str:
        process = self._ready()
        try:
            process.channel.send(Recompile(target, origin), seconds=GRACE_SECONDS)
            message = process.channel.receive(RecompilerReply, seconds=self._seconds + GRACE_SECONDS).message
        except ChannelError as error:
            self.end()
            return f"its TTIR cannot be compiled ({error})"
        if isinstance(message, Failed):
            return message.fault.message
        return message if isinstance(message, Recompiled) else "its TTIR cannot be compiled"

    def _ready(self) -> WorkerProcess:
        if self._process is not None:
            return self._process
        self._process = self._take()
        try:
            greeting = self._process.channel.receive(RecompilerReply, seconds=START_SECONDS).message
        except ChannelError as error:
            output = self._process.output().strip()
            self.end()
            raise GraderError(f"{RECOMPILER} did not start: {error}\n{output[-2000:]}".rstrip()) from error
        if not isinstance(greeting, Ready):
            self.end()
            raise GraderError(f"{RECOMPILER} did not start: its first message was no greeting; run `kata doctor`")
        return self._process
