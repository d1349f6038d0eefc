"""Which file `kata check` grades, and against which kata."""

from __future__ import annotations

from pathlib import Path

from tritonkata.cli.common import EXIT_FAILED, Problem, course_of, kata_here, shown
from tritonkata.feedback.clean import one_line
from tritonkata.model.course import Kata
from tritonkata.submission import SubmissionProblem, is_missing, refuse_unreadable
from tritonkata.workspace import find_submission, load_progress


def resolve(path: Path | None, kata: Kata | None) -> tuple[Kata, Path]:
    """The kata and the file, from whichever of the two was named, the file's name and the workspace.

    Raises:
        Problem: they cannot be told, or there is no such file.
    """
    if path is None:
        return _latest() if kata is None else (kata, _file_of(kata))
    if is_missing(path):
        raise Problem(_missing(path, "SLUG" if kata is None else kata.slug))
    return (_kata_of(path) if kata is None else kata), path


def _latest() -> tuple[Kata, Path]:
    course = course_of()
    found = find_submission(Path.cwd(), course.slugs)
    if found is None:
        raise Problem(
            f"there is no kata in {Path.cwd()}; begin one with `{kata_here()} start SLUG`, "
            f"or name a file: {kata_here()} check PATH --kata SLUG"
        )
    return course.kata(found[0]), Path(shown(found[1]))


def _file_of(kata: Kata) -> Path:
    progress = load_progress(Path.cwd()).katas.get(kata.slug)
    path = Path(progress.path if progress else f"{kata.slug}.py")
    if not path.exists():
        raise Problem(_missing(path, kata.slug))
    return path


def _missing(path: Path, slug: str) -> str:
    here = kata_here()
    return (
        f"{shown(path)}: there is no such file; begin with `{here} start {slug}`, or name the file: {here} check PATH"
    )


def _kata_of(path: Path) -> Kata:
    course = course_of()
    folder = Path.cwd()
    wanted = path.absolute()
    for slug, progress in load_progress(folder).katas.items():
        if slug in course.slugs and (folder / progress.path).absolute() == wanted:
            return course.kata(slug)
    # The longest first, in case one name begins with another.
    for slug in sorted(course.slugs, key=len, reverse=True):
        if path.stem == slug or path.stem.startswith((f"{slug}_", f"{slug}-", f"{slug}.", f"{slug} ")):
            return course.kata(slug)
    try:
        refuse_unreadable(path)
    except SubmissionProblem as problem:
        raise _Unreadable(
            f"{one_line(problem.fault.message)}; check the name, or begin with `{kata_here()} start SLUG`"
        ) from None
    name = shown(path)
    raise Problem(
        f"cannot tell which kata {name} is for; say it: {kata_here()} check {name} --kata SLUG "
        f"({', '.join(course.slugs)})"
    )


class _Unreadable(Problem):
    """Not wrong usage: the same file gets this code where its kata is known, and a report with it."""

    exit_code = EXIT_FAILED
