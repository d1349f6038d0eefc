"""Where the files of a kata lie: what is missing, stray, unreadable, or still to be written."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from tritonkata.courses import Course
from tritonkata.feedback.templates import SUFFIX
from tritonkata.model.course import Kata

AUTHOR_MARK = "TODO(author)"
_ENDS_OF_COMMENTS = " .->#}\"'\r"
_IN_KATA = frozenset({"kata.toml", "brief.md", "mistakes.py", "hidden", "feedback", "wrong"})
_IN_REFERENCE = frozenset({"oracle.py", "solution.py"})


def course_problems(course: Course) -> tuple[str, ...]:
    """Files beside the katas that belong to none, and what `kata new` left to write in `course.toml`."""
    toml = course.root / "katas" / "course.toml"
    slugs = {*course.slugs, *course.broken}
    wanted = {
        "katas": {"course.toml", *slugs},
        "skeletons": {f"{slug}.py" for slug in slugs},
        "reference": slugs,
    }
    stray = (
        f"{path}: belongs to no kata of the course; name it in {toml}, or remove it"
        for folder, names in wanted.items()
        for path in entries(course.root / folder)
        if path.name not in names
    )
    return (*_marks(toml), *stray)


def missing(kata: Kata) -> Iterator[str]:
    """Parts that only grading needs; a course is not even read without the others."""
    if not any(kata.hidden.glob("test_*.py")):
        yield f"{kata.hidden}: has no hidden test; write test_{kata.slug}.py"
    if not kata.mistakes.is_file():
        yield f"{kata.mistakes}: is missing; write at least one wrong model"


def unreadable(kata: Kata) -> Iterator[str]:
    """Files that are no text, and Python that cannot be parsed."""
    for path in _all_files(kata):
        try:
            text = path.read_text(encoding="utf-8")
        except OSError as error:
            yield f"{path}: cannot be read ({error.strerror}); correct its permissions"
        except UnicodeDecodeError as error:
            yield f"{path}: is not UTF-8 (byte {error.start}); save it as UTF-8"
        else:
            if problem := _odd_text(text, is_python=path.suffix == ".py"):
                yield f"{path}: {problem}"


def _odd_text(text: str, *, is_python: bool) -> str:
    """Why a text cannot be used, and where; empty if it can."""
    before, nul, _ = text.partition("\0")
    if nul:
        return f"line {before.count(chr(10)) + 1}: has a NUL byte; save it as text"
    try:
        if is_python:
            ast.parse(text)
    except SyntaxError as error:
        place = f"line {error.lineno}: " if error.lineno else ""
        return f"{place}is not Python ({error.msg}); correct it there"
    except (RecursionError, MemoryError):
        return "is not Python (it is nested too deeply); write it in smaller parts"
    return ""


def stray(kata: Kata) -> Iterator[str]:
    """What lies in the folders of a kata and is no part of it."""
    for folder, names in ((kata.folder, _IN_KATA), (kata.reference, _IN_REFERENCE)):
        for path in entries(folder):
            if path.name not in names:
                yield f"{path}: is no part of a kata; remove it"
    for path in entries(kata.hidden):
        if not re.fullmatch(r"test_\w+\.py", path.name):
            yield f"{path}: is no hidden test; name it test_*.py, or remove it"
    for path in entries(kata.feedback):
        if not path.name.endswith(SUFFIX):
            yield f"{path}: is no template; name it <diagnosis>{SUFFIX}, or remove it"
    for folder in entries(kata.folder / "wrong"):
        if not folder.is_dir():
            yield f"{folder}: must lie in a folder named after its diagnosis; move it"
            continue
        files = entries(folder)
        if not files:
            yield f"{folder}: has no example; add one, or remove the folder"
        yield from (f"{path}: is no Python file; remove it" for path in files if path.suffix != ".py")


def marked(kata: Kata) -> Iterator[str]:
    """Files in which `kata new` left something to write."""
    for path in _all_files(kata):
        yield from _marks(path)


def _marks(path: Path) -> Iterator[str]:
    """One line for a file, in the words of its first mark."""
    lines = path.read_text(encoding="utf-8").split("\n")
    marked = [(number, line) for number, line in enumerate(lines, start=1) if AUTHOR_MARK in line]
    if marked:
        number, line = marked[0]
        words = line[line.index(AUTHOR_MARK) :].rstrip(_ENDS_OF_COMMENTS)
        more = f" (and {len(marked) - 1} more)" if len(marked) > 1 else ""
        yield f"{path}: line {number}: {words or AUTHOR_MARK}{more}; then take the mark out"


def _all_files(kata: Kata) -> list[Path]:
    """Every file of a kata, without caches and hidden files."""
    found = [kata.skeleton]
    for folder in (kata.folder, kata.reference):
        found += (path for path in sorted(folder.rglob("*")) if path.is_file() and not _is_hidden(path, folder))
    return found


def entries(folder: Path) -> list[Path]:
    """What lies in a folder, without caches and hidden files."""
    if not folder.is_dir():
        return []
    return [path for path in sorted(folder.iterdir()) if not _is_hidden(path, folder)]


def _is_hidden(path: Path, folder: Path) -> bool:
    return any(part[0] == "." or part == "__pycache__" for part in path.relative_to(folder).parts)
