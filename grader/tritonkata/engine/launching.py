"""Replays of launch plans in the trusted launcher process."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import msgspec
from numpy.typing import NDArray

from tritonkata.boundary.channel import MAX_BLOBS, Channel, ChannelClosed, DeadlinePassed, Frame
from tritonkata.boundary.messages import (
    Count,
    Counted,
    DeviceFigures,
    Failed,
    LauncherReply,
    LauncherRequest,
    Replay,
    Replayed,
    Time,
    Timed,
)
from tritonkata.boundary.validate import validate
from tritonkata.engine.arrays import many_from_wire, many_to_wire
from tritonkata.engine.client import GraderError
from tritonkata.engine.hosting import Host, OwnHost
from tritonkata.engine.interpreting import alias_fault
from tritonkata.model.course import Limits
from tritonkata.model.faults import Access, Fault
from tritonkata.model.observation import LAUNCHER, Observation
from tritonkata.model.plan import InvalidPlan, Launch, LaunchPlan
from tritonkata.model.report import STARTED_AGAIN
from tritonkata.model.tensors import TensorData

Array = NDArray[Any]
Blobs = list[memoryview | bytes]

TIME_SECONDS = 60.0
COUNT_SECONDS = 120.0
"""Counting and timing run a plan some dozen times, so they have more time than one case.

