"""One real `kata check` in a process of its own, and its report."""

from __future__ import annotations

import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from tritonkata.courses import CourseError, load_course
from tritonkata.exports.words import ExportProblem
from tritonkata.exports.wrappers.settings import COURSE_FOLDER, Settings
from tritonkata.feedback.clean import one_line
from tritonkata.model.course import Kata
from tritonkata.model.faults import Fault
from tritonkata.model.report import Report
from tritonkata.submission import READING, SubmissionProblem, is_missing, read_submission

_REPORTING = (0, 1, 3)
"""Exit codes of `kata check` with a report: all passed, some check failed, the grader failed."""


def load_kata(settings: Settings, home: Path) -> Kata:
    """The kata, of the course in `home` if there is one, else of the built-in course.

    Raises:
        ExportProblem: the course or the kata is missing or damaged.
    """
    try:
        return load_course(home / COURSE_FOLDER if settings.has_course else None).kata(settings.kata)
    except CourseError as error:
        raise ExportProblem(str(error)) from error


def find_file(folder: Path, slug: str) -> Path:
    """The file to grade: the one named after the kata, else the only Python file of the folder.

    Where neither is there this is where the first should be, so that the report says that it is missing.
    """
    named = folder / f"{slug}.py"
    if named.is_file() or not folder.is_dir():
        return named
    others = sorted(path for path in folder.glob("*.py") if path.is_file())
    return others[0] if len(others) == 1 else named


def run_check(settings: Settings, home: Path, kata: Kata, file: Path) -> Report:
    """Run `kata check` on a file; what it writes to its standard error goes to this process's.

    A file that is missing has a report as well: on a platform that is no wrong usage, but nothing handed in.

    Raises:
        ExportProblem: it gave no report: the infrastructure is at fault and not the submission.
    """
    if file.parent.is_dir() and is_missing(file):
        return _nothing_there(settings, kata, file)
    course = ["--course", str((home / COURSE_FOLDER).absolute())] if settings.has_course else []
    # The path begins with a dot, so that no name is taken for an option.
    check = ["check", f"./{file.name}", "--kata", settings.kata, "--engine", settings.engine, "--json"]
    # Safe path: nothing that lies beside a submission is imported here.
    command = [sys.executable, "-P", "-m", "tritonkata", *course, *check]
    try:
        ended = subprocess.run(
            command, stdout=subprocess.PIPE, cwd=file.parent, timeout=settings.timeout_seconds, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise ExportProblem(f"kata check took more than {settings.timeout_seconds:g} seconds") from error
    except OSError as error:
        raise ExportProblem(f"kata check did not start ({error.strerror})") from error
    if ended.returncode not in _REPORTING:
        raise ExportProblem(f"kata check ended with code {ended.returncode} and no report")
    try:
        return msgspec.json.decode(ended.stdout, type=Report)
    except msgspec.DecodeError as error:
        raise ExportProblem(one_line(f"the report of kata check cannot be read ({error})")) from error


def _nothing_there(settings: Settings, kata: Kata, file: Path) -> Report:
    from tritonkata.check import refused

    message = f"{file.name}: cannot be read: there is no such file"
    fault = Fault("runtime_error", "load", message, operation=READING, advice="Hand in a file of this name.")
    return refused(kata, Path(file.name), settings.engine, None, seed=0, fault=fault)


def source_of(file: Path) -> str | None:
    """The submission's text for its own lines in explanations; None where it cannot be read."""
    try:
        return read_submission(file).text
    except SubmissionProblem as problem:
        return problem.file.text if problem.file else None


def now() -> str:
    """The time, in UTC and whole seconds."""
    return datetime.now(UTC).isoformat(timespec="seconds")
