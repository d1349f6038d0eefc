"""What a worker without a sandbox may leave behind: processes, and its folder of temporary files.

A submission can start processes that leave the worker's group and session.
Linux hands a process whose parent has ended to the nearest ancestor that asked
for such orphans. The worker asks, and so does this process while a worker
runs, so that all of them stay below one of the two.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from tritonkata.boundary.prctl import adopt_orphans

END_SECONDS = 10.0
_PAUSE_SECONDS = 0.002
_FOLDER_PREFIX = "kata-worker-"


@dataclass(frozen=True)
class _Process:
    pid: int
    parent: int
    group: int
    session: int
    has_ended: bool


class _Adoption:
    """What this process started in sessions of their own, which is no orphan, and which of it may leave some."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._known: set[int] = set()
        self._unsandboxed: set[int] = set()

    def start(self, start: Callable[[], subprocess.Popen[bytes]], *, sandboxed: bool) -> subprocess.Popen[bytes]:
        """Start a worker, so that no other thread takes it for an orphan."""
        with self._lock:
            if not sandboxed:
                adopt_orphans(True)
            try:
                worker = start()
                self._known.add(worker.pid)
                if not sandboxed:
                    self._unsandboxed.add(worker.pid)
                return worker
            finally:
                adopt_orphans(bool(self._unsandboxed))

    def start_own(self, start: Callable[[], int]) -> int:
        """Start a process of the grader's own, by its number, which stays when workers end."""
        with self._lock:
            number = start()
            self._known.add(number)
            return number

    def forget(self, number: int) -> None:
        """Note that a process and everything it started has ended."""
        with self._lock:
            self._known.discard(number)
            self._unsandboxed.discard(number)
            adopt_orphans(bool(self._unsandboxed))

    def orphans(self) -> list[_Process]:
        """Adopted processes. A worker has a session of its own, so what comes from one is never in this process's."""
        with self._lock:
            own, session = os.getpid(), os.getsid(0)
            return [
                process
                for process in _processes()
                if process.parent == own and process.session != session and process.pid not in self._known
            ]


ADOPTION = _Adoption()


def end_with_descendants(worker: subprocess.Popen[bytes]) -> None:
    """Kill a worker and every process that came from it, in whatever group or session, and reap them."""
    # Stopped it starts nothing more, and still adopts what its children leave.
    worker.send_signal(signal.SIGSTOP)
    _kill_until_none(lambda: _below(worker.pid) if worker.poll() is None else [])
    worker.kill()
    worker.wait(END_SECONDS)
    # What a worker that had ended by itself left, and the ended children that it never waited for.
    _kill_until_none(ADOPTION.orphans)
    for process in ADOPTION.orphans():
        with contextlib.suppress(ChildProcessError):
            os.waitpid(process.pid, os.WNOHANG)


def make_folder() -> Path:
    """A folder for one worker's temporary files, named after this process."""
    return Path(tempfile.mkdtemp(prefix=f"{_FOLDER_PREFIX}{_namespace()}-{os.getpid()}-"))


def remove_stale_folders() -> None:
    """Remove the folders of this user whose process was killed before it could do so."""
    for folder in Path(tempfile.gettempdir()).glob(f"{_FOLDER_PREFIX}{_namespace()}-*-*"):
        owner = folder.name.removeprefix(_FOLDER_PREFIX).split("-")[1]
        with contextlib.suppress(OSError):
            if owner.isdigit() and folder.lstat().st_uid == os.geteuid() and not _exists(int(owner)):
                remove_folder(folder)


def remove_folder(folder: Path) -> None:
    """Remove a folder that a submission wrote to, however deep it is and whatever its permissions are."""
    with contextlib.suppress(RecursionError):
        shutil.rmtree(folder, ignore_errors=True)
    if folder.exists():
        for command in (["chmod", "-R", "u+rwX"], ["rm", "-rf", "--one-file-system"]):
            with contextlib.suppress(OSError):  # they are not on the path
                subprocess.run([*command, "--", str(folder)], stderr=subprocess.DEVNULL, check=False)


def _kill_until_none(find: Callable[[], list[_Process]]) -> None:
    """Kill until a list holds no living process, and none that the list before it did not hold.

    One that forks and ends all the time may be in no list alive: the one that was read has ended meanwhile, and the
    next was not there yet. It shows by ended processes with new numbers.
    """
    deadline = time.monotonic() + END_SECONDS
    seen: set[int] = set()
    while time.monotonic() < deadline:
        found = list(find())
        for process in found:
            _kill(process)
        numbers = {process.pid for process in found}
        if numbers <= seen and all(process.has_ended for process in found):
            return
        seen = numbers
        time.sleep(_PAUSE_SECONDS)


def _kill(process: _Process) -> None:
    # The whole group first: one that forks and ends all the time is never there any more under the number that was
    # read. Of another session than this process's, it cannot be in this process's group.
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if process.group > 1 and process.group != os.getpgrp():
            os.killpg(process.group, signal.SIGKILL)
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(process.pid, signal.SIGKILL)


def _below(top: int) -> list[_Process]:
    children: dict[int, list[_Process]] = {}
    for process in _processes():
        children.setdefault(process.parent, []).append(process)
    found: list[_Process] = []
    parents = [top]
    while parents:
        below = children.pop(parents.pop(), [])
        found += below
        parents += [process.pid for process in below]
    return found


def _processes() -> Iterator[_Process]:
    for name in os.listdir("/proc"):
        if name.isdigit():
            with contextlib.suppress(OSError):
                # The name in brackets may hold anything; the fields follow its last bracket.
                state, *numbers = Path(f"/proc/{name}/stat").read_text().rpartition(")")[2].split()[:4]
                parent, group, session = map(int, numbers)
                yield _Process(int(name), parent, group, session, state in "ZX")


def _exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _namespace() -> int:
    """Process ids mean something in their namespace alone; containers may share a folder for temporary files."""
    return os.stat("/proc/self/ns/pid").st_ino
