"""What several commands share: exit codes, the course, the kata argument, one-line errors."""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import traceback
import unicodedata
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem

from tritonkata.courses import Course, CourseError, UnknownKata, course_root, load_course
from tritonkata.feedback.clean import clean
from tritonkata.model.course import Kata
from tritonkata.submission import readable
from tritonkata.workspace import KataProgress, find_submission, load_progress

EXIT_PASSED = 0
EXIT_FAILED = 1
EXIT_USAGE = 2
EXIT_GRADER = 3
# What a shell gives for a process that SIGPIPE ended: what it was to say, and its verdict, nobody has read.
EXIT_READER_LEFT = 128 + signal.SIGPIPE


class Problem(click.ClickException):
    """Something the user can put right: one line, exit code 2."""

    exit_code = EXIT_USAGE


if TYPE_CHECKING:
    _KataParam = click.ParamType[Kata]
    _TextParam = click.ParamType[str]
else:
    # Older releases of click have no subscript here.
    _KataParam = _TextParam = click.ParamType


class FileType(click.Path):
    """The path of a file, which an empty word (an unset variable of a shell) is not."""

    def __init__(self) -> None:
        super().__init__(path_type=Path)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Refuse the empty word; `Path` would take it for the working directory."""
        if value == "":
            name = param.get_error_hint(ctx) if param is not None and ctx is not None else "the path"
            raise Problem(f"{name} is empty; name a file, or leave it out")
        return super().convert(value, param, ctx)


class StudentType(_TextParam):
    """A student's id, with accents in the form that intake gives them."""

    name = "student"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:  # noqa: ARG002
        """Put accents and their letters together."""
        return unicodedata.normalize("NFC", str(value))


class KataType(_KataParam):
    """The name of a kata of the course; converts to `Kata`."""

    name = "slug"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Kata:  # noqa: ARG002
        """Find the kata; an unknown name fails with the nearest one."""
        if isinstance(value, Kata):
            return value
        try:
            return course_of(ctx).kata(str(value))
        except UnknownKata as error:
            raise Problem(str(error)) from error

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:  # noqa: ARG002
        """The course's names that begin with what was typed."""
        try:
            katas = course_of(ctx).katas
        except CourseError:
            return []
        return [CompletionItem(kata.slug, help=kata.file.title) for kata in katas if kata.slug.startswith(incomplete)]


def course_of(ctx: click.Context | None = None) -> Course:
    """The course that this command works on, read once.

    Raises:
        CourseError: it is damaged.
    """
    root = (ctx or click.get_current_context()).find_root()
    course = root.meta.get("tritonkata.course")
    if not isinstance(course, Course):
        named = root.params.get("course")
        course = load_course(course_root(named) if named else None)
        root.meta["tritonkata.course"] = course
    return course


def started(kata: Kata | None) -> tuple[Kata, KataProgress]:
    """The named kata, or the one last started or edited here, with its progress.

    Raises:
        Problem: nothing was started here, or not this kata.
    """
    folder = Path.cwd()
    course = course_of()
    katas = load_progress(folder).katas
    if kata is None:
        latest = find_submission(folder, course.slugs)
        begun = [slug for slug in course.slugs if slug in katas]
        slug = latest[0] if latest and latest[0] in katas else (begun[-1] if begun else None)
        if slug is None:
            raise Problem(f"no kata was started in {folder}; begin one with: {kata_here()} start {course.slugs[0]}")
        kata = course.kata(slug)
    progress = katas.get(kata.slug)
    if progress is None:
        raise Problem(f"{kata.slug} was not started in {folder}; begin it with: {kata_here()} start {kata.slug}")
    return kata, progress


def kata_here() -> str:
    """The command as it is to be typed again: `kata`, with the course where that was named for this command alone."""
    root = click.get_current_context().find_root()
    named = root.params.get("course")
    if not named or root.get_parameter_source("course") is not click.core.ParameterSource.COMMANDLINE:
        return "kata"
    return f"kata --course {shlex.quote(named)}"


def report_crash(error: BaseException, *, debug: bool) -> None:
    """Say on stderr that the grader itself failed, and how to report it."""
    if debug:
        click.echo("".join(traceback.format_exception(error)), err=True, nl=False)
    what = " ".join(str(error).split())[:300]
    click.echo(
        f"The grader failed, not your kernel: {type(error).__name__}{': ' if what else ''}{what}\n"
        "To report it, run the same command with --debug (or KATA_DEBUG=1) "
        "and send the output together with that of `kata doctor --json`.",
        err=True,
    )


def refuse_lost_folder() -> None:
    """Refuse to work in a folder that was removed.

    Raises:
        Problem: it was.
    """
    try:
        os.getcwd()
    except OSError as error:
        raise Problem(
            f"the working directory cannot be used ({error.strerror}); change to another one with cd"
        ) from error


def back_up(path: Path, folder: Path) -> Path:
    """Keep a copy of `path` among the backups of the workspace `folder`.

    Raises:
        OSError: it cannot be read, or the copy cannot be written.
    """
    backups = folder / ".kata" / "backups"
    backups.mkdir(parents=True, exist_ok=True)
    stamp = datetime.now(UTC).strftime("%Y%m%d-%H%M%S-%f")
    return Path(shutil.copyfile(path, backups / f"{path.stem}-{stamp}{path.suffix}"))


def shown(path: Path) -> str:
    """A path as it reads best: relative inside the working directory, on one line, in characters that can be shown."""
    relative = os.path.relpath(path)
    return clean(readable(path if relative.startswith("..") else relative)).replace("\n", "\\n")
