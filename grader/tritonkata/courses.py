"""Courses on disk: where the built-in one lies, and how its TOML files become types."""

from __future__ import annotations

import importlib.util
import re
import tomllib
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from tritonkata.kata_keys import circle, is_odd_line, odd_keys
from tritonkata.model.course import CourseFile, Kata, KataFile

SUPPORTED_FORMAT = 1
COURSE_FOLDERS = ("katas", "skeletons", "reference")
ENTRY_POINT_GROUP = "tritonkata.courses"

_SLUG = re.compile(r"[a-z][a-z0-9_]{0,63}")
# msgspec's messages end in " - at `$.traffic.par`".
_PLACE = re.compile(r"^(?P<what>.*?)(?: - at `\$\.?(?P<key>[^`]*)`)?$", re.DOTALL)

Document = TypeVar("Document", CourseFile, KataFile)


class CourseError(Exception):
    """A course that cannot be used: one line with the file, the key and what to change."""


class UnknownKata(CourseError):
    """The course has no kata of that name; the message suggests the nearest."""


class UnknownCourse(CourseError):
    """There is neither such a folder nor an installed course of that name."""


class Course(msgspec.Struct, frozen=True):
    """A course: `katas` are in teaching order, without those that cannot be used.

    `broken` has these, each with one line that says which file and key to correct.
    """

    root: Path
    file: CourseFile
    katas: tuple[Kata, ...]
    broken: dict[str, str] = {}

    @property
    def slugs(self) -> tuple[str, ...]:
        """The katas' names, in teaching order."""
        return tuple(kata.slug for kata in self.katas)

    def kata(self, slug: str) -> Kata:
        """The kata of that name.

        Raises:
            UnknownKata: there is none.
            CourseError: there is one, and it cannot be used.
        """
        for kata in self.katas:
            if kata.slug == slug:
                return kata
        if slug in self.broken:
            raise CourseError(self.broken[slug])
        raise UnknownKata(_unknown(slug, self.slugs))


def is_slug(name: str) -> bool:
    """Whether a kata may have that name; it becomes file names, so `..` and `/` are none."""
    return _SLUG.fullmatch(name) is not None


def built_in_root() -> Path:
    """The folder that holds `katas/`, `skeletons/` and `reference/` of the built-in course.

    That is the repository in an editable install, and the package itself where
    a wheel was installed.
    """
    package = Path(__file__).resolve().parent
    repository = package.parents[1]
    if package.parent.name == "grader" and (repository / "katas" / "course.toml").is_file():
        return repository
    return package


def load_course(root: Path | None = None) -> Course:
    """Read a course (the built-in one without `root`) and see that its files are there.

    A kata that is damaged costs itself alone.

    Raises:
        CourseError: `course.toml` is missing, is not TOML, or holds something unexpected.
    """
    folder = built_in_root() if root is None else root
    path = folder / "katas" / "course.toml"
    file = _read(path, CourseFile, "create it, or point --course at a folder that has it")
    if file.format_version != SUPPORTED_FORMAT:
        raise CourseError(
            f"{path}: format_version: is {file.format_version}, this release reads {SUPPORTED_FORMAT}; "
            "install the release that the course was written for"
        )
    if is_odd_line(file.title):
        raise CourseError(f"{path}: title: is {file.title!r}; write it in one line")
    _refuse_odd_slugs(path, file.katas)
    katas: dict[str, Kata] = {}
    broken: dict[str, str] = {}
    for slug in file.katas:
        try:
            katas[slug] = _load_kata(folder, slug, file.katas)
        except CourseError as error:
            broken[slug] = str(error)
    broken |= _circles(katas)
    usable = tuple(kata for slug, kata in katas.items() if slug not in broken)
    return Course(root=folder, file=file, katas=usable, broken=broken)


