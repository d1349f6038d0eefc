"""One submission from its file to its report: the pipeline, step by step."""

from __future__ import annotations

import platform
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from tritonkata import __version__, scoring
from tritonkata.diagnosis.diagnose import diagnose
from tritonkata.diagnosis.separate import Rerun
from tritonkata.engine.ahead import Ahead
from tritonkata.engine.base import Engine
from tritonkata.engine.client import GraderError, LoadFailed
from tritonkata.engine.engines import DEFAULT_TARGET, EngineName, open_engine
from tritonkata.engine.machine import processor_name
from tritonkata.engine.station import Station
from tritonkata.engine.workers import Assignment
from tritonkata.hidden.candidate import Call
from tritonkata.hidden.course_code import CourseFault
from tritonkata.hidden.loading import load_module
from tritonkata.hidden.oracle import Oracle
from tritonkata.hidden.plugin import Session, run_hidden_tests
from tritonkata.model.course import Kata
from tritonkata.model.faults import Fault
from tritonkata.model.report import (
    UNDIAGNOSED,
    Report,
    Submission,
)
from tritonkata.model.report import Engine as EngineReport
from tritonkata.submission import SubmissionFile, SubmissionProblem, read_submission, readable, submission_of

Progress = Callable[[str], None]
SEED_BITS = 63
FILENAME_CHARACTERS = 200


@dataclass(frozen=True)
class _Job:
    """How one file is to be graded."""

    kata: Kata
    engine: EngineName
    target: str | None
    progress: Progress
    first_only: bool
    watch: Callable[[Session], None]
    station: Station | None
    recompile: bool
    discreet: bool
    ahead: Ahead | None
    printed: Progress


def grade(
    kata: Kata,
    path: Path,
    *,
    source: bytes | None = None,
    engine: EngineName = "auto",
    target: str | None = None,
    seed: int | None = None,
    progress: Progress = lambda _: None,
    first_only: bool = False,
    watch: Callable[[Session], None] = lambda _: None,
    station: Station | None = None,
    recompile: bool = False,
    discreet: bool = False,
    ahead: Ahead | None = None,
    printed: Progress = lambda _: None,
) -> Report:
    """Grade one file.

    Args:
        kata: the drill it answers.
        path: the learner's file.
        source: its bytes, where they come some other way; `path` is then only what they are called.
        engine: which engine to use.
        target: what to compile for (`sm_80`, `sm_90`, `sm_100`, `gfx942`); without it sm_90, or the card.
        seed: the secret seed of the hidden inputs; a random one if None.
        progress: told the title of each step as it begins.
        first_only: end with the first check that fails; the others count as not run.
        watch: given what the hidden tests saw, before it becomes a report.
        station: what is kept from one submission to the next, where there are many.
        discreet: the report goes to someone who must not see hidden inputs: no words of processes that had them.
        recompile: compile each kernel again in a clean process, and refuse one that comes out otherwise.
        ahead: launch plans that were traced before, and a note of what is traced.
        printed: told what the file printed where it had no hidden values; that is no part of the report.

    Returns:
        The report. A fault of the submission or of the grader is in it, never raised.
    """
    began = time.monotonic()
    job = _Job(kata, engine, target, progress, first_only, watch, station, recompile, discreet, ahead, printed)
    start = _blank_report(kata, path, engine, target, secrets.randbits(SEED_BITS) if seed is None else seed)
    try:
        submission = read_submission(path) if source is None else submission_of(path, source)
    except SubmissionProblem as problem:
        return _finished(_not_graded(start, problem.fault), began)
    start = msgspec.structs.replace(start, submission=Submission(readable(path), submission.sha256))
    try:
        report = _run(start, job, submission)
    except LoadFailed as error:
        report = _not_graded(start, error.fault)
    except GraderError as error:
        report = _grader_fault(start, str(error))
    return _finished(report, began)


def refused(kata: Kata, path: Path, engine: EngineName, target: str | None, seed: int, fault: Fault) -> Report:
    """The report of a submission that is not there to be graded; `fault` says why."""
    return _not_graded(_blank_report(kata, path, engine, target, seed), fault)


def shown_name(submission: SubmissionFile) -> str:
    """What a submission is called where its code runs."""
    return readable(submission.path.name)[:FILENAME_CHARACTERS]


