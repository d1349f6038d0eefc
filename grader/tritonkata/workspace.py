"""A learner's folder: which katas were started there, and how far each one is.

Progress is one JSON file, `.kata/progress.json`. It is replaced as a whole, so
that an interrupted command never leaves half of it.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import msgspec

from tritonkata.files import replace_file
from tritonkata.model.course import Kata
from tritonkata.model.report import Medal, Report

SCHEMA_VERSION = 1
MEDALS: tuple[Medal, ...] = ("none", "bronze", "silver", "gold")
"""From the least to the best."""


_Count = Annotated[int, msgspec.Meta(ge=0)]


class WorkspaceError(Exception):
    """The folder cannot be used as it is: one line that names the path and the next step."""


class KataProgress(msgspec.Struct, frozen=True):
    """One started kata. `path` is relative to the workspace; times are ISO 8601 in UTC."""

    path: str
    started_at: str
    hints_seen: _Count = 0
    attempts: _Count = 0
    best_score: float | None = None
    max_score: float | None = None
    medal: Medal = "none"
    passed: bool = False
    last_checked: str | None = None


class Progress(msgspec.Struct, frozen=True):
    """What `.kata/progress.json` holds."""

    schema_version: int = SCHEMA_VERSION
    katas: dict[str, KataProgress] = {}


def progress_path(folder: Path) -> Path:
    """Where the progress of a workspace lies."""
    return folder / ".kata" / "progress.json"


def load_progress(folder: Path) -> Progress:
    """The progress of a workspace; an empty one where nothing was started.

    Raises:
        WorkspaceError: the file cannot be read or is damaged.
    """
    path = progress_path(folder)
    try:
        progress = msgspec.json.decode(path.read_bytes(), type=Progress)
    except (FileNotFoundError, NotADirectoryError):
        return Progress()
    except OSError as error:
        raise WorkspaceError(f"{path}: cannot be read ({error.strerror}); correct its permissions") from error
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise WorkspaceError(
            f"{path}: is damaged ({error}); move it away to start afresh, your kernels are not touched"
        ) from error
    if progress.schema_version != SCHEMA_VERSION:
        raise WorkspaceError(
            f"{path}: has schema version {progress.schema_version}, this release reads {SCHEMA_VERSION}; "
            "use the release that wrote it, or move the file away"
        )
    for slug, kata in progress.katas.items():
        if not _stays_inside(folder, kata.path):
            raise WorkspaceError(
                f"{path}: is damaged (the path of {slug!r} is none inside this folder); "
                "move it away to start afresh, your kernels are not touched"
            )
    return progress


def update_progress(folder: Path, slug: str, change: Callable[[KataProgress | None], KataProgress]) -> KataProgress:
    """Replace one kata's progress by what `change` makes of it, safe against a second command at the same time.

    Raises:
        WorkspaceError: the file is damaged or cannot be written.
    """
    path = progress_path(folder)
    try:
        path.parent.mkdir(exist_ok=True)
        with _locked(path.parent):
            progress = load_progress(folder)
            changed = change(progress.katas.get(slug))
            replaced = Progress(katas={**progress.katas, slug: changed})
            replace_file(path, msgspec.json.format(msgspec.json.encode(replaced), indent=2) + b"\n")
    except OSError as error:
        raise WorkspaceError(f"{path}: cannot be written ({error.strerror}); correct its permissions") from error
    return changed


def now() -> str:
    """The time in UTC, to the second."""
    return datetime.now(UTC).replace(microsecond=0).isoformat()


def find_submission(folder: Path, slugs: tuple[str, ...]) -> tuple[str, Path] | None:
    """The kata last started or edited in `folder`, with its file; None where there is none.

    Besides the started katas, `<slug>.py` counts for every slug of the course.

    Raises:
        WorkspaceError: the progress file is damaged.
    """
    katas = load_progress(folder).katas
    candidates = {slug: katas[slug].path if slug in katas else f"{slug}.py" for slug in slugs}
    found = []
    for slug, relative in candidates.items():
        with contextlib.suppress(OSError, ValueError):
            path = folder / relative
            if path.is_file():
                found.append((path.stat().st_mtime_ns, slug, path))
    if not found:
        return None
    _, slug, path = max(found, key=lambda entry: entry[0])
    return slug, path


def record_start(folder: Path, kata: Kata, file: Path) -> KataProgress:
    """Note that `kata` was started; hints seen and scores of an earlier start stay."""

    def change(old: KataProgress | None) -> KataProgress:
        if old is None:
            return KataProgress(path=file.name, started_at=now())
        return msgspec.structs.replace(old, path=file.name, started_at=now())

    return update_progress(folder, kata.slug, change)


def record_check(folder: Path, path: Path, report: Report) -> KataProgress:
    """Note a graded attempt: one more attempt, and the best score and medal so far.

    Raises:
        WorkspaceError: the progress is damaged or cannot be written, or the file lies elsewhere or has a name
            that is not UTF-8.
    """

    def change(old: KataProgress | None) -> KataProgress:
        base = old or KataProgress(path=_recorded(folder, path), started_at=now())
        best = report.score if base.best_score is None else max(base.best_score, report.score)
        return msgspec.structs.replace(
            base,
            attempts=base.attempts + 1,
            best_score=best,
            # Of what could not be graded it is 0.
            max_score=report.max_score or base.max_score,
            medal=max(base.medal, report.medal, key=MEDALS.index),
            passed=base.passed or report.verdict == "pass",
            last_checked=now(),
        )

    return update_progress(folder, report.kata, change)


@contextlib.contextmanager
def _locked(folder: Path) -> Iterator[None]:
    descriptor = os.open(folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _stays_inside(folder: Path, relative: str) -> bool:
    """Whether a recorded path names something in the workspace. A file may be a link; its folder may not lead out."""
    path = Path(relative)
    if path.is_absolute() or ".." in path.parts or not path.name or not relative.isprintable():
        return False
    try:
        return (folder / path).parent.resolve().is_relative_to(folder.resolve())
    except (OSError, RuntimeError):  # a loop of links
        return False


def _recorded(folder: Path, path: Path) -> str:
    """The path of a file as it is recorded."""
    root = folder.resolve()
    places = (path.absolute().parent.resolve() / path.name, path.resolve())
    inside = [str(place.relative_to(root)) for place in places if place.is_relative_to(root)]
    if not inside or not inside[0].isprintable():
        raise WorkspaceError(f"{path.name!r} is no file of {folder} with an ordinary name; rename it, or move it there")
    return inside[0]
