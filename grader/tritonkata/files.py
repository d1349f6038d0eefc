"""A file that is written whole or not at all: a full disk, or an end halfway, leaves what was there."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import tempfile
from pathlib import Path

_OPEN_ALREADY = ("/dev/fd/", "/dev/std", "/proc/")


def replace_file(path: Path, data: bytes) -> None:
    """Write `data` beside `path` and put it in its place; a link there is replaced, not followed.

    A file that was there gives the new one its permissions.

    Raises:
        OSError: it cannot be written; `path` is the file that the error names.
    """
    temporary = None
    try:
        descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=".kata-")
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
            os.fchmod(file.fileno(), _permissions(path))
        os.replace(temporary, path)
    except BaseException as error:
        if temporary is not None:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
        if isinstance(error, OSError):
            error.filename, error.filename2 = str(path), None
        raise


def write_target(path: Path, data: bytes) -> None:
    """Write what a user asked for where they asked for it: a link is followed, a pipe or a device is written to.

    Raises:
        OSError: as `replace_file`.
    """
    if is_replaced(path):
        if path.exists() and not os.access(path, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
        replace_file(path.resolve(), data)
    else:
        path.write_bytes(data)


def create_file(path: Path, data: bytes) -> None:
    """Write a new file; none is left where that fails.

    Raises:
        OSError: something is there already, or it cannot be written.
    """
    with path.open("xb") as file:
        try:
            file.write(data)
            file.flush()
        except BaseException:
            path.unlink(missing_ok=True)
            raise


def is_replaced(path: Path) -> bool:
    """Whether a target is written beside its place first: not so a pipe, a device, or what is open already."""
    return (path.is_file() or not path.exists()) and not str(path.absolute()).startswith(_OPEN_ALREADY)


def _permissions(path: Path) -> int:
    try:
        found = path.lstat()
    except OSError:
        return 0o666 & ~_umask()
    return stat.S_IMODE(found.st_mode) if stat.S_ISREG(found.st_mode) else 0o666 & ~_umask()


def _umask() -> int:
    """The process's mask for new files, which can only be read by setting it."""
    mask = os.umask(0o022)
    os.umask(mask)
    return mask
