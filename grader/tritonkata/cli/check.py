"""`kata check`: find the file and its kata, have it graded, print what came out."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Literal

import click

from tritonkata.cli import ending
from tritonkata.cli.common import (
    EXIT_FAILED,
    EXIT_GRADER,
    EXIT_PASSED,
    FileType,
    KataType,
    Problem,
    refuse_lost_folder,
    report_crash,
    shown,
)
from tritonkata.cli.outputs import Outputs
from tritonkata.cli.resolving import resolve
from tritonkata.cli.status import StatusLine
from tritonkata.cli.streams import OutputClosed, OutputLost, abandon_output
from tritonkata.model.course import Kata
from tritonkata.model.report import Report
from tritonkata.submission import SubmissionProblem, read_submission
from tritonkata.workspace import WorkspaceError, progress_path, record_check

_EXIT_CODES = {"pass": EXIT_PASSED, "fail": EXIT_FAILED, "error": EXIT_FAILED, "grader_error": EXIT_GRADER}
EngineName = Literal["auto", "gpu", "interpreter"]
_FIRST_EXPLANATIONS = 3
_EVERY_EXPLANATION = 1000


@click.command(epilog="Example: kata check safe_softmax.py --engine interpreter --seed 7")
@click.argument("path", required=False, type=FileType())
@click.option("--kata", metavar="SLUG", type=KataType(), help="Which kata PATH is for, where its name does not say.")
@click.option("--engine", type=click.Choice(["auto", "gpu", "interpreter"]), default="auto", show_default=True)
@click.option(
    "--target",
    type=click.Choice(["sm_80", "sm_90", "sm_100", "gfx942"]),
    help="What to compile for, besides the card where there is one.  [default: sm_90 without a GPU]",
)
@click.option("--seed", type=click.IntRange(0, 2**63 - 1), help="The secret seed, to repeat a run; random without.")
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
@click.option("--junit", metavar="FILE", type=FileType(), help="Write JUnit XML too.")
@click.option(
    "--report",
    "report_file",
    metavar="FILE",
    type=FileType(),
    help="Write the report as JSON too.",
)
@click.option(
    "--recompile", is_flag=True, help="Compile each kernel again in a clean process; one that differs is refused."
)
@click.option("--all", "every", is_flag=True, help="Explain every failure, not only the first few.")
@click.option("--debug", is_flag=True, envvar="KATA_DEBUG", help="Show the traceback if the grader itself fails.")
@click.pass_context
def check(
    ctx: click.Context,
    path: Path | None,
    kata: Kata | None,
    engine: EngineName,
    target: str | None,
    seed: int | None,
    as_json: bool,
    junit: Path | None,
    report_file: Path | None,
    recompile: bool,
    every: bool,
    debug: bool,
) -> None:
    """Grade a kernel and explain what to change.

    Without PATH: the kata last started or edited in this folder.
    Exit codes: 0 all passed, 1 some check failed, 2 wrong usage, 3 the grader failed.
    """
    kata, path = resolve(path, kata)
    folder = Path.cwd()
    outputs = Outputs(junit, report_file)
    outputs.refuse_unwritable(path)
    try:
        report, said = _grade(kata, path, engine, target, seed, recompile=recompile)
        ending.raise_if_ended()
        if report.verdict in ("error", "grader_error"):
            _refuse_lost_places(kata)
        limit = _EVERY_EXPLANATION if every else _FIRST_EXPLANATIONS
        printed = _print(report, said, kata, path, as_json=as_json, limit=limit)
    except (click.ClickException, click.Abort, click.exceptions.Exit, KeyboardInterrupt):
        raise
    # Also what ends a process or a test, as code of a course may.
    except BaseException as error:
        _refuse_lost_places(kata)
        report_crash(error, debug=debug)
        ctx.exit(EXIT_GRADER)
    lost = [problem for problem in (printed, outputs.write(report)) if problem]
    _record(folder, path, report)
    for problem in lost:
        click.echo(f"Error: {problem} The verdict is: {_verdict_line(report)}", err=True)
    ctx.exit(EXIT_GRADER if lost else _EXIT_CODES[report.verdict])


def _grade(
    kata: Kata, path: Path, engine: EngineName, target: str | None, seed: int | None, *, recompile: bool
) -> tuple[Report, str]:
    """The report, and what the file printed, which is for the terminal alone."""
    said: list[str] = []
    status = StatusLine()
    status.show(f"{kata.slug}: starting")
    try:
        from tritonkata.check import grade

        report = grade(
            kata,
            path,
            engine=engine,
            target=target,
            seed=seed,
            progress=status.show,
            recompile=recompile,
            printed=said.append,
        )
        return report, "".join(said)
    finally:
        status.clear()


def _print(report: Report, said: str, kata: Kata, path: Path, *, as_json: bool, limit: int) -> str | None:
    """Print the report; returns why that failed, if it did.

    A reader that went away has read what it wanted, and who closes the output wants the verdict alone.
    """
    try:
        if as_json:
            from tritonkata.cli.outputs import as_json as text

            click.echo(text(report))
        else:
            _print_text(report, said, kata, path, limit=limit)
        sys.stdout.flush()
    except OutputLost as error:
        abandon_output()
        wanted = error.reason is not None and not isinstance(error, OutputClosed)
        return f"standard output cannot be written ({error.reason})." if wanted else None
    return None


def _print_text(report: Report, said: str, kata: Kata, path: Path, *, limit: int) -> None:
    from rich.console import Console

    from tritonkata.feedback.terminal import print_output, print_report

    console = Console(highlight=False)
    print_output(said, console)
    print_report(report, kata, _source(path), console, limit=limit)


def _verdict_line(report: Report) -> str:
    from tritonkata.feedback.summary import outcome_line

    return outcome_line(report)


def _source(path: Path) -> str | None:
    """The learner's text for excerpts; None where the file cannot be read."""
    try:
        return read_submission(path).text
    except SubmissionProblem as problem:
        return problem.file.text if problem.file else None


def _refuse_lost_places(kata: Kata) -> None:
    """Refuse to judge what ended because a folder went away: neither the grader nor the submission failed.

    Raises:
        Problem: the working directory or the kata's files were removed while the check ran.
    """
    refuse_lost_folder()
    for place in (kata.folder, kata.reference):
        if not place.is_dir():
            raise Problem(f"{shown(place)}: the course was removed during the check; put it back and check again")


def _record(folder: Path, path: Path, report: Report) -> None:
    """Count the attempt, if `folder` is a workspace that the file lies in. Grading elsewhere leaves no trace."""
    if not folder.is_dir():
        click.echo(f"The result was not recorded: {folder} was removed during the check", err=True)
        return
    if report.verdict == "grader_error" or not progress_path(folder).is_file() or not path.exists():
        return
    if not path.absolute().resolve().is_relative_to(folder.resolve()):
        return
    try:
        record_check(folder, path, report)
    except WorkspaceError as error:
        click.echo(f"The result was not recorded: {error}", err=True)
