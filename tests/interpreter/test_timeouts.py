"""A call that does not end: which line ran, and whose code it was, the import's, the host's or a kernel's."""

from __future__ import annotations

import numpy as np
import pytest

from tritonkata.boundary.messages import Failed, Interpreted, Loaded

X = np.arange(6, dtype=np.float32).reshape(2, 3)
SECONDS = 2.0
KERNELS = """
@triton.jit
def copy(y_ptr, x_ptr):
    tl.store(y_ptr, tl.load(x_ptr))

@triton.jit
def stuck(y_ptr, x_ptr):
    row = tl.program_id(0)
    while row >= 0:
        row = row * 1  # KERNEL
    tl.store(y_ptr + row, 1.0)

@triton.jit
def turn(row):
    while row >= 0:
        row = row * 1  # HELPER
    return row

@triton.jit
def calls(y_ptr, x_ptr):
    tl.store(y_ptr + turn(tl.program_id(0)), 1.0)

class Silent(Exception):
    def __str__(self):
        while True:
            pass  # TEXT

def for_ever(meta):
    while True:
        pass  # GRID

def spin():
    while True:
        try:
            while True:
                pass  # HOST
        except BaseException:
            pass
"""
CALLS = {
    "kernel": ("stuck[(2,)](x, x)", "kernel", "KERNEL"),
    "helper": ("calls[(2,)](x, x)", "kernel", "HELPER"),
    "host": ("spin()", "host", "HOST"),
    "host after a kernel": ("copy[(1,)](x, x); spin()", "host", "HOST"),
    "grid": ("copy[for_ever](x, x)", "host", "GRID"),
    "text": ("raise Silent()", "host", "TEXT"),
    "asleep": ("__import__('time').sleep(1e6)  # CALL", "host", "CALL"),
    "waiting": ("__import__('threading').Lock().acquire() and __import__('signal').pause()  # CALL", "host", "CALL"),
}


def line_of(source: str, mark: str) -> int:
    lines = enumerate(source.splitlines(), 1)
    return 4 + next(number for number, line in lines if line.endswith(f"# {mark}"))


def still_works(worker):
    reply, (y,) = worker.run("def run(x):\n    return torch.zeros_like(x)\n", {"x": X})
    assert isinstance(reply, Interpreted)
    assert not y.any()


def is_a_timeout(reply, phase: str, *lines: int | None) -> None:
    assert isinstance(reply, Failed), reply
    assert (reply.fault.verdict, reply.fault.phase) == ("timeout", phase), reply.fault
    assert reply.fault.line in lines
    assert f"{SECONDS:g} seconds" in reply.fault.message


@pytest.mark.parametrize("name", CALLS)
def test_a_call_that_does_not_end(worker, name):
    statement, phase, mark = CALLS[name]
    source = f"{KERNELS}\ndef run(x):\n    {statement}\n    return x\n"
    assert isinstance(worker.load(source), Loaded)
    reply, _ = worker.call({"x": X}, seconds=SECONDS)
    line = line_of(source, mark)
    is_a_timeout(reply, phase, line - 1, line)  # a loop's own line may be the one that runs
    still_works(worker)


@pytest.mark.parametrize(
    "statement",
    [
        "signal.signal(signal.SIGALRM, signal.SIG_IGN)",
        "signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())",
        "signal.setitimer(signal.ITIMER_REAL, 0)",
    ],
)
def test_a_call_that_switches_the_alarm_off_ends_all_the_same(worker, statement):
    assert isinstance(worker.load(f"import signal\ndef run(x):\n    {statement}\n    signal.pause()\n"), Loaded)
    reply, _ = worker.call({"x": X}, seconds=SECONDS)
    is_a_timeout(reply, "host", None)
    still_works(worker)


def test_an_import_that_does_not_end(worker):
    reply = worker.load("x = 1\nwhile True: pass  # IMPORT\n", seconds=SECONDS)
    is_a_timeout(reply, "load", 6)
    still_works(worker)


def test_an_import_that_does_not_end_the_second_time(worker, tmp_path):
    seen = tmp_path / "seen"
    source = f"""
from pathlib import Path
while Path({str(seen)!r}).exists():
    pass
Path({str(seen)!r}).touch()
def run(x):
    return x
"""
    assert isinstance(worker.load(source), Loaded)
    reply, _ = worker.call({"x": X}, seconds=SECONDS)
    assert (reply.fault.verdict, reply.fault.phase) == ("timeout", "load")
    assert reply.fault.line in (6, 7, 8, 9)
    still_works(worker)
