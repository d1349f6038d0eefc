"""What one case leaves is not there in the next, wherever a submission may put it. In real sandboxes."""

from __future__ import annotations

import platform
from collections.abc import Iterator

import pytest
from sheets import Sheet, in_sandbox

SOURCE = """
import contextlib, ctypes, os, resource, socket

LIBRARY = ctypes.CDLL(None, use_errno=True)
KEY = 4242

def folders():
    return [path for path, _, _ in os.walk("/") if not path.startswith("/proc/") and os.access(path, os.W_OK)]

def leave():
    with contextlib.suppress(OSError):
        for folder in folders():
            open(f"{folder}/left", "w").close()
            os.makedirs(f"{folder}/folder/below", exist_ok=True)
    LIBRARY.shmget(KEY, 4096, 0o1666)
    LIBRARY.msgget(KEY, 0o1666)
    LIBRARY.semget(KEY, 1, 0o1666)
    LIBRARY.mq_open(b"/left", os.O_CREAT, 0o666, None)
    with contextlib.suppress(OSError):
        resource.prlimit(os.getppid(), resource.RLIMIT_NOFILE, (57, 57))
    with contextlib.suppress(OSError):
        os.setpriority(os.PRIO_PROCESS, os.getppid(), 11)
    os.environ["LEFT"] = "1"
    if os.fork() == 0:
        os.setsid()
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(b"\\0left")
        listener.listen()
        listener.accept()
    return len(folders())

def found():
    paths = [f"{folder}/{name}" for folder in folders() for name in ("left", "folder")]
    left = [path for path in paths if os.path.exists(path)]
    for name in ("shmget", "msgget"):
        if getattr(LIBRARY, name)(KEY, 0) >= 0:
            left.append(name)
    if LIBRARY.semget(KEY, 1, 0) >= 0:
        left.append("semget")
    if LIBRARY.mq_open(b"/left", os.O_RDONLY) >= 0:
        left.append("mq_open")
    if resource.getrlimit(resource.RLIMIT_NOFILE)[0] == 57:
        left.append("limit")
    if os.getpriority(os.PRIO_PROCESS, 0) == 11:
        left.append("priority")
    if "LEFT" in os.environ:
        left.append("environment")
    with contextlib.suppress(OSError):
        socket.socket(socket.AF_UNIX).connect(b"\\0left")
        left.append("socket")
    return " ".join(left) or "nothing"
"""

pytestmark = pytest.mark.skipif(platform.machine() != "x86_64", reason="the filter is tried on this processor")


@pytest.fixture(params=["started", "forked"])
def sheet(request: pytest.FixtureRequest) -> Iterator[Sheet]:
    with in_sandbox(SOURCE, request.param) as made:
        yield made


def test_nothing_is_left_for_the_next_case(sheet: Sheet) -> None:
    assert sheet.ask("found") == "nothing"
    assert sheet.ask("leave") > 1, "there are folders to write to"
    assert sheet.ask("found") == "nothing"
