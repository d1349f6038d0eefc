"""One file of a kata graded, and what its role promises of it."""

from __future__ import annotations

import tempfile
from pathlib import Path

from tritonkata.authoring.matrix import Example, Mutant, Role
from tritonkata.authoring.mutants import Mutation
from tritonkata.authoring.states import render_problem
from tritonkata.check import grade
from tritonkata.crew.member import station
from tritonkata.engine.engines import EngineName
from tritonkata.hidden.places import place_of
from tritonkata.hidden.plugin import Session
from tritonkata.model.course import Kata
from tritonkata.model.report import Report, grader_fault, main_diagnosis

NOT_LOADED = "import"
_NOT_GRADED = "could not be graded: "


def examples_of(kata: Kata) -> tuple[tuple[Role, Path], ...]:
    """The files that a kata makes promises about."""
    wrong = sorted((kata.folder / "wrong").glob("*/*.py"))
    return ("skeleton", kata.skeleton), ("solution", kata.solution), *(("wrong", path) for path in wrong)


def graded_example(kata: Kata, role: Role, path: Path, engine: EngineName, seed: int) -> Example:
    """Grade one of these files, whatever becomes of it."""
    expected = _expected(role, path)
    sessions: list[Session] = []
    try:
        report = grade(kata, path, engine=engine, seed=seed, watch=sessions.append, station=station())
        problem = _problem(role, expected, report, kata)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        # The author's code runs here, wrong models and the oracle, and may end a process or a test.
        return example_not_graded(kata, role, path, _broken(error, kata.root))
    return Example(
        role=role,
        file=_file(kata, path),
        expected=expected,
        verdict=report.verdict,
        diagnosis=main_diagnosis(report),
        verdicts={check.name: check.verdict for check in report.checks},
        alternatives=tuple(dict.fromkeys(other for check in report.checks for other in check.alternatives)),
        dtypes=_dtypes(kata, sessions),
        problem=problem,
        seconds=report.seconds,
    )


def graded_mutant(kata: Kata, mutation: Mutation, engine: EngineName, seed: int) -> Mutant:
    """Grade the changed solution until a check fails."""
    with tempfile.TemporaryDirectory(prefix="kata-mutant-") as folder:
        path = Path(folder) / kata.solution.name
        path.write_text(mutation.source, encoding="utf-8")
        try:
            report = grade(kata, path, engine=engine, seed=seed, first_only=True, station=station())
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            return mutant_not_graded(mutation, _broken(error, kata.root))
    if fault := grader_fault(report):
        return mutant_not_graded(mutation, _told(report) or fault, report.seconds)
    failed = [check.name for check in report.checks if check.verdict not in ("pass", "skipped")]
    killed = failed[0] if failed else "" if report.verdict == "pass" else NOT_LOADED
    return Mutant(mutation.line, mutation.column, mutation.change, killed, seconds=report.seconds)


def example_not_graded(kata: Kata, role: Role, path: Path, why: str) -> Example:
    """One of these files of which nothing is known but why."""
    return Example(role, _file(kata, path), _expected(role, path), "grader_error", problem=f"{_NOT_GRADED}{why}")


def mutant_not_graded(mutation: Mutation, why: str, seconds: float = 0.0) -> Mutant:
    """Likewise for a mutant."""
    place = (mutation.line, mutation.column, mutation.change)
    return Mutant(*place, problem=f"{_NOT_GRADED}{why}", seconds=seconds)


def _expected(role: Role, path: Path) -> str:
    return {"skeleton": "fail", "solution": "pass at par"}.get(role, path.parent.name)


def _file(kata: Kata, path: Path) -> str:
    return str(path.relative_to(kata.root))


def _problem(role: Role, expected: str, report: Report, kata: Kata) -> str:
    """What is not as the role promises; empty if all is."""
    if report.verdict in ("grader_error", "error"):
        return f"{_NOT_GRADED}{_told(report)}"
    if fault := grader_fault(report):
        return fault
    if role == "solution":
        return _short_of_par(report, kata)
    if report.verdict != "fail":
        return "passes, and must fail"
    failed = [check for check in report.checks if check.verdict not in ("pass", "skipped")]
    for check in failed:
        broken = render_problem(kata, check, report) if check.diagnosis else ""
        if broken:
            return broken
    if role == "skeleton":
        first = report.checks[0]
        return "" if first.verdict == "pass" else f"must run as it is, and does not: {first.name}: {first.message}"
    found = main_diagnosis(report)
    if found == expected:
        return ""
    what = f"must get the diagnosis {expected}, and got {found or 'none'}"
    return what if found else f"{what}: {_first_failed(report)}"


def _first_failed(report: Report) -> str:
    """The check that no diagnosis was found for, in one line."""
    left = [check for check in report.checks if check.verdict != "pass"]
    check = next((check for check in left if check.verdict != "skipped"), left[0])
    return f"{check.name} ({check.verdict}{': ' if check.message else ''}{check.message})"


def _short_of_par(report: Report, kata: Kata) -> str:
    """What keeps a solution from the best medal."""
    failed = [f"{check.name} ({check.message})" for check in report.checks if check.verdict != "pass"]
    if failed:
        return f"does not pass: {', '.join(failed)}"
    if report.medal == "gold":
        return ""
    if report.traffic is None:
        return "passes, and no check measured its traffic; call assert_within_budget in one"
    speed = f", {report.speed.fraction_of_copy:.0%} of a copy's speed" if report.speed is not None else ""
    moved = report.traffic.traversals.requested
    return f"passes without gold: {moved:g} traversals, par is {kata.file.traffic.par:g}{speed}"


def _told(report: Report) -> str:
    told = [f"{check.name}: {check.message}" for check in report.checks if check.verdict == "grader_error"]
    return report.fault.message if report.fault else "; ".join(told)


def _dtypes(kata: Kata, sessions: list[Session]) -> tuple[str, ...]:
    first = kata.file.entry_points[0].name
    found = {
        str(call.arguments[0].dtype)
        for session in sessions
        for call in session.calls
        if call.entry == first and call.outputs and session.outcomes[call.check].verdict == "pass"
    }
    return tuple(sorted(found))


def _broken(error: BaseException, root: Path) -> str:
    """What the author's own code raised, and where."""
    what = " ".join(str(error).split())[:300]
    return f"{place_of(error, root)}{type(error).__name__}{': ' if what else ''}{what}"
