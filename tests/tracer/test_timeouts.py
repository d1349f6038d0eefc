"""A trace that does not end: which line ran, and whose work it was, the import's, the host's or the compiler's."""

from __future__ import annotations

import subprocess
import sys

import pytest
from tracer_session import SECONDS, SOFTMAX, Session, dense, tracer

from tritonkata.boundary.messages import Failed, Loaded, Traced

LIMIT = 4.0
HANGING = (
    SOFTMAX
    + """
import signal
import time

signal.signal(signal.SIGALRM, signal.SIG_IGN)  # a later call is not to be fooled by this


@triton.jit
def unrolled(x_ptr):
    for i in tl.static_range(10 ** 9):
        tl.store(x_ptr, i)  # COMPILE


class Silent(Exception):
    def __str__(self):
        while True:
            pass  # TEXT


def text(x):
    raise Silent()


def host(x):
    while True:
        try:
            while True:
                pass  # HOST
        except BaseException:
            pass


def asleep(x):
    time.sleep(1e6)  # SLEEP


def for_ever(meta):
    while True:
        pass  # GRID


def grid(x):
    kernel[for_ever](x, x, 1, 1, 4, BLOCK=4)


def compiles(x):
    unrolled[(1,)](x)


def deep(x):
    try:
        deep(x)
    except RecursionError:
        while True:
            pass  # DEEP


def entry(x):
    return x
"""
)


def line_of(source: str, mark: str) -> int:
    return next(number for number, line in enumerate(source.splitlines(), 1) if line.endswith(f"# {mark}"))


def is_a_timeout(session: Session, reply: object, phase: str, lines: tuple[int, ...]) -> None:
    assert isinstance(reply, Failed), reply
    assert (reply.fault.verdict, reply.fault.phase) == ("timeout", phase), reply.fault
    assert reply.fault.line in lines
    assert f"{LIMIT:g} seconds" in reply.fault.message
    assert session.process.wait(timeout=SECONDS) == 0


@pytest.mark.parametrize(
    ("entry", "phase", "mark"),
    [
        ("host", "host", "HOST"),
        ("asleep", "host", "SLEEP"),
        ("grid", "host", "GRID"),
        ("text", "host", "TEXT"),
        ("deep", "host", "DEEP"),
        ("compiles", "compile", "COMPILE"),
    ],
)
def test_a_call_that_does_not_end(entry: str, phase: str, mark: str) -> None:
    line = line_of(HANGING, mark)
    with tracer(HANGING) as session:
        assert isinstance(session.loaded, Loaded), session.loaded
        assert isinstance(session.trace(dense(4, 4)), Traced)
        reply = session.trace(dense(4, 4), entry=entry, seconds=LIMIT)
        is_a_timeout(session, reply, phase, (line - 1, line))  # a loop's own line may be the one that runs


def test_an_import_that_does_not_end() -> None:
    with tracer("import torch\nwhile True:\n    pass\n", load_seconds=LIMIT) as session:
        is_a_timeout(session, session.loaded, "load", (2, 3))


BESIDE_THE_ALARM = """
import signal
from tritonkata.worker.alarm import Alarm

def answer(failed):
    print("rang", flush=True)

alarm = Alarm("none.py", {}, answer)
for error in (None, ValueError, KeyboardInterrupt):
    try:
        with alarm.after(60.0):
            if error is not None:
                raise error
    except BaseException:
        pass
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)
    signal.raise_signal(signal.SIGALRM)  # one that was on its way when the body ended
print("alive", flush=True)
with alarm.after(60.0):
    signal.raise_signal(signal.SIGALRM)
print("not reached", flush=True)
"""


def test_nothing_rings_once_the_body_was_left() -> None:
    ran = subprocess.run(
        [sys.executable, "-c", BESIDE_THE_ALARM], capture_output=True, text=True, timeout=SECONDS, check=False
    )
    assert (ran.stdout.split(), ran.returncode) == (["alive", "rang"], 0), ran.stderr
