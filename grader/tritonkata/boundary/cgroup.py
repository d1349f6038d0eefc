"""Control groups (version 2) for workers, where this process may make them.

A group bounds the memory and the number of processes of a worker with everything it starts, which limits of single
processes cannot, and ends all of it at once, whatever session or namespace it is in.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import os
import signal
import time
from dataclasses import dataclass
from pathlib import Path

MEMORY_BYTES = 4 << 30
"""A worker with torch and Triton takes 0.3 GiB, and compilers up to about 1 GiB."""

PROCESSES = 256

_PREFIX = "kata-"
_END_SECONDS = 10.0
_PAUSE_SECONDS = 0.002
_numbers = itertools.count()


@dataclass(frozen=True)
class Group:
    """One control group. `bounded` says whether it limits memory and processes, or can only end them."""

    path: Path
    bounded: bool

    def command(self) -> tuple[str, ...]:
        """What stands before a command so that it starts inside, and nothing of it outside."""
        return ("/bin/sh", "-c", 'echo $$ > "$0" && exec "$@"', str(self.path / "cgroup.procs"))

    def add(self, number: int) -> None:
        """Put a running process inside, which has started no other."""
        (self.path / "cgroup.procs").write_text(str(number))

    def end(self) -> None:
        """Kill everything in the group, wait until it is gone, and remove the group."""
        deadline = time.monotonic() + _END_SECONDS
        while time.monotonic() < deadline:
            self._kill()
            try:
                self.path.rmdir()
            except FileNotFoundError:
                return
            except OSError:
                time.sleep(_PAUSE_SECONDS)
            else:
                return

    def _kill(self) -> None:
        try:
            (self.path / "cgroup.kill").write_text("1")
        except OSError:  # Linux before 5.14 has no such file
            with contextlib.suppress(OSError):
                for number in (self.path / "cgroup.procs").read_text().split():
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(int(number), signal.SIGKILL)


def make_group() -> Group | None:
    """A new group with this grader's limits; None where none can be made."""
    parent = _parent()
    if parent is None:
        return None
    folder, bounded = parent
    path = folder / f"{_PREFIX}{os.getpid()}-{next(_numbers)}"
    try:
        path.mkdir()
        if bounded:
            (path / "memory.max").write_text(str(MEMORY_BYTES))
            (path / "pids.max").write_text(str(PROCESSES))
            with contextlib.suppress(OSError):  # kernels without swap accounting
                (path / "memory.swap.max").write_text("0")
            (path / "memory.oom.group").write_text("1")
    except OSError:
        with contextlib.suppress(OSError):
            path.rmdir()
        return None
    return Group(path, bounded)


def description() -> str:
    """What groups do here, in one line, for `kata doctor`."""
    parent = _parent()
    if parent is None:
        return "none can be made here: workers have limits for each process only"
    if parent[1]:
        return f"below {parent[0]}: {MEMORY_BYTES >> 30} GiB and {PROCESSES} processes for each worker"
    return f"below {parent[0]}: they end workers whole; memory is not bounded (no controller is enabled there)"


@functools.cache
def _parent() -> tuple[Path, bool] | None:
    """Where groups can be made, and whether they can limit memory and processes."""
    mount = _mount()
    if mount is None:
        return None
    _remove_stale(mount)
    usable = [found for found in (_usable(folder) for folder in _candidates(mount)) if found is not None]
    return next((found for found in usable if found[1]), usable[0] if usable else None)


def _mount() -> Path | None:
    with contextlib.suppress(OSError):
        for line in Path("/proc/self/mounts").read_text().splitlines():
            fields = line.split()
            if len(fields) > 2 and fields[2] == "cgroup2":
                return Path(fields[1])
    return None


def _candidates(mount: Path) -> list[Path]:
    """This process's own group, then the one above it, then the top that is visible here."""
    own = mount
    with contextlib.suppress(OSError):
        for line in Path("/proc/self/cgroup").read_text().splitlines():
            if line.startswith("0::"):
                own = mount / line.removeprefix("0::").strip("/")
    return list(dict.fromkeys([own, *([own.parent] if own != mount else []), mount]))


def _usable(folder: Path) -> tuple[Path, bool] | None:
    if not os.access(folder, os.W_OK):
        return None
    with contextlib.suppress(OSError):
        # Refused where processes live in this very group; then what is enabled already decides.
        (folder / "cgroup.subtree_control").write_text("+memory +pids")
    trial = folder / f"{_PREFIX}{os.getpid()}-trial"
    try:
        trial.mkdir()
    except OSError:
        return None
    bounded = all((trial / name).exists() for name in ("memory.max", "pids.max"))
    trial.rmdir()
    return folder, bounded


def _remove_stale(mount: Path) -> None:
    """Groups of graders that were killed; a group with processes in it cannot be removed, and is not."""
    for folder in _candidates(mount):
        for path in folder.glob(f"{_PREFIX}*-*"):
            number = path.name.removeprefix(_PREFIX).split("-")[0]
            if number.isdigit() and not Path(f"/proc/{number}").exists():
                with contextlib.suppress(OSError):
                    path.rmdir()
