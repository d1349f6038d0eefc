"""One submission of a class, graded in a process of a crew."""

from __future__ import annotations

import hashlib
from pathlib import Path

import msgspec

from tritonkata.boundary.sandbox import find_bubblewrap
from tritonkata.check import grade, refused
from tritonkata.crew.member import station
from tritonkata.engine.ahead import Ahead
from tritonkata.engine.engines import EngineName
from tritonkata.gradebook.types import Pending, Run
from tritonkata.hidden.collecting import collect_checks
from tritonkata.model.course import Kata
from tritonkata.model.faults import Fault
from tritonkata.model.report import Report, Submission


def graded(kata: Kata, run: Run, one: Pending, ahead: Ahead | None = None) -> Report:
    """Its report, whatever it is; `ahead` has plans that were traced before, and notes which are wanted.

    Raises:
        SandboxUnavailable: this machine has no sandbox, and the run is not to do without.
    """
    engine = _engine(run)
    path = Path(one.file)
    if one.source is None:
        fault = Fault("runtime_error", "load", one.problem[:2000], advice="Hand the file in again.")
        report = refused(kata, path, engine, run.settings.target, run.seed, fault)
    else:
        if run.settings.sandbox:
            find_bubblewrap()  # the run began with one; a machine of a cluster may have none
        report = grade(
            kata,
            path,
            source=one.source,
            engine=engine,
            target=run.settings.target,
            seed=run.seed,
            station=station(),
            recompile=run.settings.recompile,
            discreet=True,
            ahead=ahead,
        )
    if report.max_score == 0 and report.verdict in ("error", "grader_error"):
        report = msgspec.structs.replace(report, max_score=_points(kata, engine))
    if not run.settings.sandbox and not report.notes:
        # Where an engine ran it has said so itself.
        report = msgspec.structs.replace(report, notes=("no sandbox, only process limits; this file was not run",))
    submission = Submission(report.submission.path, report.submission.sha256, one.student)
    return msgspec.structs.replace(report, submission=submission)


def spoilt(kata: Kata, run: Run, one: Pending, message: str) -> Report:
    """The report of a submission that the grader itself failed on."""
    fault = Fault("grader_error", "protocol", message[:2000])
    report = refused(kata, Path(one.file), _engine(run), run.settings.target, run.seed, fault)
    submission = Submission(report.submission.path, report.submission.sha256, one.student)
    return msgspec.structs.replace(report, verdict="grader_error", submission=submission)


def _engine(run: Run) -> EngineName:
    return "gpu" if run.settings.engine == "gpu" else "interpreter"


_collected: dict[tuple[str, str], float] = {}


def _points(kata: Kata, engine: str) -> float:
    """What the checks that this engine can run give together."""
    key = (kata.slug, engine)
    if key not in _collected:
        _collected[key] = sum(mark.points for mark in collect_checks(kata) if engine in mark.engines)
    return _collected[key]


def digest_of(kata: Kata) -> str:
    """A digest of everything that a kata's grades depend on: its files without the wrong examples, and its oracle."""
    found = hashlib.sha256()
    wrong = kata.folder / "wrong"
    files = [path for path in kata.folder.rglob("*") if path.is_file() and not path.is_relative_to(wrong)]
    for path in sorted([*files, kata.oracle]):
        if "__pycache__" not in path.parts:
            found.update(str(path.relative_to(kata.root)).encode())
            found.update(hashlib.sha256(path.read_bytes()).digest())
    return found.hexdigest()[:16]