def course_root(name: str) -> Path:
    """The folder of a course that is given by its path, or by the name that an installed package gave it.

    Packages name their courses in the entry-point group `tritonkata.courses`; each points at an importable
    package whose folder is the course.

    Raises:
        UnknownCourse: there is neither such a folder nor such a name.
        CourseError: the package cannot be found.
    """
    if Path(name).is_dir():
        return Path(name)
    installed = {found.name: found for found in entry_points(group=ENTRY_POINT_GROUP)}
    if name not in installed:
        known = f"; installed courses: {', '.join(sorted(installed))}" if installed else ""
        raise UnknownCourse(f"{name}: there is no such folder, and no installed course of that name{known}")
    try:
        spec = importlib.util.find_spec(installed[name].value)
    except ImportError as error:
        raise CourseError(f"the course {name!r} cannot be found: {error}; install its package again") from error
    places = list(spec.submodule_search_locations or []) if spec is not None else []
    if not places:
        raise CourseError(f"the course {name!r} points at {installed[name].value!r}, which is no package")
    return Path(places[0])


def _load_kata(root: Path, slug: str, slugs: tuple[str, ...]) -> Kata:
    folder = root / "katas" / slug
    leave_out = f"or take {slug!r} out of {root / 'katas' / 'course.toml'}"
    kata = Kata(
        slug=slug,
        file=_read(folder / "kata.toml", KataFile, f"write it, {leave_out}"),
        folder=folder,
        skeleton=root / "skeletons" / f"{slug}.py",
        reference=root / "reference" / slug,
    )
    for path in (kata.brief, kata.skeleton, kata.oracle, kata.solution):
        if not path.is_file():
            raise CourseError(f"{path}: is missing; write it, {leave_out}")
    for problem in odd_keys(kata.file):
        raise CourseError(f"{folder / 'kata.toml'}: {problem}")
    _refuse_odd_prerequisites(kata, slugs)
    return kata


def _circles(katas: dict[str, Kata]) -> dict[str, str]:
    """A line for each kata that is to be learnt before itself."""
    ways = {slug: " needs ".join((slug, *way)) for slug in katas if (way := circle(slug, katas))}
    return {
        slug: f"{katas[slug].folder / 'kata.toml'}: prerequisites: {way}, a circle; take one out"
        for slug, way in ways.items()
    }


def _read(path: Path, document: type[Document], where_missing: str) -> Document:
    """The document in a file; `where_missing` is what to do where there is none."""
    try:
        data: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise CourseError(f"{path}: is missing; {where_missing}") from None
    except OSError as error:
        raise CourseError(f"{path}: cannot be read ({error.strerror}); make it a file that you can read") from error
    except UnicodeDecodeError as error:
        raise CourseError(f"{path}: is not UTF-8 (byte {error.start}); save it as UTF-8") from error
    # Besides TOMLDecodeError: a number of thousands of digits, and brackets within brackets without end.
    except (ValueError, RecursionError) as error:
        raise CourseError(f"{path}: is not TOML: {error}; correct it there") from error
    try:
        return msgspec.convert(data, document)
    except msgspec.ValidationError as error:
        raise CourseError(f"{path}: {_where(error)}; correct that key") from error


def _where(error: msgspec.ValidationError) -> str:
    found = _PLACE.match(str(error))
    if found is None or not found["key"]:
        return str(error)
    return f"{found['key']}: {found['what']}"


def _refuse_odd_slugs(path: Path, slugs: tuple[str, ...]) -> None:
    for number, slug in enumerate(slugs):
        if not is_slug(slug):
            raise CourseError(f"{path}: katas[{number}]: {slug!r} is no name; use lower-case letters, digits and _")
        if slug in slugs[:number]:
            raise CourseError(f"{path}: katas[{number}]: {slug!r} stands there twice; remove one")


def _refuse_odd_prerequisites(kata: Kata, slugs: tuple[str, ...]) -> None:
    for slug in kata.file.prerequisites:
        if slug not in slugs:
            raise CourseError(
                f"{kata.folder / 'kata.toml'}: prerequisites: there is no kata {slug!r}; name one of the course"
            )


def _unknown(slug: str, slugs: tuple[str, ...]) -> str:
    import difflib

    near = difflib.get_close_matches(slug.lower().replace("-", "_"), slugs, n=1, cutoff=0.5)
    if near:
        return f"there is no kata {slug!r}; did you mean {near[0]!r}?"
    return f"there is no kata {slug!r}; the course has: {', '.join(slugs)}"
