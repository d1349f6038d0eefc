"""One bad case costs that case alone, and nothing is left of it for the next."""

from __future__ import annotations

import os

import numpy as np
import pytest

from tritonkata.boundary.messages import Failed, Interpreted, Loaded

X = np.arange(6, dtype=np.float32).reshape(2, 3)
GOOD = "def run(x):\n    return torch.zeros_like(x)\n"


def still_works(worker):
    reply, (y,) = worker.run(GOOD, {"x": X})
    assert isinstance(reply, Interpreted)
    assert not y.any()


@pytest.mark.parametrize(
    ("statement", "told"),
    [("os._exit(0)", "exit code 0"), ("os._exit(7)", "exit code 7"), ("os.abort()", "signal 6"),
     ("os.kill(os.getpid(), 9)", "killed")],
)  # fmt: skip
def test_a_call_that_ends_the_process(worker, statement, told):
    fault = worker.fault(f"import os\ndef run(x):\n    {statement}\n", {"x": X})
    assert (fault.verdict, fault.phase) == ("runtime_error", "protocol")
    assert told in fault.message
    still_works(worker)


def test_sys_exit_in_a_call(worker):
    fault = worker.fault("import sys\ndef run(x):\n    sys.exit(0)\n", {"x": X})
    assert fault.verdict == "runtime_error"
    assert "sys.exit" in fault.message
    assert fault.line == 7


def test_the_children_of_a_call_are_killed_with_it(worker, tmp_path):
    pid_file = tmp_path / "pid"
    source = f"""
    import os, time
    def run(x):
        pid = os.fork()
        if pid == 0:
            while True:
                time.sleep(1)
        open({str(pid_file)!r}, "w").write(str(pid))
        return torch.zeros_like(x)
    """
    worker.run(source, {"x": X})
    pid = int(pid_file.read_text())
    worker.run(GOOD, {"x": X})
    status = _state(pid)
    assert status in ("", "Z", "X")


def _state(pid: int) -> str:
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return ""


def test_nothing_is_kept_between_cases(worker):
    source = """
    calls = []
    def run(x):
        calls.append(1)
        torch.previous = getattr(torch, "previous", 0) + 1
        return torch.full_like(x, len(calls) + 10 * torch.previous)
    """
    assert isinstance(worker.load(source), Loaded)
    for _ in range(2):
        _, (y,) = worker.call({"x": X})
        assert (y == 11).all()


def test_the_inputs_of_the_case_before_are_not_found(worker):
    """A child is a copy of its parent, and may look at all of it."""
    source = """
    import sys
    def reachable():
        frame, held = sys._getframe(), []
        while frame is not None:
            held += frame.f_locals.values()
            frame = frame.f_back
        for one in held:
            if type(one) in (list, tuple) and len(held) < 100_000:
                held += one
            cells = getattr(getattr(one, "work", one), "__closure__", None) or ()
            held += [cell.cell_contents for cell in cells]
        return held
    def run(x):
        sizes = {len(one) for one in reachable() if isinstance(one, (bytes, bytearray))}
        raise RuntimeError(f"of {x.numel()}: {sorted(sizes & {4 * 1234, 4 * 77})}")
    """
    assert "of 1234: [4936]" in worker.fault(source, {"x": np.ones((1, 1234), np.float32)}).message
    reply, _ = worker.call({"x": np.ones((1, 77), np.float32)})
    assert "of 77: [308]" in reply.fault.message


@pytest.mark.parametrize(
    ("source", "verdict", "told", "line"),
    [
        ("def run(x:\n", "compile_error", "never closed", 5),
        ("import no_such_module\ndef run(x): ...\n", "runtime_error", "no_such_module", 5),
        ("import sys\nsys.exit(3)\n", "runtime_error", "sys.exit when it is imported", 6),
        ("import os\nos._exit(0)\n", "runtime_error", "ended early", None),
        ("1 / 0\n", "runtime_error", "division by zero", 5),
        ("def other(x): ...\n", "runtime_error", "no function run", None),
        ("run = 3\n", "runtime_error", "run is an int", None),
        ("@triton.jit\ndef run(x): ...\n", "runtime_error", "run is a kernel", None),
    ],
)
def test_files_that_cannot_be_loaded(worker, source, verdict, told, line):
    reply = worker.load(source)
    assert isinstance(reply, Failed)
    assert reply.fault.verdict == verdict
    assert told in reply.fault.message
    assert reply.fault.line == line
    still_works(worker)


@pytest.mark.parametrize("prelude", ["\ufeffimport torch\r\n", "import torch\r\n"], ids=["BOM", "CRLF"])
def test_line_endings_and_byte_order_marks(worker, prelude):
    assert isinstance(worker.load("def run(x):\r\n    return torch.zeros_like(x)\r\n", prelude=prelude), Loaded)
    reply, _ = worker.call({"x": X})
    assert isinstance(reply, Interpreted)


def test_the_self_test_of_a_file_does_not_run(worker):
    still_works(worker)
    assert isinstance(worker.load(GOOD + "if __name__ == '__main__':\n    raise SystemExit\n"), Loaded)


def test_the_worker_ends_when_its_pipe_closes():
    from_here, to_worker = os.pipe()
    os.close(to_worker)
    import subprocess
    import sys

    ended = subprocess.run(
        [sys.executable, "-m", "tritonkata.worker.interpreter", str(from_here), "1"],
        pass_fds=(from_here,),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        timeout=120,
        check=False,
    )
    os.close(from_here)
    assert ended.returncode == 0


def test_a_submission_finds_no_pipe_to_the_controller(worker):
    source = """
    import os
    def run(x):
        for fd in range(3, 64):
            try:
                os.write(fd, b"nonsense")
            except OSError:
                pass
        parent = f"/proc/{os.getppid()}/fd"
        if os.getuid() != 0:
            try:
                names = os.listdir(parent)
            except PermissionError:
                names = []
            assert not names
        return torch.zeros_like(x)
    """
    assert isinstance(worker.load(source), Loaded)
    reply, _ = worker.call({"x": X})
    # It can spoil its own reply, and no more.
    assert isinstance(reply, Failed)
    assert reply.fault.phase == "protocol"
    still_works(worker)
