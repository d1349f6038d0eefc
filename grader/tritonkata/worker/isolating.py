"""What a forked worker leaves behind: the namespaces, the mounts and the rights of the template that it came from.

Only what is fresh is left: a process table, a network with nothing but its loopback, a temporary folder, a user of its
own. No right is kept that could take any of it back. Each step raises OSError where the kernel refuses it.
"""

from __future__ import annotations

import ctypes
import fcntl
import os
import re
import socket
import struct
from pathlib import Path

from tritonkata.boundary import prctl
from tritonkata.boundary.agreed import SHARED_BYTES, TMP_BYTES
from tritonkata.worker import bootstrap

_NEW_MOUNTS = 0x00020000
_NEW_CGROUPS = 0x02000000
_NEW_UTS = 0x04000000
_NEW_IPC = 0x08000000
_NEW_USER = 0x10000000
_NEW_PIDS = 0x20000000
_NEW_NETWORK = 0x40000000
_READ_ONLY, _NO_SUID, _NO_DEVICES, _NO_EXEC = 1, 2, 4, 8
_BIND, _RECURSIVE, _PRIVATE = 1 << 12, 1 << 14, 1 << 18
_PR_SET_SECCOMP, _PR_CAPBSET_DROP, _PR_SET_NO_NEW_PRIVS = 22, 24, 38
_SECCOMP_MODE_FILTER = 2
_CAPABILITY_VERSION = 0x20080522
_INSTRUCTION_BYTES = 8
_SET_INTERFACE_FLAGS = 0x8914  # SIOCSIFFLAGS, on a `struct ifreq` of a name and flags
_INTERFACE = struct.Struct("16sH22x")
_INTERFACE_UP, _INTERFACE_RUNNING = 0x1, 0x40

_libc = ctypes.CDLL(None, use_errno=True)


class _Program(ctypes.Structure):
    """`struct sock_fprog`: the number of instructions, and where they are."""

    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_char_p))


def leave_namespaces() -> None:
    """Make namespaces of its own. The process ids are those of the next process that this one starts.

    Without root a user namespace comes first, which gives the right to make the others.
    """
    user, group = os.getuid(), os.getgid()
    flags = _NEW_MOUNTS | _NEW_CGROUPS | _NEW_UTS | _NEW_IPC | _NEW_PIDS | _NEW_NETWORK
    _call("unshare", flags if user == 0 else flags | _NEW_USER)
    if user != 0:
        Path("/proc/self/setgroups").write_text("deny")
        Path("/proc/self/uid_map").write_text(f"{user} {user} 1")
        Path("/proc/self/gid_map").write_text(f"{group} {group} 1")
    _raise_loopback()


def cover_mounts() -> None:
    """Lay fresh file systems over all that another fork could write to or look into."""
    plain = _NO_SUID | _NO_DEVICES
    _mount("none", "/", "", _RECURSIVE | _PRIVATE)
    _mount("proc", "/proc", "proc", plain | _NO_EXEC | _READ_ONLY)
    _cover_tmp(plain)
    _mount("tmpfs", "/dev/shm", "tmpfs", plain, f"mode=1777,size={SHARED_BYTES}")
    _mount("devpts", "/dev/pts", "devpts", _NO_SUID | _NO_EXEC, "newinstance,ptmxmode=0666,mode=620")
    os.chdir("/tmp")


def _raise_loopback() -> None:
    """A network without its loopback interface answers in other ways than a worker's that was started by itself."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, _SET_INTERFACE_FLAGS, _INTERFACE.pack(b"lo", _INTERFACE_UP | _INTERFACE_RUNNING))


def _cover_tmp(flags: int) -> None:
    """A fresh /tmp. What is mounted below it, such as an installation of Python, is mounted below the new one."""
    below = _mounted_below("/tmp/")
    held = [(target, os.open(target, os.O_PATH)) for target in below]
    _mount("tmpfs", "/tmp", "tmpfs", flags, f"mode=1777,size={TMP_BYTES}")
    before = os.umask(0o022)
    for target, descriptor in held:
        os.makedirs(target, exist_ok=True)
        _mount(f"/proc/self/fd/{descriptor}", target, "", _BIND | _RECURSIVE)
        os.close(descriptor)
    os.umask(before)


def _mounted_below(folder: str) -> list[str]:
    """The outermost mounted folders inside `folder`."""
    lines = Path("/proc/self/mountinfo").read_bytes().splitlines()
    # Blanks and their like are written in octal.
    targets = [re.sub(rb"\\([0-7]{3})", lambda code: bytes([int(code[1], 8)]), line.split()[4]) for line in lines]
    found: list[str] = []
    for target in sorted(filter(lambda target: target.startswith(folder), map(os.fsdecode, targets))):
        if not any(target.startswith(f"{outer}/") or target == outer for outer in found):
            found.append(target)
    return found


def give_up_rights(user: int, system_calls: bytes) -> None:
    """Become `user` (where this is root), without capabilities and behind a filter of system calls, for good.

    `system_calls` is the filter as BPF, in the kernel's layout; empty for none.
    """
    for capability in range(64):
        if _libc.prctl(_PR_CAPBSET_DROP, capability, 0, 0, 0) != 0:
            break  # the last one that this kernel knows, or no right to drop, which the check below sees
    if os.getuid() == 0:
        bootstrap.become(user)
    _call("capset", (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION, 0), (ctypes.c_uint32 * 6)())
    _call("prctl", _PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    if system_calls:
        program = _Program(len(system_calls) // _INSTRUCTION_BYTES, system_calls)
        _call("prctl", _PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, ctypes.byref(program), 0, 0)
    prctl.hide()
    _check(filtered=bool(system_calls))


def _check(*, filtered: bool) -> None:
    """Believe the kernel's account of this process, and not that every step did what it should."""
    lines = Path("/proc/self/status").read_text().splitlines()
    status = {name: value.split() for name, _, value in (line.partition(":") for line in lines)}
    kept = [name for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb") if int(status[name][0], 16)]
    if kept or "0" in status["Uid"] or status["NoNewPrivs"] != ["1"] or (filtered and status["Seccomp"] != ["2"]):
        raise OSError(f"a forked worker kept rights ({', '.join(kept) or 'user, privileges or system calls'})")


def _mount(source: str, target: str, kind: str, flags: int, options: str = "") -> None:
    arguments = [os.fsencode(text) or None for text in (source, target, kind)]
    _call("mount", *arguments, ctypes.c_ulong(flags), options.encode() or None, what=target)


def _call(name: str, *arguments: object, what: str = "") -> None:
    if getattr(_libc, name)(*arguments) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{name} {what}: {os.strerror(number)}".replace(" :", ":"))
