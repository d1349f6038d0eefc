"""An alarm clock for the submission's own code: when it rings, the line that was running is the answer.

The handler raises nothing, since a submission may catch everything. It answers
in the submission's place and ends the process. Code that does not come back to
Python, such as one pass of the compiler, keeps it waiting, and a submission can
switch it off: whoever asked has a later deadline for both.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from types import CodeType, FrameType

from tritonkata.boundary.messages import Failed
from tritonkata.model.faults import Fault, Phase

# From the request to the deadline outside, which is there for what no signal reaches.
GRACE_SECONDS = 2.0

_WHAT: dict[Phase, str] = {
    "load": "the import of the file",
    "host": "the function",
    "compile": "compiling the kernel",
    "kernel": "the kernel",
    "answer": "the function of the worksheet",
}
_ADVICE: dict[Phase, str] = {"kernel": "The interpreter is slow: few, large blocks help."}
_ROOM = 1000  # frames for the answer, where the submission has used up its own
_AGAIN_SECONDS = 0.05  # where there was not even room for the handler, and one frame has gone since


def _no_line(_frame: FrameType, _path: str) -> int | None:
    return None


@dataclass(frozen=True)
class Alarm:
    """How to answer. `marks` are functions that tell the phase of what they call; the innermost one counts.

    `line_in` tells the line of the file that a frame of other code stands for.
    """

    path: str
    marks: Mapping[CodeType, Phase]
    answer: Callable[[Failed], None]
    line_in: Callable[[FrameType, str], int | None] = _no_line

    @contextmanager
    def after(self, seconds: float) -> Iterator[None]:
        """Ring if the body takes longer than `seconds`. Nothing rings once the body has been left."""
        armed = True

        def ring(_number: int, frame: FrameType | None) -> None:
            nonlocal armed
            if armed:
                sys.setrecursionlimit(sys.getrecursionlimit() + _ROOM)
                armed = False
                self._end(frame, seconds)

        signal.signal(signal.SIGALRM, ring)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGALRM])
        signal.setitimer(signal.ITIMER_REAL, max(seconds, 1e-3), _AGAIN_SECONDS)
        try:
            yield
        finally:
            armed = False
            signal.setitimer(signal.ITIMER_REAL, 0)

    def _end(self, frame: FrameType | None, seconds: float) -> None:
        code = 1
        try:
            self.answer(Failed(self._fault(frame, seconds)))
            code = 0
        finally:
            os._exit(code)

    def _fault(self, frame: FrameType | None, seconds: float) -> Fault:
        frames = list(_outwards(frame))
        phase: Phase = next((self.marks[one.f_code] for one in frames if one.f_code in self.marks), "host")
        line = next((line for line in map(self._line, frames) if line is not None), None)
        message = f"{_WHAT.get(phase, 'the call')} did not end within {seconds:g} seconds"
        return Fault("timeout", phase, message, line=line, advice=_ADVICE.get(phase, ""))

    def _line(self, frame: FrameType) -> int | None:
        if frame.f_code.co_filename == self.path:
            return frame.f_lineno
        return self.line_in(frame, self.path)


def _outwards(frame: FrameType | None) -> Iterator[FrameType]:
    while frame is not None:
        yield frame
        frame = frame.f_back
