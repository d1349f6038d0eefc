"""Gradescope's autograder: the zip to upload, and what `run_autograder` in it runs.

In Gradescope's container the zip lies unpacked in /autograder/source and the submission in /autograder/submission.
The course's hidden tests are in the package too. `setup.sh` installs bubblewrap, which keeps a submission from them;
where the container forbids it, the report says that there was no sandbox.
"""

from __future__ import annotations

import io
import json
import os
import re
import stat
import sys
import zipfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tritonkata.exports import gradescope
from tritonkata.exports.filenames import write_whole
from tritonkata.exports.words import ExportProblem
from tritonkata.exports.wrappers.checking import find_file, load_kata, now, run_check, source_of
from tritonkata.exports.wrappers.settings import (
    COURSE_FOLDER,
    REQUIREMENT,
    SETTINGS_FILE,
    EngineName,
    course_files,
    course_root,
    read_settings,
    require_wheel,
    settings_text,
)
from tritonkata.files import write_target
from tritonkata.model.course import Kata
from tritonkata.model.record import Record, Student

ROOT_VARIABLE = "KATA_AUTOGRADER"
"""The environment variable with the folder that is /autograder without it."""

_FILES = Path(__file__).parent / "files"
_ADDRESS = re.compile(r"https://[!-~]+")
_SCRIPT, _TEXT = 0o755, 0o644
# The same content gives the same zip.
_MOMENT = (2020, 1, 1, 0, 0, 0)


def package_gradescope(
    kata: Kata,
    target: Path,
    *,
    wheel: Path | None = None,
    extra_index: str | None = None,
    engine: EngineName = "interpreter",
    timeout_seconds: float = 900.0,
) -> tuple[str, ...]:
    """Write the autograder's zip to `target`; returns the names in it.

    Args:
        kata: what it grades. A course that is not the built-in one goes into the zip.
        target: the zip to write.
        wheel: a wheel of the grader to bring along; without it the release of this version is installed.
        extra_index: the address of one more package index, such as one with builds of torch without CUDA, which are
            a fraction of the size.
        engine: Gradescope's machines have no GPU.
        timeout_seconds: for one check; keep it below the limit that is set in Gradescope.

    Raises:
        ExportProblem: the wheel is none, or the index no address.
        OSError: the zip cannot be written.
    """
    require_wheel(wheel)
    requirements = _requirements(wheel, extra_index)
    entries = _entries(kata, wheel, requirements, settings_text(kata, engine, timeout_seconds))
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data, mode in entries:
            info = zipfile.ZipInfo(name, _MOMENT)
            info.compress_type = zipfile.ZIP_DEFLATED
            info.create_system = 3  # Unix, or the mode is not read
            info.external_attr = (stat.S_IFREG | mode) << 16
            archive.writestr(info, data)
    write_target(target, content.getvalue())
    return tuple(name for name, _, _ in entries)


def is_package(path: Path) -> bool:
    """Whether a file is such a zip."""
    try:
        with zipfile.ZipFile(path) as archive:
            return {"run_autograder", SETTINGS_FILE} <= set(archive.namelist())
    except (OSError, zipfile.BadZipFile):
        return False


def _requirements(wheel: Path | None, extra_index: str | None) -> str:
    """The text of requirements.txt."""
    if extra_index is not None and not _ADDRESS.fullmatch(extra_index):
        raise ExportProblem(f"{extra_index!r} is no address of a package index; give one that begins with https://")
    index = f"--extra-index-url {extra_index}\n" if extra_index else ""
    return f"{index}{f'./{wheel.name}' if wheel else REQUIREMENT}\n"


def _entries(kata: Kata, wheel: Path | None, requirements: str, settings: str) -> list[tuple[str, bytes, int]]:
    """Name, content and mode of every file in the zip."""
    course = course_root(kata)
    entries = [
        ("setup.sh", (_FILES / "setup.sh").read_bytes(), _SCRIPT),
        ("run_autograder", (_FILES / "run_autograder").read_bytes(), _SCRIPT),
        (SETTINGS_FILE, settings.encode(), _TEXT),
        ("requirements.txt", requirements.encode(), _TEXT),
    ]
    if wheel is not None:
        entries.append((wheel.name, wheel.read_bytes(), _TEXT))
    for path, place in course_files(course) if course is not None else ():
        entries.append((f"{COURSE_FOLDER}/{place}", path.read_bytes(), _TEXT))
    return entries


def main() -> int:
    """Grade /autograder/submission and write /autograder/results/results.json; returns the exit code."""
    root = Path(os.environ.get(ROOT_VARIABLE, "/autograder"))
    code = 0
    try:
        text = _result(root)
    except ExportProblem as problem:
        print(f"Error: {problem}", file=sys.stderr)
        text, code = gradescope.fault_json(str(problem)), 1
    results = root / "results"
    results.mkdir(exist_ok=True)
    write_whole(results / "results.json", text)
    return code


def _result(root: Path) -> str:
    home = root / "source"
    settings = read_settings(home / SETTINGS_FILE)
    kata = load_kata(settings, home)
    file = find_file(root / "submission", kata.slug)
    report = run_check(settings, home, kata, file)
    students, submitted_at, attempt = _metadata(root / "submission_metadata.json")
    record = Record(students, file.name, report, now(), submitted_at=submitted_at, attempt=attempt)
    return gradescope.to_json(record, kata, source_of(file))


def _metadata(path: Path) -> tuple[tuple[Student, ...], str | None, int]:
    """Students, time and number of the submission, as far as Gradescope's file tells them."""
    try:
        found: Any = json.loads(path.read_bytes())
        people = tuple(_student(user) for user in found.get("users", ()))
        attempt = len(found.get("previous_submissions", ())) + 1
        return people or (_NOBODY,), _utc(found.get("created_at")), attempt
    except (OSError, ValueError, TypeError, AttributeError) as error:
        # A grade does not hang on it: Gradescope knows whose submission it runs.
        print(f"{path}: cannot be read ({error})", file=sys.stderr)
        return (_NOBODY,), None, 1


_NOBODY = Student("unknown")


def _student(user: dict[str, Any]) -> Student:
    email, name = str(user.get("email") or ""), str(user.get("name") or "")
    return Student(email or name or _NOBODY.id, name, email, {"gradescope": str(user.get("id", ""))})


def _utc(moment: object) -> str | None:
    if not isinstance(moment, str):
        return None
    found = datetime.fromisoformat(moment)
    return found.astimezone(UTC).isoformat(timespec="seconds") if found.tzinfo else None


if __name__ == "__main__":
    sys.exit(main())
