"""The bubblewrap sandbox that untrusted workers run in.

Inside there is a read-only system, the Python installation, the grader's own
package without any course, a private /tmp of bounded size, no network, no
devices beyond /dev/null and its kin, and an environment of a few fixed words.
"""

from __future__ import annotations

import functools
import importlib.util
import os
import secrets
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

from tritonkata.boundary.agreed import SANDBOX_VARIABLE, SANDBOX_WORD, SHARED_BYTES, TMP_BYTES

PROBE_SECONDS = 10.0
# Far above what a system gives to people, to services and to containers.
_FIRST_USER = 0x50000000
_USERS = 1 << 28
_SYSTEM_FOLDERS = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64")
_SYSTEM_FILES = ("/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/alternatives", "/etc/localtime")
_WORKER_PACKAGES = ("torch", "triton", "numpy", "msgspec", "ml_dtypes", "sympy", "typing_extensions")
_PACKAGE = Path(__file__).resolve().parents[1]


class SandboxUnavailable(Exception):
    """bubblewrap is missing or cannot run here. The message says which, and the fix."""


def worker_environment(*, sandboxed: bool) -> dict[str, str]:
    """Every variable that a worker has; nothing of the grader's own environment is passed on."""
    environment = {
        "PATH": "/usr/bin:/bin",
        "HOME": "/tmp",
        "USER": "kata",
        "LOGNAME": "kata",
        "TMPDIR": "/tmp",
        "LANG": "C.UTF-8",
        "PYTHONPATH": os.pathsep.join(_python_path()),
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONNOUSERSITE": "1",
        "PYTHONHASHSEED": "0",
        "OMP_NUM_THREADS": "1",
        "MKL_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
    }
    if sandboxed:
        environment[SANDBOX_VARIABLE] = f"{SANDBOX_WORD}:{new_user()}"
    # Some processors need a particular OpenBLAS kernel to compute right results; that is the machine's business.
    for name in ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE", "NPY_DISABLE_CPU_FEATURES"):
        if name in os.environ:
            environment[name] = os.environ[name]
    return environment


def new_user() -> int:
    """A user for one worker alone.

    The kernel counts processes by user: a fork bomb would keep all others of its user from starting any.
    """
    return _FIRST_USER + secrets.randbelow(_USERS)


def bubblewrap_arguments(hidden: Iterable[Path] = (), *, forks: bool = False) -> list[str]:
    """Options of bubblewrap for one worker; `--` and the worker's command follow them.

    `hidden` are folders (the course's katas and references) that must not be
    readable inside, wherever they lie. With `forks` the process keeps the rights to give its
    forks namespaces of their own, and to end them.
    """
    arguments = ["--unshare-all", "--die-with-parent", "--new-session", "--hostname", "kata", "--cap-drop", "ALL"]
    if os.geteuid() == 0:
        # As root no user namespace is made: the worker itself changes to an unprivileged user, which
        # limits on processes and the kernel's checks on /proc then really bind.
        arguments.remove("--unshare-all")
        arguments += ["--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts", "--unshare-cgroup-try"]
        for capability in ("SETUID", "SETGID", *(("SYS_ADMIN", "SETPCAP", "NET_ADMIN", "KILL") if forks else ())):
            arguments += ["--cap-add", f"CAP_{capability}"]
    arguments += ["--clearenv"]
    for name, value in worker_environment(sandboxed=True).items():
        arguments += ["--setenv", name, value]
    arguments += ["--proc", "/proc", "--dev", "/dev"]
    arguments += ["--perms", "1777", "--size", str(SHARED_BYTES), "--tmpfs", "/dev/shm"]
    arguments += ["--perms", "1777", "--size", str(TMP_BYTES), "--tmpfs", "/tmp"]
    arguments += _bindings()
    for folder in hidden:
        if _is_visible(folder):
            # Read-only, since forks of one process share it.
            arguments += ["--perms", "0755", "--size", "4096", "--tmpfs", str(folder), "--remount-ro", str(folder)]
    # The top is bubblewrap's own, without a bound on its size.
    return [*arguments, "--remount-ro", "/dev", "--remount-ro", "/", "--chdir", "/tmp"]


