"""A process that imports what all workers need, and then forks one worker for each submission.

`python -m tritonkata.worker.template READ_FD WRITE_FD MODULE CONTROL_FD FILTER_FD`, in a sandbox. It never sees a
submission. What it forks leaves the template's namespaces and rights before there is a submission in it, so that it
stands in a sandbox as good as one that was started by itself, without importing torch and Triton again.

Three processes are forked for a worker: a keeper, which makes the namespaces and tells the controller how the worker
ended; the first process of the new process table, which reaps; and the worker.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import os
import select
import signal
import socket
import sys
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NoReturn

from tritonkata.boundary import prctl
from tritonkata.boundary.agreed import GO, HERE, MAX_MESSAGE_BYTES, SANDBOX_VARIABLE, UP
from tritonkata.worker import bootstrap, isolating

FAILED = 70
Serve = Callable[[int, int], int]


@dataclass(frozen=True)
class _Request:
    """One worker: its user, the pipes of the protocol, where its output goes, and the line to the controller."""

    user: int
    reads: int
    writes: int
    output: int
    line: socket.socket


def main() -> int:
    """Fork workers until the controller closes its end."""
    module, control_fd, filter_fd = sys.argv[3], int(sys.argv[4]), int(sys.argv[5])
    os.environ.pop(SANDBOX_VARIABLE, None)
    bootstrap.declare_sandbox()
    system_calls = os.read(filter_fd, 1 << 20)
    for descriptor in (filter_fd, int(sys.argv[1]), int(sys.argv[2])):
        os.close(descriptor)
    control = socket.socket(fileno=control_fd)
    serve: Serve = importlib.import_module(f"{module}.prepared").prepare()
    gc.collect()
    gc.freeze()  # the collector would otherwise write to, and so copy, every page of each fork
    # A fork has one thread, and whatever lock another thread held it would wait for in vain.
    if len(os.listdir("/proc/self/task")) > 1:
        print("the imported packages started threads, so that no worker can be forked", file=sys.stderr)
        return FAILED
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # keepers are reaped by the kernel
    while (request := _next(control)) is not None:
        with _telling(request):
            if os.fork() == 0:
                control.close()
                _ending(lambda made=request: _keep(made, serve, system_calls))  # type: ignore[misc]
        request.line.close()
        for descriptor in (request.reads, request.writes, request.output):
            os.close(descriptor)
    return 0


@contextlib.contextmanager
def _telling(request: _Request) -> Iterator[None]:
    """Tell the controller what the kernel refused; it has others to ask, and this process goes on."""
    try:
        yield
    except OSError as error:
        with contextlib.suppress(OSError):
            request.line.send(f"refused: {error}".encode())


def _next(control: socket.socket) -> _Request | None:
    message, descriptors, _, _ = socket.recv_fds(control, MAX_MESSAGE_BYTES, 4)
    if not message:
        return None
    reads, writes, output, line = descriptors
    return _Request(int(message), reads, writes, output, socket.socket(fileno=line))


def _keep(request: _Request, serve: Serve, system_calls: bytes) -> int:
    """Wait until the controller has put this process where it counts it, then start the rest and wait for its end."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.setsid()
    bootstrap.go_first_when_memory_runs_out()
    request.line.send(HERE)
    if request.line.recv(MAX_MESSAGE_BYTES) != GO:
        return FAILED
    first = 0
    with _telling(request):
        isolating.leave_namespaces()
        first = os.fork()
        if first == 0:
            _ending(lambda: _first(request, serve, system_calls))
    if first == 0:
        return FAILED
    for descriptor in (request.reads, request.writes, request.output):
        os.close(descriptor)
    _wait(first, request.line)
    code = _exit_code(os.waitpid(first, 0)[1])
    with contextlib.suppress(BrokenPipeError):
        request.line.send(bytes([code]))
    return code


def _wait(first: int, line: socket.socket) -> None:
    """Wait for its end, or end it once whoever asked for it is gone: the template may serve others as well."""
    waiting = select.poll()
    waiting.register(os.pidfd_open(first), select.POLLIN)
    waiting.register(line, select.POLLIN)
    if any(descriptor == line.fileno() for descriptor, _ in waiting.poll()):
        os.kill(first, signal.SIGKILL)


def _first(request: _Request, serve: Serve, system_calls: bytes) -> int:
    """The first process of the namespaces: give up all rights, fork the worker, reap. All others end with it."""
    # Its own session: a signal to a group reaches members in other namespaces too, here the keeper.
    os.setsid()
    # Without a handler the kernel keeps a signal from within away from the first process.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    worker = 0
    with _telling(request):
        _replace_standard(request.output)
        isolating.cover_mounts()
        isolating.give_up_rights(request.user, system_calls)
        prctl.end_with_the_parent()
        bootstrap.limit()
        worker = os.fork()
        if worker == 0:
            _ending(lambda: _work(request, serve))
    if worker == 0:
        return FAILED
    request.line.send(UP)
    bootstrap.keep_descriptors(set())
    _replace_standard(None)
    while True:
        ended, status = os.wait()
        if ended == worker:
            return _exit_code(status)


def _work(request: _Request, serve: Serve) -> int:
    os.setsid()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.modules["torch"].seed()  # without a seed all forks would draw the same random numbers
    request.line.detach()
    bootstrap.keep_descriptors({request.reads, request.writes})
    return serve(request.reads, request.writes)


def _replace_standard(output: int | None) -> None:
    """Standard input anew, since what a descriptor was set to is shared with all forks; output there or nowhere."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for number, target in ((0, nothing), (1, output), (2, output)):
        os.dup2(nothing if target is None else target, number)
    os.close(nothing)


def _ending(work: Callable[[], int]) -> NoReturn:
    """Do this and end, whatever happens: a fork must never go on with its parent's work."""
    code = FAILED
    try:
        code = work()
        sys.stdout.flush()
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(code)


def _exit_code(status: int) -> int:
    """As a shell says it: 128 and the signal's number for a process that was killed."""
    code = os.waitstatus_to_exitcode(status)
    return code if code >= 0 else 128 - code


if __name__ == "__main__":
    sys.exit(main())
