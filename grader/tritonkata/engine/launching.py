"""Replays of launch plans in the trusted launcher process."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from tritonkata.boundary.channel import ChannelClosed, ChannelError, DeadlinePassed
from tritonkata.boundary.messages import Failed, LauncherReady, LauncherReply, Replay, Replayed
from tritonkata.boundary.process import WorkerProcess, start_trusted
from tritonkata.boundary.validate import validate
from tritonkata.engine.arrays import many_from_wire, many_to_wire
from tritonkata.engine.client import GraderError
from tritonkata.engine.interpreting import alias_fault
from tritonkata.model.course import Limits
from tritonkata.model.faults import Access, Fault
from tritonkata.model.observation import Observation
from tritonkata.model.plan import InvalidPlan, Launch, LaunchPlan

Array = NDArray[Any]

START_SECONDS = 60.0
POISONS = bytes((0xFF, 0x7B))
"""0xFF is NaN in every float type; 0x7B gives large finite numbers (1.3e36 in float32 and bfloat16)."""


class Launcher:
    """One GPU. The process is started again after a fault that poisons its context."""

    def __init__(self, limits: Limits, device_index: int = 0) -> None:
        self._limits = limits
        self._device_index = device_index
        self._process: WorkerProcess | None = None
        self._ready: LauncherReady | None = None

    def start(self) -> None:
        """Start the process without waiting for it."""
        if self._process is None:
            self._process = start_trusted("tritonkata.launcher", [str(self._device_index)])
            self._ready = None

    @property
    def ready(self) -> LauncherReady:
        """The device's figures; waits for the process.

        Raises:
            GraderError: there is no usable GPU, or the launcher did not start.
        """
        self.start()
        if self._ready is None:
            assert self._process is not None
            try:
                frame = self._process.channel.receive(LauncherReply, seconds=START_SECONDS)
            except ChannelError as error:
                output = self._process.output().strip()
                self.end()
                raise GraderError(f"the launcher did not start: {error}\n{output[-2000:]}".rstrip()) from error
            if not isinstance(frame.message, LauncherReady):
                self.end()
                reason = frame.message.fault.message if isinstance(frame.message, Failed) else "no greeting came"
                raise GraderError(f"no GPU can be used: {reason}; run `kata doctor`, or use --engine interpreter")
            self._ready = frame.message
        return self._ready

    def replay(self, plan: LaunchPlan, arguments: tuple[Array, ...]) -> Observation:
        """Validate the plan, run it on fresh poisoned buffers, and say what came of it."""
        tensors, blobs = many_to_wire(arguments)
        try:
            validate(plan, tuple(tensor.spec for tensor in tensors), self.ready.device)
        except InvalidPlan as error:
            return Observation("gpu", fault=_invalid_plan(str(error)))
        if any(view.buffer < plan.n_inputs for view in plan.outputs):
            return Observation("gpu", fault=alias_fault())
        return self._run(Replay(plan, tensors, POISONS), blobs)

    def end(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.end()
            self._process = None
            self._ready = None

    def _run(self, message: Replay, blobs: list[memoryview | bytes]) -> Observation:
        assert self._process is not None
        channel = self._process.channel
        try:
            channel.send(message, blobs, seconds=self._limits.case_seconds)
            frame = channel.receive(LauncherReply, seconds=self._limits.case_seconds)
        except DeadlinePassed:
            self.end()
            text = f"the kernel did not end within {self._limits.case_seconds:g} seconds"
            return Observation("gpu", fault=Fault(verdict="timeout", phase="kernel", message=text))
        except ChannelClosed:
            output = self._process.output().strip()[-500:]
            self.end()
            raise GraderError(f"the launcher ended during a replay: {output}") from None
        if isinstance(frame.message, Failed):
            if frame.message.fault.phase == "kernel":
                self._restart_if_ended()
            return Observation("gpu", fault=frame.message.fault)
        if not isinstance(frame.message, Replayed):
            raise GraderError("the launcher answered with an unexpected message")
        return _observation(frame.message, many_from_wire(frame.message.outputs, frame.blobs), message)

    def _restart_if_ended(self) -> None:
        # After an illegal access the launcher ends itself, a moment after its answer.
        self.end()
        self.start()


def _observation(reply: Replayed, outputs: tuple[Array, ...], message: Replay) -> Observation:
    fault = _guard_fault(reply, message) if reply.guard_hits else None
    return Observation(
        "gpu",
        outputs=outputs,
        fault=fault,
        inputs_changed=reply.inputs_changed,
        unwritten=reply.unwritten,
        launches=sum(isinstance(step, Launch) for step in message.plan.steps),
        returned_tuple=message.plan.returned_tuple,
        absent={"traffic": "not counted in this run"},
    )


def _guard_fault(reply: Replayed, message: Replay) -> Fault:
    name, offset = reply.guard_hits[0]
    size = next((buffer.nbytes for buffer in message.plan.buffers if buffer.name == name), 0)
    step = 4
    for view in message.plan.outputs:
        if message.plan.buffers[view.buffer].name == name:
            step = view.spec.itemsize
    for index, tensor in enumerate(message.arguments):
        if message.plan.buffers[index].name == name:
            step = tensor.spec.itemsize
    access = Access(operation="store", tensor=name, element=offset // step, storage_elements=size // step, program=())
    where = "before its first element" if offset < 0 else "past its last element"
    return Fault(
        verdict="out_of_bounds",
        phase="kernel",
        message=f"a kernel wrote to memory beside {name}, {where}",
        access=access,
    )


def _invalid_plan(reason: str) -> Fault:
    return Fault(verdict="runtime_error", phase="host", message=f"the launch cannot be run: {reason}")