def _run(start: Report, job: _Job, submission: SubmissionFile) -> Report:
    job.progress("starting the engine")
    assignment = Assignment.to_kata(
        job.kata,
        shown_name(submission),
        submission.source,
        target=job.target,
        recompile=job.recompile,
        discreet=job.discreet,
        ahead=job.ahead,
    )
    engine = open_engine(job.engine, assignment, job.station)
    try:
        try:
            job.progress("importing the submission")
            engine.load()
        except LoadFailed as error:
            report = _not_graded(start, error.fault)
        else:
            report = _checked(start, job, submission, engine)
        return msgspec.structs.replace(report, engine=engine.describe(), notes=(*report.notes, *engine.notes()))
    finally:
        engine.close()
        job.printed(engine.printed())


def _checked(start: Report, job: _Job, submission: SubmissionFile, engine: Engine) -> Report:
    kata = job.kata
    session = run_hidden_tests(kata, engine, start.seed, job.progress, first_only=job.first_only)
    job.watch(session)
    if session.problem is not None:
        return _grader_fault(start, session.problem)
    if session.load_fault is not None:
        return _not_graded(start, session.load_fault)
    outcomes = [outcome for outcome in session.outcomes.values() if outcome.absent is None]
    checks = tuple(scoring.check_result(outcome) for outcome in outcomes)
    job.progress("looking for the mistake")
    mistakes = load_module(kata.mistakes, f"mistakes_{kata.slug}")
    notes: tuple[str, ...] = ()
    try:
        checks = diagnose(checks, session, submission.text, mistakes, Oracle(kata), _rerun(kata, engine), start.seed)
    except CourseFault as fault:
        # What failed is known; a fault of a wrong model must not cost that.
        notes = (f"{UNDIAGNOSED}: {fault}",)
    unavailable = {one.mark.title: one.absent for one in session.outcomes.values() if one.absent is not None}
    verdict = scoring.verdict_of(checks)
    return msgspec.structs.replace(
        start,
        verdict=verdict,
        checks=checks,
        score=sum(check.points for check in checks),
        max_score=sum(check.max_points for check in checks),
        medal=scoring.medal_of(checks, session, engine.describe().name),
        traffic=scoring.traffic_of(session),
        traffic_at_full_size=scoring.full_size_traffic_of(session),
        resources=engine.resources(),
        speed=scoring.speed_of(session),
        absent=scoring.not_measured(engine.describe().name, session),
        unavailable=unavailable,
        notes=notes,
    )


def _rerun(kata: Kata, engine: Engine) -> Rerun:
    """One more call of the submission, for the diagnosis."""
    entries = {entry.name: entry for entry in kata.file.entry_points}

    def rerun(name: str, arguments: tuple[Any, ...]) -> Call | None:
        observation = engine.run(entries[name], arguments)
        return Call("", name, arguments, observation.outputs, observation) if observation.fault is None else None

    return rerun


def _blank_report(kata: Kata, path: Path, engine: str, target: str | None, seed: int) -> Report:
    return Report(
        kata=kata.slug,
        submission=Submission(readable(path), ""),
        engine=_expected_engine(engine, target),
        verdict="error",
        score=0.0,
        max_score=0.0,
        medal="none",
        seed=seed,
        environment={
            "tritonkata": __version__,
            "python": platform.python_version(),
            "system": f"{platform.system()} {platform.machine()}",
        },
        started_at=datetime.now(UTC).isoformat(timespec="seconds"),
    )


def _expected_engine(engine: str, target: str | None) -> EngineReport:
    """What the report says where no engine was started."""
    if engine == "gpu":
        return EngineReport("gpu", "", target or "")
    return EngineReport("interpreter", processor_name(), target or DEFAULT_TARGET)


def _not_graded(report: Report, fault: Fault) -> Report:
    return msgspec.structs.replace(report, verdict="error", fault=fault)


def _grader_fault(report: Report, message: str) -> Report:
    fault = Fault(verdict="grader_error", phase="protocol", message=message[:2000])
    return msgspec.structs.replace(report, verdict="grader_error", fault=fault)


def _finished(report: Report, began: float) -> Report:
    return msgspec.structs.replace(report, seconds=round(time.monotonic() - began, 3))
