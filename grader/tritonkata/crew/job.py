"""A call that a crew was asked to make, and what came of it."""

from __future__ import annotations

import threading
from multiprocessing.reduction import ForkingPickler
from typing import Generic, TypeVar

from tritonkata.crew.member import Answer, Call

T = TypeVar("T")


class Job(Generic[T]):
    """One call in another process. A repeated call has its last answer as its result."""

    def __init__(self, call: Call) -> None:
        self.call = call
        self.packed = ForkingPickler.dumps(call)
        self.ends = 0
        self._done = threading.Event()
        self._answer = Answer()

    def result(self) -> T:
        """What it returned.

        Raises:
            GraderError: the processes that made the call ended, or no GPU is left.
            Exception: what the function raised.
        """
        self._done.wait()
        if self._answer.error is not None:
            raise self._answer.error
        value: T = self._answer.value
        return value

    def answer(self, answer: Answer) -> None:
        """Note what came of it."""
        self._answer = answer
        self._done.set()