Counting may also have to wait for the counters, while other processes have them (35 seconds, and before the first
count 50 for set-up and calibration), or for Nsight Compute. That must not become a timeout of the submission.
"""

POISONS = bytes((0xFF, 0x7B))
"""0xFF is NaN in every float type; 0x7B gives large finite numbers (1.3e36 in float32 and bfloat16)."""

_LIVES = 2
_ENDED = Fault(
    verdict="runtime_error",
    phase="kernel",
    message=f"the process that runs the kernel ended {_LIVES} times, each time at this case",
)
_LAUNCH_FAILED = "CUDA_ERROR_LAUNCH_FAILED"


class Launcher:
    """Replays, counts and times plans on one GPU, wherever its launcher lives."""

    def __init__(self, limits: Limits, host: Host | None = None) -> None:
        self._limits = limits
        self._host: Host = OwnHost() if host is None else host
        self._is_own = host is None
        self._notes: list[str] = []

    def start(self) -> None:
        """Start the launcher without waiting for it."""
        self._host.start()

    @property
    def device(self) -> DeviceFigures:
        """The GPU's figures; waits for the launcher.

        Raises:
            GraderError: there is no usable GPU, or the launcher did not start.
        """
        return self._host.ready().device

    def replay(self, plan: LaunchPlan, arguments: tuple[Array, ...]) -> Observation:
        """Validate the plan, run it on fresh poisoned buffers, and say what came of it."""
        tensors, blobs = many_to_wire(arguments)
        fault = self._invalid(plan, tensors)
        if fault is not None:
            return Observation(LAUNCHER, fault=fault)
        reply = self._ask(Replay(plan, tensors, POISONS), blobs, Replayed, self._limits.case_seconds)
        if isinstance(reply, Fault):
            return Observation(LAUNCHER, fault=reply)
        return _observation(reply.message, many_from_wire(reply.message.outputs, reply.blobs), plan, tensors)

    def count(self, plan: LaunchPlan, arguments: tuple[Array, ...]) -> Counted | Fault:
        """Validate the plan and count its bytes with hardware counters, where they can be trusted."""
        tensors, blobs = many_to_wire(arguments)
        fault = self._invalid(plan, tensors)
        if fault is not None:
            return fault
        request, seconds = Count(plan, tensors), COUNT_SECONDS + self._limits.case_seconds
        reply = self._ask(request, blobs, Counted, seconds)
        if reply == _ENDED:
            # The counters are the grader's, and a plan that ends the launcher by itself does so in a replay.
            return Counted(None, reason=f"the process that counts ended {_LIVES} times, each time at this case")
        if isinstance(reply, Fault):
            return reply
        answer: Counted = reply.message
        if answer.ends:
            # CUPTI had worked in that launcher and then failed. It may work in the next one.
            again = self._ask(request, blobs, Counted, seconds)
            if not isinstance(again, Fault) and again.message.traffic is not None:
                answer = again.message
        return answer

    def time(
        self, plan: LaunchPlan, cases: Sequence[tuple[Array, ...]], copy_bytes: int, rounds: int
    ) -> tuple[Observation, ...]:
        """Validate the plan and time it beside copies; an observation for each case, with one speed in all."""
        wired = [many_to_wire(arguments) for arguments in cases]
        fault = self._invalid(plan, wired[0][0]) or _too_many_outputs(plan, len(cases))
        if fault is None:
            message = Time(plan, tuple(tensors for tensors, _ in wired), copy_bytes, rounds)
            blobs = [blob for _, blobs in wired for blob in blobs]
            answer = self._ask(message, blobs, Timed, TIME_SECONDS + self._limits.case_seconds)
            if not isinstance(answer, Fault):
                return _timed_observations(answer.message, answer.blobs, plan, len(cases))
            fault = answer
        return tuple(Observation(LAUNCHER, fault=fault) for _ in cases)

    def notes(self) -> tuple[str, ...]:
        """Why a launcher was started again for a case that the next one could run, each reason once."""
        return tuple(dict.fromkeys(self._notes))

    def end(self) -> None:
        """End the launcher, unless it serves others as well."""
        if self._is_own:
            self._host.end()

    def _invalid(self, plan: LaunchPlan, tensors: tuple[TensorData, ...]) -> Fault | None:
        """Why the plan must not reach the launcher."""
        try:
            validate(plan, tuple(tensor.spec for tensor in tensors), self.device)
        except InvalidPlan as error:
            return _invalid_plan(str(error))
        return alias_fault() if any(view.buffer < plan.n_inputs for view in plan.outputs) else None

    def _ask(self, message: LauncherRequest, blobs: Blobs, wanted: type[Any], seconds: float) -> Frame[Any] | Fault:
        """Send one request; its answer, or the fault that came instead.

        A launcher that ends without an answer, or with a fault that may have come from outside, is replaced and asked
        once more: if the next one, which has passed its canary, ends as well, it is the plan that ends it.
        """
        before = ""
        with self._host.packed(blobs) as packed:
            for life in range(_LIVES):
                with self._host.turn() as turn:
                    try:
                        frame = self._answered(turn.channel, message, packed, wanted, seconds)
                    except DeadlinePassed:
                        self._host.replace()
                        text = f"the kernel did not end within {seconds:g} seconds"
                        return Fault(verdict="timeout", phase="kernel", message=text)
                    except ChannelClosed:
                        self._host.replace()
                        before = "ended without an answer"
                        continue
                failed = frame.message
                if not isinstance(failed, Failed):
                    self._notes += [f"{STARTED_AGAIN} {before}"] if before else []
                    return frame
                if life + 1 == _LIVES or not _may_be_from_outside(failed):
                    return failed.fault
                before = f"said: {failed.fault.message}"
        return _ENDED

    def _answered(
        self,
        channel: Channel,
        message: LauncherRequest,
        blobs: Sequence[Any],
        wanted: type[Any],
        seconds: float,
    ) -> Frame[Any]:
        channel.send(message, blobs, seconds=seconds)
        frame = channel.receive(LauncherReply, seconds=seconds)
        answer = frame.message
        if isinstance(answer, (Failed, Counted)) and answer.ends:
            self._host.replace()
        if not isinstance(answer, (Failed, wanted)):
            raise GraderError("the launcher answered with an unexpected message")
        return frame


def _may_be_from_outside(failed: Failed) -> bool:
    """Whether a launcher ended with what no kernel need have done.

    An H200 on which other processes' kernels failed ended contexts of honest ones so, also outside of any launch.
    """
    return failed.ends and (failed.fault.verdict == "grader_error" or failed.fault.error == _LAUNCH_FAILED)


def with_hardware_traffic(observation: Observation, answer: Counted) -> Observation:
    """The observation of an interpreter run (or an empty one) with the hardware's count in front of its own."""
    ours, hardware = observation.traffic, answer.traffic
    if hardware is None:
        reason = {"hardware counters": answer.reason}
        if ours is None:
            return replace(observation, absent={**observation.absent, "traffic": answer.reason})
        return replace(observation, traffic=msgspec.structs.replace(ours, absent={**ours.absent, **reason}))
    if ours is None:
        return replace(observation, traffic=hardware)
    joined = msgspec.structs.replace(hardware, per_tensor=ours.per_tensor, counted=ours.requested)
    return replace(observation, traffic=joined)


