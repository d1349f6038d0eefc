"""A crew: processes that answer calls side by side, replaced when they end, and that end with the command.

A call whose process ended is made once more by another. When a GPU is set aside after a fault, its members leave, and
the last calls that they answered are made again by those who have another.
"""

from __future__ import annotations

import os
import queue
import shutil
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from multiprocessing.connection import wait
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

from tritonkata.boundary.leftovers import make_folder, remove_stale_folders
from tritonkata.crew.job import Job
from tritonkata.crew.member import Answer, Call, Place
from tritonkata.crew.process import MemberProcess
from tritonkata.engine.client import GraderError
from tritonkata.engine.sharing import end_launchers
from tritonkata.engine.stock import Lines, shared_templates

P = ParamSpec("P")
T = TypeVar("T")

LIVES = 2
"""How many processes a call may cost."""

CALLS_A_MEMBER = 200
"""After so many a process is replaced, so that what hidden tests leave in it does not add up."""

DOUBTFUL = 16
"""How many of the last calls on a GPU are made again when it is set aside."""


class NobodyLeft(GraderError):
    """Every GPU was set aside after a fault, or no process can be started, or the crew itself failed."""


class ProcessEnded(GraderError):
    """Every process that made a call ended before it had an answer; the message says how, and what it did."""


