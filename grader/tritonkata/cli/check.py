"""`kata check`: find the file and its kata, have it graded, print what came out."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Literal

import click

from tritonkata.cli.common import (
    EXIT_FAILED,
    EXIT_GRADER,
    EXIT_PASSED,
    KataType,
    Problem,
    course_of,
    report_crash,
    shown,
)
from tritonkata.model.course import Kata
from tritonkata.model.report import Report
from tritonkata.workspace import WorkspaceError, find_submission, load_progress, progress_path, record_check

_EXIT_CODES = {"pass": EXIT_PASSED, "fail": EXIT_FAILED, "error": EXIT_FAILED, "grader_error": EXIT_GRADER}
EngineName = Literal["auto", "gpu", "interpreter"]
_FIRST_EXPLANATIONS = 3
_EVERY_EXPLANATION = 1000


class _StatusLine:
    """One line on a terminal's stderr that says what is going on; nothing elsewhere."""

    def __init__(self) -> None:
        self._on = sys.stderr.isatty()
        self._shown = ""

    def show(self, text: str) -> None:
        """Replace the line by `text`."""
        if self._on and text != self._shown:
            self._shown = text
            width = _terminal_width()
            sys.stderr.write(f"\r\x1b[2K{' '.join(text.split())[: width - 1]}")
            sys.stderr.flush()

    def clear(self) -> None:
        """Take the line away."""
        if self._on:
            sys.stderr.write("\r\x1b[2K")
            sys.stderr.flush()


@click.command(epilog="Example: kata check safe_softmax.py --engine interpreter --seed 7")
@click.argument("path", required=False, type=click.Path(path_type=Path))
@click.option("--kata", metavar="SLUG", type=KataType(), help="Which kata PATH is for, where its name does not say.")
@click.option("--engine", type=click.Choice(["auto", "gpu", "interpreter"]), default="auto", show_default=True)
@click.option(
    "--target",
    type=click.Choice(["sm_80", "sm_90", "sm_100", "gfx942"]),
    help="What to compile for, besides the card where there is one.  [default: sm_90 without a GPU]",
)
@click.option("--seed", type=click.IntRange(0, 2**63 - 1), help="The secret seed, to repeat a run; random without.")
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
@click.option("--junit", metavar="FILE", type=click.Path(dir_okay=False, path_type=Path), help="Write JUnit XML too.")
@click.option(
    "--report",
    "report_file",
    metavar="FILE",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write the report as JSON too.",
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
    every: bool,
    debug: bool,
) -> None:
    """Grade a kernel and explain what to change.

    Without PATH: the kata last started or edited in this folder.
    Exit codes: 0 all passed, 1 some check failed, 2 wrong usage, 3 the grader failed.
    """
    kata, path = _resolve(path, kata)
    _refuse_missing_folders({"--junit": junit, "--report": report_file})
    try:
        report = _grade(kata, path, engine, target, seed)
        if as_json:
            click.echo(_json(report))
        else:
            _print_text(report, kata, path, limit=_EVERY_EXPLANATION if every else _FIRST_EXPLANATIONS)
    except (click.ClickException, click.Abort, click.exceptions.Exit, BrokenPipeError):
        raise
    except Exception as error:
        report_crash(error, debug=debug)
        ctx.exit(EXIT_GRADER)
    _write_files(report, junit, report_file)
    _record(path, report)
    ctx.exit(_EXIT_CODES[report.verdict])


def _resolve(path: Path | None, kata: Kata | None) -> tuple[Kata, Path]:
    """The kata and the file, from whichever of the two was named, the file's name and the workspace."""
    if path is None:
        return _latest() if kata is None else (kata, _file_of(kata))
    return (_kata_of(path) if kata is None else kata), path


def _latest() -> tuple[Kata, Path]:
    course = course_of()
    found = find_submission(Path.cwd(), course.slugs)
    if found is None:
        raise Problem(
            f"there is no kata in {Path.cwd()}; begin one with `kata start SLUG`, "
            "or name a file: kata check PATH --kata SLUG"
        )
    return course.kata(found[0]), Path(shown(found[1]))


def _file_of(kata: Kata) -> Path:
    progress = load_progress(Path.cwd()).katas.get(kata.slug)
    path = Path(progress.path if progress else f"{kata.slug}.py")
    if not path.is_file():
        raise Problem(
            f"{path}: there is no such file; begin with `kata start {kata.slug}`, or name the file: kata check PATH"
        )
    return path


def _kata_of(path: Path) -> Kata:
    course = course_of()
    folder = Path.cwd()
    wanted = path.absolute()
    for slug, progress in load_progress(folder).katas.items():
        if slug in course.slugs and (folder / progress.path).absolute() == wanted:
            return course.kata(slug)
    # The longest first, in case one name begins with another.
    for slug in sorted(course.slugs, key=len, reverse=True):
        if path.stem == slug or path.stem.startswith((f"{slug}_", f"{slug}-", f"{slug}.", f"{slug} ")):
            return course.kata(slug)
    if not path.exists():
        raise Problem(f"{path}: there is no such file; check the name, or begin with `kata start SLUG`")
    raise Problem(
        f"cannot tell which kata {path} is for; say it: kata check {path} --kata SLUG ({', '.join(course.slugs)})"
    )


def _grade(kata: Kata, path: Path, engine: EngineName, target: str | None, seed: int | None) -> Report:
    status = _StatusLine()
    status.show(f"{kata.slug}: starting")
    try:
        from tritonkata.check import grade

        return grade(kata, path, engine=engine, target=target, seed=seed, progress=status.show)
    finally:
        status.clear()


def _json(report: Report) -> str:
    import msgspec

    return msgspec.json.format(msgspec.json.encode(report), indent=2).decode()


def _print_text(report: Report, kata: Kata, path: Path, *, limit: int) -> None:
    from rich.console import Console

    from tritonkata.feedback.terminal import print_report

    print_report(report, kata, _source(path), Console(highlight=False), limit=limit)


def _source(path: Path) -> str | None:
    """The learner's text for excerpts; None where the file cannot be read."""
    from tritonkata.submission import SubmissionProblem, read_submission

    try:
        return read_submission(path).text
    except SubmissionProblem as problem:
        return problem.file.text if problem.file else None


def _refuse_missing_folders(files: dict[str, Path | None]) -> None:
    for option, path in files.items():
        if path is not None and not path.absolute().parent.is_dir():
            raise Problem(f"{option}: {path.parent} is no directory; create it first")


def _write_files(report: Report, junit: Path | None, report_file: Path | None) -> None:
    try:
        if report_file is not None:
            report_file.write_text(_json(report) + "\n", encoding="utf-8")
        if junit is not None:
            from tritonkata.feedback.junit import write

            write(report, junit)
    except OSError as error:
        raise Problem(
            f"{error.filename or junit}: cannot be written ({error.strerror}); choose another file"
        ) from error


def _record(path: Path, report: Report) -> None:
    """Count the attempt, if this folder is a workspace that the file lies in. Grading elsewhere leaves no trace."""
    folder = Path.cwd()
    if report.verdict == "grader_error" or not progress_path(folder).is_file():
        return
    if not path.absolute().resolve().is_relative_to(folder.resolve()):
        return
    try:
        record_check(folder, path, report)
    except WorkspaceError as error:
        click.echo(f"The result was not recorded: {error}", err=True)


def _terminal_width() -> int:
    import shutil

    return shutil.get_terminal_size().columns
