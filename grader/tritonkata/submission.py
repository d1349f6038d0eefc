"""Reading a learner's file: everything that can be said of it before any worker starts."""

from __future__ import annotations

import hashlib
import os
import stat
import subprocess
import sys
from pathlib import Path

import msgspec

from tritonkata.boundary.messages import MAX_SOURCE_BYTES
from tritonkata.model.faults import Fault

READING = "read"
"""The operation named by the fault of what cannot be read as a file at all."""

_BOM = b"\xef\xbb\xbf"
_COMPILE_SECONDS = 30.0


class SubmissionFile(msgspec.Struct, frozen=True):
    """A file that can be graded. `sha256` is the hexadecimal digest of `source`."""

    path: Path
    source: bytes
    sha256: str

    @property
    def text(self) -> str:
        """The source without a byte order mark; bytes that are not UTF-8 become U+FFFD."""
        return self.source.removeprefix(_BOM).decode("utf-8", errors="replace")


class SubmissionProblem(Exception):
    """The file cannot be graded. `fault` says why; `file` is set where its bytes could be read."""

    def __init__(self, fault: Fault, file: SubmissionFile | None = None) -> None:
        super().__init__(fault.message)
        self.fault = fault
        self.file = file


def readable(path: Path | str) -> str:
    r"""A path as text that every output can hold: what is not UTF-8 in it becomes an escape such as `\xff`."""
    return os.fsencode(path).decode("utf-8", errors="backslashreplace")


def is_missing(path: Path) -> bool:
    """Whether there is nothing at `path`, not even a broken link."""
    try:
        os.lstat(path)
    except FileNotFoundError:
        return True
    except (OSError, ValueError):
        return False
    return False


def refuse_unreadable(path: Path) -> None:
    """See that `path` is a file that can be read, without looking at what it holds.

    Raises:
        SubmissionProblem: it is not.
    """
    _read_bytes(path)


def read_submission(path: Path) -> SubmissionFile:
    """Read and compile (never run) a submission.

    Raises:
        SubmissionProblem: it is no regular file, is empty, over 256 KiB, not
            UTF-8 text, or not Python.
    """
    return submission_of(path, _read_bytes(path))


def submission_of(path: Path, source: bytes) -> SubmissionFile:
    """The same of bytes that came some other way; `path` is what they are called.

    Raises:
        SubmissionProblem: as `read_submission`.
    """
    if len(source) > MAX_SOURCE_BYTES:
        raise _too_large(path)
    file = SubmissionFile(path, source, hashlib.sha256(source).hexdigest())
    _refuse_what_is_no_text(file)
    _refuse_what_does_not_compile(file)
    return file


def _read_bytes(path: Path) -> bytes:
    try:
        # Asked before the open, since opening a device can already do something.
        _refuse_what_is_no_file(path, os.lstat(path).st_mode)
        # Not blocking: the path could have become a pipe that nobody writes to.
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOFOLLOW)
        with os.fdopen(descriptor, "rb") as file:
            _refuse_what_is_no_file(path, os.fstat(descriptor).st_mode)
            source = file.read(MAX_SOURCE_BYTES + 1)
    except FileNotFoundError:
        raise _unreadable(path, "there is no such file", "Check the name, or run `kata start` first.") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise _unreadable(path, reason, "Correct the path or its permissions.") from error
    if len(source) > MAX_SOURCE_BYTES:
        raise _too_large(path)
    return source


def _too_large(path: Path) -> SubmissionProblem:
    return _problem(
        f"{readable(path)}: is larger than {MAX_SOURCE_BYTES // 1024} KiB",
        advice="A submission is one file of source code; take data out of it.",
    )


def _refuse_what_is_no_file(path: Path, mode: int) -> None:
    if stat.S_ISREG(mode):
        return
    kinds = {
        stat.S_IFDIR: "a directory",
        # Whoever hands in a link would see lines of whatever file it names.
        stat.S_IFLNK: "a link",
        stat.S_IFIFO: "a named pipe",
        stat.S_IFSOCK: "a socket",
        stat.S_IFCHR: "a device",
        stat.S_IFBLK: "a device",
    }
    kind = kinds.get(stat.S_IFMT(mode), "not a regular file")
    raise _unreadable(path, f"it is {kind}, not a file", "Name the Python file itself.")


def _refuse_what_is_no_text(file: SubmissionFile) -> None:
    if not file.source.removeprefix(_BOM).strip():
        raise _problem(f"{readable(file.path)}: is empty", file, advice="`kata reset` brings the skeleton back.")
    if b"\0" in file.source:
        line = file.source[: file.source.index(b"\0")].count(b"\n") + 1
        raise _problem(
            f"{readable(file.path)}: line {line} holds a NUL byte, so this is no Python source",
            file,
            line=line,
            advice="Save the file as UTF-8 text (not UTF-16).",
        )
    try:
        file.source.decode("utf-8")
    except UnicodeDecodeError as error:
        line = file.source[: error.start].count(b"\n") + 1
        raise _problem(
            f"{readable(file.path)}: line {line} is not UTF-8 (byte 0x{file.source[error.start]:02x})",
            file,
            line=line,
            advice="Save the file as UTF-8.",
        ) from error


class _NotCompiled(msgspec.Struct):
    """What the compiling process says; without an error it is content."""

    error: str = ""
    message: str = ""
    line: int | None = None
    syntax: bool = False


def _refuse_what_does_not_compile(file: SubmissionFile) -> None:
    found = _compiled_apart(file)
    if not found.error:
        return
    if not found.syntax:
        told = found.message or "it is nested too deeply"
        raise _compile_problem(file, f"Python cannot compile it: {told}", found.error)
    # The learner's own line is shown from `line` and the source, so it is not repeated here.
    line = found.line if found.line and found.line > 0 else None
    place = f", line {line}" if line else ""
    raise _compile_problem(file, f"{found.error}{place}: {found.message}", found.error, line)


def _compiled_apart(file: SubmissionFile) -> _NotCompiled:
    """The answer of a process with little time and memory: compiling can take without end of both."""
    script = Path(__file__).parent / "worker" / "syntax.py"
    command = [sys.executable, "-I", "-S", str(script), readable(file.path.name)]
    try:
        done = subprocess.run(
            command, input=file.source, capture_output=True, timeout=_COMPILE_SECONDS, check=False, cwd="/"
        )
        return msgspec.json.decode(done.stdout, type=_NotCompiled)
    except (subprocess.TimeoutExpired, msgspec.DecodeError):
        return _NotCompiled("TimeoutError", "it takes too long, or too much memory; make it smaller and less nested")


def _compile_problem(file: SubmissionFile, message: str, error: str, line: int | None = None) -> SubmissionProblem:
    fault = Fault(verdict="compile_error", phase="load", message=message[:2000], error=error, line=line)
    return SubmissionProblem(fault, file)


def _unreadable(path: Path, reason: str, advice: str) -> SubmissionProblem:
    message = f"{readable(path)}: cannot be read: {reason}"
    fault = Fault("runtime_error", "load", message[:2000], operation=READING, advice=advice)
    return SubmissionProblem(fault)


def _problem(
    message: str, file: SubmissionFile | None = None, *, line: int | None = None, advice: str
) -> SubmissionProblem:
    fault = Fault(verdict="runtime_error", phase="load", message=message[:2000], line=line, advice=advice)
    return SubmissionProblem(fault, file)
