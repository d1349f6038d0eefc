"""When the last commit of a stranger's repository was made.

Commands of git obey the configuration of the repository that they run in, and that can name programs to start. So
git is only asked for one commit, from an empty repository of its own that borrows the stranger's objects. Which commit
it is gets read here.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType

from tritonkata.intake.folders import Folder
from tritonkata.intake.members import MemberProblem

TIMEOUT_S = 10
_LONGEST_REF = 4 << 10
_LONGEST_PACKED_REFS = 1 << 20
_LONGEST_COMMIT = 64 << 10
_SYMBOLIC = re.compile(r"ref: (?P<name>refs/[\w./-]+)\s*", re.ASCII)
_HASH = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_COMMITTER = re.compile(rb"^committer [^\n]* (?P<seconds>\d{1,12}) [+-]\d{4}$", re.MULTILINE)


class CommitTimes:
    """Reads times of commits; a context manager that holds the empty repository. Without git no time is known."""

    def __init__(self) -> None:
        self._git = shutil.which("git")
        self._own: tempfile.TemporaryDirectory[str] | None = None

    def __enter__(self) -> CommitTimes:
        if self._git is not None:
            self._own = tempfile.TemporaryDirectory(prefix="kata-git-")
            self._run(("init", "--bare", "--quiet", "--template=", "."), None)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._own is not None:
            self._own.cleanup()

    def of(self, repository: Path) -> str | None:
        """The time of the commit that is checked out, ISO 8601 in UTC; what the student's own clock said of it.

        Args:
            repository: the folder that holds `.git`.
        """
        objects = repository / ".git" / "objects"
        if self._own is None or (repository / ".git").is_symlink() or objects.is_symlink() or not objects.is_dir():
            return None
        match = _COMMITTER.search(self._head_of(_checked_out(repository / ".git"), objects))
        try:
            return datetime.fromtimestamp(int(match["seconds"]), UTC).isoformat() if match else None
        except (ValueError, OverflowError, OSError):
            return None

    def _head_of(self, commit: str, objects: Path) -> bytes:
        """The lines of a commit before its message."""
        # Git unpacks a commit in memory as a whole, but knows its size before.
        size = self._run(("cat-file", "-s", commit), objects).strip() if commit else b""
        if not size.isdigit() or int(size) > _LONGEST_COMMIT:
            return b""
        return self._run(("cat-file", "commit", commit), objects).partition(b"\n\n")[0]

    def _run(self, arguments: tuple[str, ...], objects: Path | None) -> bytes:
        """The first part of what git prints; nothing where it fails."""
        assert self._git is not None
        assert self._own is not None
        environment = {
            "PATH": os.environ.get("PATH", os.defpath),
            "HOME": self._own.name,
            "GIT_DIR": self._own.name,
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_NO_REPLACE_OBJECTS": "1",
            "GIT_NO_LAZY_FETCH": "1",
            **({"GIT_ALTERNATE_OBJECT_DIRECTORIES": _quoted(objects)} if objects else {}),
        }
        process = subprocess.Popen(
            (self._git, *arguments),
            cwd=self._own.name,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        return _output(process)


def _output(process: subprocess.Popen[bytes]) -> bytes:
    try:
        out, _ = process.communicate(timeout=TIMEOUT_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        return b""
    return out if process.returncode == 0 else b""


def _quoted(objects: Path) -> str:
    """The folder as one entry of a list that is separated with colons."""
    escaped = os.fspath(objects.resolve()).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _checked_out(folder: Path) -> str:
    """The id of the commit that HEAD names, empty where it names none."""
    head = _text(folder, "HEAD", _LONGEST_REF)
    if match := _SYMBOLIC.fullmatch(head):
        name = match["name"]
        if ".." in name:
            return ""
        head = _text(folder, name, _LONGEST_REF) or _packed(folder, name)
    return head.strip() if _HASH.fullmatch(head.strip()) else ""


def _packed(folder: Path, name: str) -> str:
    lines = (line.split(" ") for line in _text(folder, "packed-refs", _LONGEST_PACKED_REFS).splitlines())
    return next((line[0] for line in lines if line[1:] == [name]), "")


def _text(folder: Path, name: str, limit: int) -> str:
    """A small file of the repository, empty where it is none."""
    try:
        return b"".join(Folder(folder).chunks(name, limit)).decode("ascii", errors="replace")
    except MemberProblem:
        return ""
