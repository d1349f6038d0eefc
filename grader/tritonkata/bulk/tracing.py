"""The first half of grading a submission with a GPU: its launch plans, made where there need not be one."""

from __future__ import annotations

from pathlib import Path

from tritonkata.boundary.sandbox import find_bubblewrap
from tritonkata.check import shown_name
from tritonkata.crew.member import station
from tritonkata.engine.ahead import Layout, Wanted
from tritonkata.engine.client import LoadFailed
from tritonkata.engine.workers import Assignment, Workers
from tritonkata.gradebook.types import Pending, Run
from tritonkata.model.course import Kata
from tritonkata.model.plan import LaunchPlan
from tritonkata.submission import SubmissionProblem, submission_of


def traced(kata: Kata, run: Run, one: Pending, wanted: Wanted) -> dict[Layout, LaunchPlan]:
    """Plans for those of the layouts that the submission can be traced for.

    What goes wrong is left out: the grading traces it again, and judges it.

    Raises:
        GraderError: a process could not be started.
        SandboxUnavailable: this machine has no sandbox, and the run is not to do without.
    """
    if run.settings.sandbox:
        find_bubblewrap()
    try:
        submission = submission_of(Path(one.file), one.source or b"")
    except SubmissionProblem:
        return {}
    assignment = Assignment.to_kata(kata, shown_name(submission), submission.source, recompile=run.settings.recompile)
    workers = Workers(assignment, lambda: wanted.device, station().stock)
    try:
        return _plans(workers, kata, wanted)
    finally:
        workers.close()


def _plans(workers: Workers, kata: Kata, wanted: Wanted) -> dict[Layout, LaunchPlan]:
    entries = {entry.name: entry for entry in kata.file.entry_points}
    tracer = workers.tracer(lambda _: wanted.target)
    try:
        tracer.worker.ensure_loaded()
    except LoadFailed:
        return {}
    plans = {layout: tracer.plan(entries[layout.entry], layout) for layout in wanted.layouts}
    return {layout: plan for layout, plan in plans.items() if isinstance(plan, LaunchPlan)}
