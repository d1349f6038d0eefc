"""Answers of a worksheet, from a worker that is never sent a case: what it gives may be shown to the learner."""

from __future__ import annotations

from tritonkata.boundary.messages import Evaluate, Evaluated
from tritonkata.engine.client import UntrustedWorker
from tritonkata.engine.discreet import Discreet
from tritonkata.engine.interpreting import no_result
from tritonkata.model.answers import Outcome, Value
from tritonkata.model.faults import Fault

ANSWER_SECONDS = 10.0
"""For the import of the file and all calls of one question, which are arithmetic."""

MAX_TIMEOUTS = 5
"""Each question fails by itself. So many that never end take a minute; then no more are asked."""

_FAULTS = ("runtime_error", "invalid_output")


class Answers:
    """The worksheet of one submission."""

    def __init__(self, worker: UntrustedWorker, discreet: Discreet | None = None) -> None:
        self.worker = worker
        self._discreet = discreet

    def evaluate(self, name: str, calls: tuple[tuple[Value, ...], ...]) -> tuple[Outcome, ...] | Fault:
        """The value of a constant, or of each call of a plain function, in the sandbox."""
        message = Evaluate(name, calls, ANSWER_SECONDS)
        reply = self.worker.request(message, (), seconds=ANSWER_SECONDS, phase="answer")
        if isinstance(reply, Fault):
            return reply if self._discreet is None else self._discreet.fault(reply)
        wanted = max(1, len(calls))
        if not isinstance(reply.message, Evaluated) or len(reply.message.values) != wanted:
            return no_result(f"the evaluation of {name} did not give {wanted} values")
        values = reply.message.values
        if any(isinstance(value, Fault) and value.verdict not in _FAULTS for value in values):
            return no_result(f"the evaluation of {name} ended in a way that no answer has")
        if self._discreet is None:
            return values
        return tuple(self._discreet.answer(value) if isinstance(value, Fault) else value for value in values)
