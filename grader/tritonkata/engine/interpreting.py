"""Runs in the sandboxed interpreter worker, with every access checked and counted."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from numpy.typing import NDArray

from tritonkata.boundary.channel import ChannelError
from tritonkata.boundary.messages import Interpret, Interpreted
from tritonkata.engine.arrays import many_from_wire, many_to_wire
from tritonkata.engine.client import UntrustedWorker
from tritonkata.engine.discreet import Discreet
from tritonkata.model.course import Entry, Limits
from tritonkata.model.faults import Fault
from tritonkata.model.observation import INTERPRETER, Observation, Traffic

Array = NDArray[Any]


class Interpreter:
    """One submission in Triton's interpreter."""

    def __init__(self, worker: UntrustedWorker, limits: Limits, discreet: Discreet | None = None) -> None:
        self.worker = worker
        self._limits = limits
        self._discreet = discreet

    def run(self, entry: Entry, arguments: tuple[Array, ...]) -> Observation:
        """One case. The observation has either outputs or a fault."""
        observation = self._run(entry, arguments)
        if self._discreet is None:
            return observation
        fault = observation.fault
        return replace(
            observation,
            fault=None if fault is None else self._discreet.fault(fault),
            traffic=self._discreet.traffic(observation.traffic),
            notes=(),
        )

    def _run(self, entry: Entry, arguments: tuple[Array, ...]) -> Observation:
        tensors, blobs = many_to_wire(arguments)
        seconds = self._limits.case_seconds
        message = Interpret(entry.name, entry.parameters, tensors, seconds)
        reply = self.worker.request(message, blobs, seconds=seconds, phase="kernel")
        if isinstance(reply, Fault):
            return Observation(INTERPRETER, fault=reply)
        if not isinstance(reply.message, Interpreted):
            return Observation(INTERPRETER, fault=no_result("the run gave no result"))
        try:
            outputs = many_from_wire(reply.message.outputs, reply.blobs)
        except ChannelError as error:
            return Observation(INTERPRETER, fault=no_result(str(error)))
        return _observation(reply.message, outputs)


def _observation(reply: Interpreted, outputs: tuple[Array, ...]) -> Observation:
    fault = None
    if reply.aliases:
        fault = alias_fault()
    return Observation(
        INTERPRETER,
        outputs=() if fault else outputs,
        fault=fault,
        inputs_changed=reply.inputs_changed,
        unwritten=reply.unwritten,
        # Whoever shares a process with a submission does not say where its figures come from.
        traffic=Traffic("interpreter", reply.traffic.loaded, reply.traffic.stored, reply.traffic.per_tensor),
        notes=reply.notes,
        launches=reply.launches,
        returned_tuple=reply.returned_tuple,
    )


def alias_fault() -> Fault:
    """The result lies in the memory of an input."""
    return Fault(
        verdict="invalid_output",
        phase="result",
        message="the result shares memory with an input",
        advice="Allocate the result with torch.empty(x.shape, dtype=x.dtype, device=x.device).",
    )


def no_result(reason: str) -> Fault:
    """A worker answered, and not with what it was asked for."""
    return Fault(verdict="runtime_error", phase="protocol", message=reason)
