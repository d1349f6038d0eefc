"""A new kata: a small one that works, with every place marked that its author rewrites."""

from __future__ import annotations

import contextlib
import json
import keyword
import tomllib
from collections.abc import Iterator
from pathlib import Path

from tritonkata.courses import is_slug
from tritonkata.files import replace_file

_SCAFFOLD = Path(__file__).parent / "scaffold"
_SUFFIX = ".in"
_TAKEN = frozenset({"torch", "triton", "tl", "x", "y"})
_COURSE = """# TODO(author): give the course its name.
format_version = 1
title = "@TITLE@"
katas = ["@SLUG@"]
"""


class ScaffoldError(Exception):
    """A kata that cannot be made: one line with what is in the way and what to do."""


def refuse_odd_slug(slug: str) -> None:
    """A slug becomes file names, and the name of the first function.

    Raises:
        ScaffoldError: it cannot.
    """
    if not is_slug(slug):
        raise ScaffoldError(f"{slug!r} is no name for a kata; use lower-case letters, digits and _, a letter first")
    if keyword.iskeyword(slug) or keyword.issoftkeyword(slug) or slug in _TAKEN:
        raise ScaffoldError(f"{slug!r} means something else in a kernel's file; choose another name")


def scaffold(root: Path, slug: str, title: str) -> tuple[Path, ...]:
    """Write the files of a new kata, and add it to the end of `course.toml`, or begin a course with it.

    Args:
        root: a course that can be read, or a folder without `katas/course.toml`, which need not exist yet.
        slug: of the kata, none of the course's.
        title: in one line.

    Returns:
        The files that were written, `course.toml` last.

    Raises:
        ScaffoldError: something of that name is there already, or a file cannot be written; then none is left.
    """
    files = {root / place: text for place, text in _files(slug, title).items()}
    taken = [path for path in _places(root, slug) if path.exists() or path.is_symlink()]
    if taken:
        raise ScaffoldError(f"{taken[0]}: is there already; choose another name, or move it away")
    toml = root / "katas" / "course.toml"
    if not toml.exists():
        files[toml] = _filled(_COURSE, slug, root.resolve().name)
        _write(files)
        return tuple(files)
    longer = with_kata(toml, slug)
    made = _write(files)
    try:
        replace_file(toml, longer)
    except OSError as error:
        _remove(made)
        raise ScaffoldError(f"{toml}: cannot be written ({error.strerror}); correct its permissions") from error
    return *files, toml


def with_kata(toml: Path, slug: str) -> bytes:
    """The text of `course.toml` with one kata more at the end of its list, and nothing else changed.

    Raises:
        ScaffoldError: the kata is there already, or the list is written in a way that cannot be added to.
    """
    text = toml.read_bytes().decode()
    before = tomllib.loads(text)
    if slug in before["katas"]:
        raise ScaffoldError(f"{toml}: katas: has {slug!r} already; choose another name, or take it out first")
    wanted = {**before, "katas": [*before["katas"], slug]}
    for changed in _longer_lists(text, slug):
        with contextlib.suppress(tomllib.TOMLDecodeError):
            if tomllib.loads(changed) == wanted:
                return changed.encode()
    raise ScaffoldError(f'{toml}: katas: cannot be added to from here; write it as a list: katas = ["{slug}"]')


def _files(slug: str, title: str) -> dict[str, str]:
    """Text of each file by its place in a course."""
    return {
        str(path.relative_to(_SCAFFOLD)).replace("SLUG", slug).removesuffix(_SUFFIX): _filled(
            path.read_text(encoding="utf-8"), slug, title, quoted=path.name == f"kata.toml{_SUFFIX}"
        )
        for path in sorted(_SCAFFOLD.rglob(f"*{_SUFFIX}"))
    }


def _filled(text: str, slug: str, title: str, *, quoted: bool = True) -> str:
    written = json.dumps(title, ensure_ascii=False)[1:-1] if quoted else title
    return text.replace("@SLUG@", slug).replace("@TITLE@", written)


def _places(root: Path, slug: str) -> tuple[Path, ...]:
    return root / "katas" / slug, root / "reference" / slug, root / "skeletons" / f"{slug}.py"


def _write(files: dict[Path, str]) -> list[Path]:
    """Write new files, all or none; returns them, after the folders that were made for them."""
    made: list[Path] = []
    try:
        for path, text in files.items():
            for folder in [folder for folder in reversed(path.parents) if not folder.exists()]:
                folder.mkdir()
                made.append(folder)
            # Exclusive: a file that came up since it was looked for is not overwritten either.
            with path.open("x", encoding="utf-8", newline="\n") as file:
                made.append(path)
                file.write(text)
    except OSError as error:
        _remove(made)
        raise ScaffoldError(
            f"{error.filename or path}: cannot be made ({error.strerror}); choose another folder"
        ) from error
    except BaseException:
        _remove(made)
        raise
    return made


def _remove(made: list[Path]) -> None:
    for path in reversed(made):
        with contextlib.suppress(OSError):
            path.rmdir() if path.is_dir() else path.unlink()


def _longer_lists(text: str, slug: str) -> Iterator[str]:
    """The text with one word more before each closing bracket in turn, laid out as the list there is."""
    for end, character in enumerate(text):
        if character == "]":
            begin = text.rfind("\n", 0, end) + 1
            yield from _in_line(text, end, slug) if text[begin:end].strip() else _on_a_line(text, begin, slug)


def _in_line(text: str, end: int, slug: str) -> Iterator[str]:
    head = text[:end].rstrip()
    separator = {"[": "", ",": " "}.get(head[-1:], ", ")
    yield f'{head}{separator}"{slug}"{text[len(head) :]}'


def _on_a_line(text: str, begin: int, slug: str) -> Iterator[str]:
    """A line of its own above the bracket's, which begins there. What ends the list may want a comma first."""
    above, rest = text[:begin], text[begin:]
    newline = "\r\n" if above.endswith("\r\n") else "\n"
    words = [line for line in above.splitlines() if line.lstrip()[:1] in ('"', "'")]
    indent = words[-1][: -len(words[-1].lstrip())] if words else "    "
    yield f'{above}{indent}"{slug}",{newline}{rest}'
    for place in range(len(above) - 1, -1, -1):
        if above[place] in ('"', "'"):
            yield f'{above[: place + 1]},{above[place + 1 :]}{indent}"{slug}"{newline}{rest}'
