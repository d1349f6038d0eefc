"""The files that `kata check` writes besides what it prints."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from tritonkata.cli.common import Problem, shown
from tritonkata.files import is_replaced, write_target
from tritonkata.model.report import Report


class Outputs:
    """The targets of `--junit` and `--report`, each of which may be None."""

    def __init__(self, junit: Path | None, report: Path | None) -> None:
        self._targets: list[tuple[str, Path, Callable[[Report, Path], None]]] = []
        if report is not None:
            self._targets.append(("--report", report, _write_json))
        if junit is not None:
            self._targets.append(("--junit", junit, _write_junit))

    def refuse_unwritable(self, submission: Path) -> None:
        """Find out before the grading, which takes a while.

        Raises:
            Problem: a target cannot be written, or is something that must not be lost.
        """
        for option, path, _ in self._targets:
            if path.resolve() == submission.resolve():
                raise Problem(f"{option}: {shown(path)} is the file to be graded; name another one for the report")
        refuse_targets([(option, path, b"<" if option == "--junit" else b"{") for option, path, _ in self._targets])

    def write(self, report: Report) -> str | None:
        """Write what was asked for; returns why a target was not written."""
        for option, path, write in self._targets:
            try:
                write(report, path)
            except OSError as error:
                return f"{why(option, path, error)}."
        return None


def as_json(report: Report) -> str:
    """The report as it is printed and written; what a terminal would obey, or not show, is escaped."""
    import msgspec

    text = msgspec.json.format(msgspec.json.encode(report), indent=2).decode()
    return _INVISIBLE.sub(lambda found: "".join(map(_escaped, found[0])), text)


_MARK = b"\xef\xbb\xbf"  # some editors begin UTF-8 with it
_INVISIBLE = re.compile(r"[^\n -~]+")


def _escaped(character: str) -> str:
    """A character as it is, or as JSON escapes it."""
    if character.isprintable():
        return character
    units = character.encode("utf-16-be", errors="surrogatepass").hex()
    return "".join(f"\\u{units[begin : begin + 4]}" for begin in range(0, len(units), 4))


def _write_json(report: Report, path: Path) -> None:
    write_target(path, f"{as_json(report)}\n".encode())


def _write_junit(report: Report, path: Path) -> None:
    from tritonkata.feedback.junit import write

    write(report, path)


def refuse_targets(targets: Sequence[tuple[str, Path, bytes]]) -> None:
    """Find out before the work, which takes a while, that what comes of it could not be written.

    Each target is an option, its file, and how what will be written begins: a name typed in the wrong place is no
    file to be replaced.

    Raises:
        Problem: two targets are one file, or one cannot be written, or holds something else.
    """
    seen: dict[Path, str] = {}
    for option, path, start in targets:
        other = seen.setdefault(path.resolve(), option)
        if other != option:
            raise Problem(f"{other} and {option} are both {shown(path)}; give each a file of its own")
        if not path.absolute().parent.is_dir():
            raise Problem(f"{option}: {shown(path.parent)} is no directory; create it first")
        refuse_foreign(option, path, start)
        try:
            _try_beside(path)
        except OSError as error:
            raise Problem(why(option, path, error)) from error


def refuse_kept(option: str, path: Path) -> None:
    """Refuse a file that belongs to a gradebook or to the progress of a workspace, there or not.

    Raises:
        Problem: it is one.
    """
    from tritonkata.gradebook.opening import is_kept
    from tritonkata.workspace import progress_path

    target = path.resolve()
    if is_kept(target):
        raise Problem(f"{option}: {shown(path)} is part of a gradebook; choose another file")
    if progress_path(Path.cwd()).parent.name in target.parts:
        raise Problem(f"{option}: {shown(path)} is where a workspace keeps its progress; choose another file")


def refuse_foreign(option: str, path: Path, start: bytes) -> None:
    """Refuse a file that does not begin as what will be written does.

    Raises:
        Problem: that, or it is part of something that is kept, or it cannot be read.
    """
    refuse_kept(option, path)
    try:
        is_foreign = path.is_file() and _begins_otherwise(path, start)
    except OSError as error:
        raise Problem(why(option, path, error)) from error
    if is_foreign:
        raise Problem(f"{option}: {shown(path)} is there and holds something else; choose another file")


def _begins_otherwise(path: Path, start: bytes) -> bool:
    with path.open("rb") as file:
        found = file.read(len(_MARK) + 64 + len(start)).removeprefix(_MARK).lstrip()
    start = start.removeprefix(_MARK).lstrip()
    # What will be empty replaces nothing that is not.
    return bool(found) and not (start and found.startswith(start))


def attempt(path: Path) -> None:
    """Open `path` for writing, and leave everything as it was."""
    if path.exists() and not path.is_file() and not path.is_dir():
        return  # the open of a pipe waits for a reader, and that of a device may do something
    existed = path.exists()
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o666))
    if not existed:
        path.resolve().unlink(missing_ok=True)


def _try_beside(path: Path) -> None:
    """A file that is written whole or not at all is made beside its target first."""
    attempt(path)
    if is_replaced(path):
        with tempfile.TemporaryFile(dir=path.resolve().parent):
            pass


def why(option: str, path: Path, error: OSError) -> str:
    """The one line about a target that cannot be written."""
    return f"{option}: {shown(path)} cannot be written ({error.strerror}); choose another file"
