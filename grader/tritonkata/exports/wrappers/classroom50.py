"""Classroom 50's autograder: the files to put beside an assignment, and what `autograder.py` among them runs.

The files belong in `CLASSROOM/autograders/ASSIGNMENT/` of the teacher's repository. Classroom 50 publishes that
folder on GitHub Pages, so a course that lies in it can be read by whoever has the address.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path

from tritonkata.exports import classroom50, pages
from tritonkata.exports.filenames import write_whole
from tritonkata.exports.words import ExportProblem, outcome, score_line
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
from tritonkata.feedback.clean import one_line
from tritonkata.files import replace_file
from tritonkata.model.course import Kata
from tritonkata.model.record import Record, Student

BUNDLE_VARIABLE = "CLASSROOM50_BUNDLE_DIR"
RESULT = "result.json"
RELEASE_BODY = "release-body.md"

_AUTOGRADER = Path(__file__).parent / "files" / "autograder.py.in"


def package_classroom50(
    kata: Kata,
    folder: Path,
    *,
    wheel: Path | None = None,
    engine: EngineName = "interpreter",
    timeout_seconds: float = 900.0,
) -> tuple[str, ...]:
    """Write the autograder's files into `folder`, which is made where it is missing; returns their names.

    Args:
        kata: what it grades. A course that is not the built-in one is copied too.
        folder: where to.
        wheel: a wheel of the grader to bring along; without it the release of this version is installed.
        engine: GitHub's own runners have no GPU.
        timeout_seconds: for one check.

    Raises:
        ExportProblem: the wheel is none.
        OSError: the folder cannot be written.
    """
    require_wheel(wheel)
    folder.mkdir(parents=True, exist_ok=True)
    names = ["autograder.py", SETTINGS_FILE]
    script = _AUTOGRADER.read_text(encoding="utf-8").replace("@REQUIREMENT@", wheel.name if wheel else REQUIREMENT)
    write_whole(folder / "autograder.py", script)
    write_whole(folder / SETTINGS_FILE, settings_text(kata, engine, timeout_seconds))
    if wheel is not None:
        replace_file(folder / wheel.name, wheel.read_bytes())
        names.append(wheel.name)
    course = course_root(kata)
    for path, place in course_files(course) if course is not None else ():
        copy = folder / COURSE_FOLDER / place
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, copy)
        names.append(f"{COURSE_FOLDER}/{place}")
    return tuple(names)


def main() -> int:
    """Grade the checkout in the working directory; returns 0 unless the infrastructure failed."""
    checkout = Path.cwd()
    for name in (RESULT, RELEASE_BODY):
        # One that was committed would be taken for the grader's.
        (checkout / name).unlink(missing_ok=True)
    try:
        _grade(checkout, os.environ)
    except ExportProblem as problem:
        print(f"::error::{one_line(str(problem))}", file=sys.stderr)
        return 1
    return 0


def _grade(checkout: Path, environment: Mapping[str, str]) -> None:
    home = Path(environment.get(BUNDLE_VARIABLE) or checkout)
    settings = read_settings(home / SETTINGS_FILE)
    kata = load_kata(settings, home)
    file = find_file(checkout, kata.slug)
    report = run_check(settings, home, kata, file)
    place = classroom50.place_of(environment)
    student = Student(place.owner or environment.get("GITHUB_ACTOR", "") or "unknown")
    record = Record((student,), file.name, report, now())
    text = classroom50.to_json(record, place)
    write_whole(checkout / RELEASE_BODY, pages.to_markdown(record, kata, source_of(file)))
    write_whole(checkout / RESULT, text)
    _say(record, environment.get("GITHUB_OUTPUT", ""))


def _say(record: Record, output: str) -> None:
    """Status and summary in our words: Classroom 50's own would call it all tests, whatever did not run."""
    summary = one_line(f"{score_line(record)}. {outcome(record)}")
    print(summary)
    if output:
        with Path(output).open("a", encoding="utf-8") as file:
            file.write(f"status={'success' if record.report.verdict == 'pass' else 'failure'}\nsummary={summary}\n")


if __name__ == "__main__":
    sys.exit(main())
