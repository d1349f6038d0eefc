"""The filter of system calls, as a worker's process meets it. Real libseccomp and bubblewrap."""

from __future__ import annotations

import ctypes
import errno
import platform
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from sheets import in_sandbox

from tritonkata.boundary import seccomp
from tritonkata.boundary.seccomp import REFUSED, SeccompUnavailable

pytestmark = pytest.mark.skipif(platform.machine() != "x86_64", reason="system calls have other numbers here")

NUMBERS = {
    "unshare": 272,
    "ptrace": 101,
    "keyctl": 250,
    "io_uring_setup": 425,
    "userfaultfd": 323,
    "bpf": 321,
    "shmget": 29,
    "msgget": 68,
    "semget": 64,
    "mq_open": 240,
    "setpriority": 141,
}
SOURCE = """
import ctypes, os, subprocess, threading

LIBRARY = ctypes.CDLL(None, use_errno=True)

def call(number, first):
    status = LIBRARY.syscall(int(number), int(first), 0, 0, 0, 0)
    return ctypes.get_errno() if status < 0 else 0

def honest():
    done = []
    thread = threading.Thread(target=lambda: done.append(1))
    thread.start()
    thread.join()
    child = os.fork()
    if child == 0:
        os._exit(7)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    text = subprocess.run(["/bin/echo", "hello"], capture_output=True).stdout
    return (len(done), code, len(text))
"""


@pytest.fixture(scope="module", params=["started", "forked"])
def ask(request: pytest.FixtureRequest) -> Iterator[Callable[..., Any]]:
    with in_sandbox(SOURCE, request.param) as sheet:
        yield sheet.ask


@pytest.mark.parametrize("name", sorted(NUMBERS))
def test_calls_that_no_worker_needs_are_refused(ask: Any, name: str) -> None:
    assert name in REFUSED
    assert ask("call", NUMBERS[name], 0) == errno.EPERM


def test_limits_of_other_processes_cannot_be_set(ask: Any) -> None:
    """What is set of the worker would be there in the next case."""
    assert ask("call", 302, 1) == errno.EPERM


def test_no_user_namespace_can_be_made(ask: Any) -> None:
    new_user, clone, clone3 = 0x10000000, 56, 435
    assert ask("call", clone, new_user) == errno.EPERM
    assert ask("call", clone3, 0) == errno.ENOSYS


def test_honest_programs_notice_nothing(ask: Any) -> None:
    assert ask("honest") == (1, 7, 6)


def test_without_libseccomp_the_message_names_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> None:
        raise OSError("no such file")

    seccomp._library.cache_clear()
    monkeypatch.setattr(ctypes, "CDLL", missing)
    try:
        with pytest.raises(SeccompUnavailable, match="libseccomp2"):
            seccomp._library()
    finally:
        seccomp._library.cache_clear()