def _observation(
    reply: Replayed, outputs: tuple[Array, ...], plan: LaunchPlan, arguments: tuple[TensorData, ...]
) -> Observation:
    fault = _guard_fault(reply, plan, arguments) if reply.guard_hits else None
    return Observation(
        LAUNCHER,
        outputs=outputs,
        fault=fault,
        inputs_changed=reply.inputs_changed,
        unwritten=reply.unwritten,
        launches=sum(isinstance(step, Launch) for step in plan.steps),
        returned_tuple=plan.returned_tuple,
        absent={"traffic": "not counted in this run"},
    )


def _timed_observations(reply: Timed, blobs: Any, plan: LaunchPlan, cases: int) -> tuple[Observation, ...]:
    """One for each case, with the outputs of its first run and of a run that gave something else, if any did."""
    arrays = many_from_wire(reply.outputs, blobs)
    width = len(plan.outputs)
    if len(arrays) != width * (cases + len(reply.differing)):
        raise GraderError(f"the launcher sent {len(arrays)} timed outputs of {cases} cases with {width} each")
    sets = [arrays[begin : begin + width] for begin in range(0, len(arrays), width)] if width else [()] * cases
    differing = dict(zip(reply.differing, sets[cases:], strict=True))
    return tuple(
        Observation(
            LAUNCHER,
            outputs=outputs,
            others=(differing[case],) if case in differing else (),
            inputs_changed=reply.inputs_changed,
            launches=sum(isinstance(step, Launch) for step in plan.steps),
            returned_tuple=plan.returned_tuple,
            speed=reply.speed,
            absent={"traffic": "not counted in this run"},
        )
        for case, outputs in enumerate(sets[:cases])
    )


def _guard_fault(reply: Replayed, plan: LaunchPlan, arguments: tuple[TensorData, ...]) -> Fault:
    name, offset = reply.guard_hits[0]
    size = next((buffer.nbytes for buffer in plan.buffers if buffer.name == name), 0)
    step = 4
    for view in plan.outputs:
        if plan.buffers[view.buffer].name == name:
            step = view.spec.itemsize
    for index, tensor in enumerate(arguments):
        if plan.buffers[index].name == name:
            step = tensor.spec.itemsize
    access = Access(operation="store", tensor=name, element=offset // step, storage_elements=size // step, program=())
    where = "before its first element" if offset < 0 else "past its last element"
    return Fault(
        verdict="out_of_bounds",
        phase="kernel",
        message=f"a kernel wrote to memory beside {name}, {where}",
        access=access,
    )


def _too_many_outputs(plan: LaunchPlan, cases: int) -> Fault | None:
    """Timed outputs may come back twice for each case, in one frame."""
    most = MAX_BLOBS // (2 * cases)
    if len(plan.outputs) <= most:
        return None
    return _invalid_plan(f"{len(plan.outputs)} tensors are returned, at most {most} where a call is timed")


def _invalid_plan(reason: str) -> Fault:
    return Fault(verdict="runtime_error", phase="host", message=f"the launch cannot be run: {reason}")
