"""A gradebook for a command: opened, with its kata found, and its problems as one line."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from tritonkata.cli.common import Problem, course_of
from tritonkata.model.course import Kata

if TYPE_CHECKING:
    from tritonkata.gradebook.store import Gradebook


@contextmanager
def opened(folder: Path, *, grading: bool = False) -> Iterator[Gradebook]:
    """The gradebook in a folder.

    Raises:
        Problem: it cannot be used.
    """
    from tritonkata.gradebook.opening import open_gradebook
    from tritonkata.gradebook.types import GradebookProblem

    try:
        with open_gradebook(folder, grading=grading) as book:
            yield book
    except GradebookProblem as error:
        raise Problem(str(error)) from error


def kata_of(book: Gradebook, slug: str | None) -> Kata:
    """The kata that is named, or the only one of the gradebook.

    Raises:
        Problem: the gradebook has several, none, or not this one.
    """
    known = book.katas()
    if slug is None and len(known) != 1:
        words = f"has {', '.join(known)}: say which with --kata" if known else "has no submission: use `kata grade`"
        raise Problem(f"{book.path}: {words}")
    if slug is not None and slug not in known:
        raise Problem(f"{book.path}: has no submission to {slug}; it has {', '.join(known) or 'none'}")
    return course_of().kata(slug or known[0])


def attempts_of(book: Gradebook, kata: Kata) -> str:
    """Which attempts count, as the last run was told."""
    last = book.last_run(kata.slug)
    return "latest" if last is None else last.attempts