class Crew:
    """Calls functions in its members; see `open_crew`. `busy_seconds` is how long each GPU was used, by index.

    `outstanding` are the answers that `completed` has still to give.
    """

    def __init__(self, places: Sequence[Place], hidden: tuple[Path, ...] | None = None) -> None:
        self._members = [MemberProcess(place) for place in places]
        self._hidden = hidden
        self._lines: Lines | None = None
        self._templates = ExitStack()
        self._waiting: deque[Job[Any]] = deque()
        self._completed: queue.SimpleQueue[Job[Any]] = queue.SimpleQueue()
        self._lately: dict[int | None, deque[Job[Any]]] = {}
        self.busy_seconds: dict[int, float] = {}
        self.outstanding = 0
        self._problem = ""
        self._lock = threading.Lock()
        self._wake_read, self._wake_write = os.pipe()
        self._stopping = ""
        self._thread = threading.Thread(target=self._manage, name="crew", daemon=True)
        self._thread.start()

    def submit(self, function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Job[T]:
        """Call a function of a module in one of the processes.

        Raises:
            Exception: the function or a value cannot be pickled.
        """
        job: Job[T] = Job(Call(function, args, kwargs))
        with self._lock:
            self._waiting.append(job)
            self.outstanding += 1
        self._wake()
        return job

    def completed(self) -> Job[Any]:
        """Wait for the next job that has an answer. A job that was repeated comes again, with the later one."""
        job = self._completed.get()
        with self._lock:
            self.outstanding -= 1
        return job

    def close(self, *, now: bool) -> None:
        """End all processes: when what they do is done, or `now`. Waiting calls are given up."""
        with self._lock:
            self._waiting.clear()
            self._stopping = "now" if now else "soon"
        self._wake()
        self._thread.join()
        os.close(self._wake_read)
        os.close(self._wake_write)

    def _wake(self) -> None:
        os.write(self._wake_write, b".")

    def _manage(self) -> None:
        with self._templates:
            self._direct()

    def _direct(self) -> None:
        while not self._stopping:
            try:
                self._hand_out()
                self._listen()
            except Exception as error:  # whoever waits for an answer would wait for ever
                self._give_up(f"handing out work failed: {type(error).__name__}: {error}")
        if self._stopping == "now":
            for member in self._members:
                member.terminate()
        for member in self._members:
            member.dismiss()

    def _hand_out(self) -> None:
        with self._lock:
            for member in list(self._members):
                if member.job is None and self._waiting:
                    self._hand_to(member)
            if not self._members:
                while self._waiting:
                    self._finish(self._waiting.popleft(), Answer(error=NobodyLeft(self._problem)))

    def _hand_to(self, member: MemberProcess) -> None:
        if member.calls >= CALLS_A_MEMBER:
            member.dismiss()
        try:
            member.start(self._shared())
        except OSError as error:
            # The others do its part.
            self._members.remove(member)
            self._problem = f"no process can be started that grades: {error}"
            return
        # One that ended while it was idle is found when it does not answer.
        with suppress(OSError):
            member.send(self._waiting.popleft())

    def _shared(self) -> Lines:
        """Templates for all members, started for the first one: they end with the thread that starts them, this one."""
        if self._lines is None:
            self._lines = {}
            if self._hidden is not None:
                self._lines = self._templates.enter_context(shared_templates(self._hidden))
        return self._lines

    def _listen(self) -> None:
        """Wait until something happens, and see to it."""
        busy = {member.connection: member for member in self._members if member.job is not None}
        for ready in wait([self._wake_read, *(connection for connection in busy if connection is not None)]):
            if ready == self._wake_read:
                os.read(self._wake_read, 1 << 16)
            else:
                self._hear(busy[ready])  # type: ignore[index]

    def _hear(self, member: MemberProcess) -> None:
        job = member.job
        assert job is not None
        assert member.connection is not None
        try:
            answer: Answer = member.connection.recv()
        except (EOFError, OSError):
            self._lost(member, job)
            return
        member.job = None
        if member.place.gpu is not None:
            busy = self.busy_seconds.get(member.place.gpu, 0.0)
            self.busy_seconds[member.place.gpu] = busy + answer.busy_seconds
        if answer.aside:
            self._set_aside(member, answer.aside, job)
            return
        self._lately.setdefault(member.place.gpu, deque(maxlen=DOUBTFUL)).append(job)
        self._finish(job, answer)

    def _lost(self, member: MemberProcess, job: Job[Any]) -> None:
        """A process ended: another makes the call, unless it has cost too many."""
        ending = member.ending()
        job.ends += 1
        if job.ends < LIVES:
            with self._lock:
                self._waiting.appendleft(job)
            return
        self._finish(job, Answer(error=ProcessEnded(f"the process that graded this {ending}")))

    def _give_up(self, problem: str) -> None:
        """Answer everything, from now on too, with the reason."""
        self._problem = problem
        members, self._members = self._members, []
        for member in members:
            job = member.job
            member.terminate()
            member.forget()
            if job is not None:
                self._finish(job, Answer(error=NobodyLeft(problem)))

    def _set_aside(self, member: MemberProcess, reason: str, job: Job[Any]) -> None:
        member.dismiss()
        self._members.remove(member)
        self._problem = f"no GPU is left to grade on: {reason}"
        again = [job, *self._lately.pop(member.place.gpu, ())]
        with self._lock:
            self._waiting.extendleft(again)
            self.outstanding += len(again) - 1

    def _finish(self, job: Job[Any], answer: Answer) -> None:
        job.answer(answer)
        self._completed.put(job)


@contextmanager
def open_crew(
    jobs: int, *, gpus: Sequence[int] = (), ahead: int = 1, hidden: tuple[Path, ...] | None = None
) -> Iterator[Crew]:
    """A crew of `jobs` processes, spread over the GPUs (by index; none if there are none to use).

    `ahead` is how many workers of each kind a process keeps started. With `hidden`, the folders that no worker of the
    calls may see, torch and Triton are imported once for all processes. Where the block is left by an exception, what
    runs is ended and cleaned up.
    """
    folder = _folder() if gpus else None
    places = [Place(gpus[n % len(gpus)] if gpus else None, folder, os.getpid(), ahead) for n in range(jobs)]
    crew = Crew(places, hidden)
    try:
        yield crew
    except BaseException:
        crew.close(now=True)
        raise
    else:
        crew.close(now=False)
    finally:
        if folder is not None:
            end_launchers(folder)
            shutil.rmtree(folder, ignore_errors=True)


def _folder() -> Path:
    remove_stale_folders()
    return make_folder()
