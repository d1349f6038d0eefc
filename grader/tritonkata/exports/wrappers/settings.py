"""What a wrapper must know where it runs: the kata, the engine, and the course that it brings along."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Literal

import msgspec

from tritonkata import __version__
from tritonkata.courses import COURSE_FOLDERS, built_in_root
from tritonkata.exports.words import ExportProblem
from tritonkata.model.course import Kata
from tritonkata.submission import readable

EngineName = Literal["auto", "gpu", "interpreter"]
SETTINGS_FILE = "kata.json"
COURSE_FOLDER = "course"
REQUIREMENT = f"tritonkata=={__version__}"


class Settings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`kata.json` beside the scripts.

    `has_course` says whether a course lies beside it, in place of the built-in one. After `timeout_seconds` a check is
    ended and counts as a fault of the infrastructure.
    """

    kata: str
    engine: EngineName = "interpreter"
    has_course: bool = False
    timeout_seconds: float = 900.0


def settings_text(kata: Kata, engine: EngineName, timeout_seconds: float) -> str:
    """The text of `kata.json`."""
    settings = Settings(kata.slug, engine, course_root(kata) is not None, timeout_seconds)
    return msgspec.json.format(msgspec.json.encode(settings), indent=2).decode() + "\n"


def read_settings(path: Path) -> Settings:
    """Read `kata.json`.

    Raises:
        ExportProblem: it is missing or damaged.
    """
    try:
        return msgspec.json.decode(path.read_bytes(), type=Settings)
    except (OSError, msgspec.DecodeError) as error:
        raise ExportProblem(f"{path}: cannot be read ({error}); make the package again") from error


def course_root(kata: Kata) -> Path | None:
    """The folder of the kata's course, or None for the built-in one, which is installed with the grader."""
    root = kata.root
    return None if root.resolve() == built_in_root().resolve() else root


def course_files(root: Path) -> tuple[tuple[Path, str], ...]:
    """Every file of a course with its place in it, without caches and hidden files."""
    found = [path for folder in COURSE_FOLDERS for path in sorted((root / folder).rglob("*"))]
    places = ((path, path.relative_to(root)) for path in found if path.is_file())
    return tuple((path, place.as_posix()) for path, place in places if not _is_left_out(place))


def require_wheel(wheel: Path | None) -> None:
    """See that a file is a wheel, or that there is none to bring along.

    Raises:
        ExportProblem: it is something else.
    """
    if wheel is not None and not (wheel.suffix == ".whl" and zipfile.is_zipfile(wheel)):
        raise ExportProblem(f"{readable(wheel)}: is no wheel; build one with: python -m build --wheel")


def _is_left_out(place: Path) -> bool:
    return place.suffix == ".pyc" or any(part.startswith(".") or part == "__pycache__" for part in place.parts)