def find_bubblewrap() -> str:
    """Path of a bubblewrap that can start a process here.

    Raises:
        SandboxUnavailable: with the fix.
    """
    path = shutil.which("bwrap")
    if path is None:
        raise SandboxUnavailable("bubblewrap is not installed; install the package `bubblewrap` (command `bwrap`)")
    reason = _try(path)
    if reason is not None:
        raise SandboxUnavailable(
            f"bubblewrap cannot start a process here ({reason}); user namespaces may be switched off "
            "(sysctl kernel.unprivileged_userns_clone, kernel.apparmor_restrict_unprivileged_userns)"
        )
    return path


@functools.cache
def _try(path: str) -> str | None:
    # As process 1 of its own, since otherwise bubblewrap ends a moment before the process 1 that it made.
    command = [path, *bubblewrap_arguments(), "--as-pid-1", "--", "/usr/bin/true"]
    try:
        done = subprocess.run(command, capture_output=True, env={}, timeout=PROBE_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    text = done.stderr.decode(errors="replace").strip().splitlines()
    return None if done.returncode == 0 else (text[-1] if text else f"exit code {done.returncode}")


@functools.cache
def _site_folders() -> tuple[Path, ...]:
    """Folders that hold the packages which a worker imports, in the order in which this process looks there.

    In another order a worker could take another version of a package than the grader sees.
    """
    found: dict[Path, None] = {}
    for name in _WORKER_PACKAGES:
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.origin is not None:
            origin = Path(spec.origin)
            found[(origin.parent.parent if origin.stem == "__init__" else origin.parent).absolute()] = None
    order = {Path(entry).absolute(): place for place, entry in reversed(list(enumerate(sys.path)))}
    return tuple(sorted(found, key=lambda folder: order.get(folder, len(order))))


def _python_path() -> list[str]:
    # The package's parent comes last: a folder may hold other things than the package, and inside the
    # sandbox it holds nothing else.
    return [*(str(folder) for folder in _site_folders()), str(_PACKAGE.parent)]


def _bindings() -> list[str]:
    arguments: list[str] = []
    for name in _SYSTEM_FOLDERS:
        path = Path(name)
        if path.is_symlink():
            arguments += ["--symlink", os.readlink(path), name]
        elif path.is_dir():
            arguments += ["--ro-bind", name, name]
    for name in _SYSTEM_FILES:
        arguments += ["--ro-bind-try", name, name]
    folders = [folder for folder in _bound_folders() if not folder.is_relative_to("/usr")]
    # bubblewrap would make the parents readable by root alone, and the worker does not stay root.
    parents = {parent for folder in folders for parent in folder.parents} - {Path("/"), Path("/tmp")}
    for parent in sorted(parents):
        arguments += ["--perms", "0755", "--dir", str(parent)]
    for folder in folders:
        arguments += ["--ro-bind", str(folder), str(folder)]
    return arguments


def _bound_folders() -> list[Path]:
    wanted = [Path(sys.prefix), Path(sys.base_prefix), Path(sys.exec_prefix), *_site_folders(), _PACKAGE]
    wanted += [Path(os.path.realpath(sys.executable)).parent]
    unique = sorted({path.absolute() for path in wanted} | {path.resolve() for path in wanted})
    kept: list[Path] = []
    for path in unique:
        if path != Path("/") and not any(path.is_relative_to(other) for other in kept):
            kept.append(path)
    return kept


def _is_visible(folder: Path) -> bool:
    roots = [Path("/usr"), *_bound_folders()]
    return folder.is_dir() and any(folder.resolve().is_relative_to(root) for root in roots)
