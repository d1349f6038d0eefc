"""A course's own code, called: it may read what it is given, and what goes wrong in it is no learner's fault."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from tritonkata.doing import doing
from tritonkata.engine.client import GraderError
from tritonkata.hidden.places import place_of


class CourseFault(GraderError):
    """Code of the course failed. The message begins with its file and ends with what to do."""


@contextmanager
def course_code(file: Path, name: str, meant: tuple[type[Exception], ...] = ()) -> Iterator[None]:
    """While a function of a course's file runs. `meant` are errors with which it says something.

    Raises:
        CourseFault: in place of any other error, and of what ends a process or a test.
    """
    try:
        with doing(f"{name} of {in_course(file)}"):
            yield
    except (KeyboardInterrupt, GeneratorExit, CourseFault):
        raise
    except BaseException as error:
        place = place_of(error, _root(file)) or f"{in_course(file)}: "
        if _is_write(error):
            raise CourseFault(f"{place}{name} writes into its input ({error}); let it change a copy") from error
        if isinstance(error, meant):
            raise
        what = " ".join(str(error).split())
        raise CourseFault(f"{place}{type(error).__name__}{': ' if what else ''}{what}; correct it") from error


def read_only(value: Any) -> Any:
    """The same array, for one who may not change it: the next comparison needs it as it is."""
    if not isinstance(value, np.ndarray):
        return value
    view = value.view()
    view.flags.writeable = False
    return view


def in_course(file: Path) -> str:
    """A file of `katas/<slug>/` or `reference/<slug>/` as it is called inside its course."""
    return str(file.absolute().relative_to(_root(file)))


def _root(file: Path) -> Path:
    folders = file.absolute().parents
    return folders[min(2, len(folders) - 1)]


def _is_write(error: BaseException) -> bool:
    # NumPy has no error of its own for it.
    return isinstance(error, ValueError) and "read-only" in str(error)
