"""A filter of system calls that no worker needs, made with libseccomp and applied by bubblewrap.

What is refused is what exploits of kernels have mostly gone through, what would let a submission make namespaces,
mounts or tracers of its own inside the sandbox, and where it could leave something for its next case: memory and
queues that outlive a process, and what may be set of another process of the same user. Refused calls fail with EPERM;
`clone3` fails with ENOSYS, so that libraries fall back to `clone`, whose flags a filter can see.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import errno
import functools
import os
import tempfile

REFUSED = (
    "add_key",
    "bpf",
    "delete_module",
    "finit_module",
    "fsconfig",
    "fsmount",
    "fsopen",
    "fspick",
    "init_module",
    "io_uring_enter",
    "io_uring_register",
    "io_uring_setup",
    "ioprio_set",
    "kcmp",
    "kexec_file_load",
    "kexec_load",
    "keyctl",
    "mount",
    "mount_setattr",
    "move_mount",
    "mq_open",
    "msgget",
    "name_to_handle_at",
    "open_by_handle_at",
    "open_tree",
    "perf_event_open",
    "pidfd_getfd",
    "pivot_root",
    "process_vm_readv",
    "process_vm_writev",
    "ptrace",
    "quotactl",
    "reboot",
    "request_key",
    "sched_setattr",
    "sched_setparam",
    "sched_setscheduler",
    "semget",
    "setns",
    "setpriority",
    "shmget",
    "swapoff",
    "swapon",
    "syslog",
    "umount2",
    "unshare",
    "userfaultfd",
)
_ALLOW = 0x7FFF0000
_ERRNO = 0x00050000
_CLONE_NEWUSER = 0x10000000
_NOT_EQUAL, _MASKED_EQUAL = 1, 7


class SeccompUnavailable(Exception):
    """libseccomp is missing or refuses a rule. The message says which package to install."""


class _Comparison(ctypes.Structure):
    """`struct scmp_arg_cmp` of libseccomp: argument number, operator, two operands."""

    _fields_ = (
        ("arg", ctypes.c_uint),
        ("op", ctypes.c_int),
        ("datum_a", ctypes.c_uint64),
        ("datum_b", ctypes.c_uint64),
    )


@functools.cache
def filter_program() -> bytes:
    """The filter as BPF, in the form that bubblewrap's `--seccomp` reads.

    Raises:
        SeccompUnavailable: it cannot be made here.
    """
    library = _library()
    context = library.seccomp_init(_ALLOW)
    if not context:
        raise SeccompUnavailable("libseccomp gives no filter for this processor")
    try:
        for name in REFUSED:
            _refuse(library, context, name, errno.EPERM)
        _refuse(library, context, "clone3", errno.ENOSYS)
        _refuse(library, context, "prlimit64", errno.EPERM, _Comparison(0, _NOT_EQUAL, 0, 0))
        flags = _Comparison(0, _MASKED_EQUAL, _CLONE_NEWUSER, _CLONE_NEWUSER)
        _refuse(library, context, "clone", errno.EPERM, flags)
        with tempfile.TemporaryFile() as file:
            if library.seccomp_export_bpf(context, file.fileno()) != 0:
                raise SeccompUnavailable("libseccomp cannot write the filter")
            os.lseek(file.fileno(), 0, os.SEEK_SET)
            return file.read()
    finally:
        library.seccomp_release(context)


def _refuse(library: ctypes.CDLL, context: int, name: str, error: int, comparison: _Comparison | None = None) -> None:
    number = library.seccomp_syscall_resolve_name(name.encode())
    if number < 0:
        return  # a call that this processor or this release of libseccomp does not have
    rules = (_Comparison * 1)(comparison) if comparison is not None else None
    status = library.seccomp_rule_add_array(context, _ERRNO | error, number, 0 if comparison is None else 1, rules)
    if status != 0:
        raise SeccompUnavailable(f"libseccomp refuses a rule for {name} ({os.strerror(-status)})")


@functools.cache
def _library() -> ctypes.CDLL:
    try:
        library = ctypes.CDLL(ctypes.util.find_library("seccomp") or "libseccomp.so.2")
    except OSError as error:
        message = f"libseccomp is not installed ({error}); install the package `libseccomp2`"
        raise SeccompUnavailable(message) from error
    library.seccomp_init.restype = ctypes.c_void_p
    library.seccomp_init.argtypes = [ctypes.c_uint32]
    library.seccomp_release.argtypes = [ctypes.c_void_p]
    library.seccomp_syscall_resolve_name.argtypes = [ctypes.c_char_p]
    library.seccomp_rule_add_array.argtypes = [
        ctypes.c_void_p,
        ctypes.c_uint32,
        ctypes.c_int,
        ctypes.c_uint,
        ctypes.c_void_p,
    ]
    library.seccomp_export_bpf.argtypes = [ctypes.c_void_p, ctypes.c_int]
    return library
