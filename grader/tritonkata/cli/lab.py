"""`kata lab`: the course's labs, measured on a GPU or counted in the interpreter."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from tritonkata.cli import ending
from tritonkata.cli.check import EngineName
from tritonkata.cli.common import EXIT_FAILED, EXIT_GRADER, EXIT_PASSED, FileType, Problem
from tritonkata.cli.outputs import refuse_targets, why
from tritonkata.cli.status import StatusLine
from tritonkata.files import write_target

if TYPE_CHECKING:
    from tritonkata.labs.model import CeilingResult, LabResult, Options

    Result = LabResult | CeilingResult
    _ExtentParam = click.ParamType[int]
else:
    # Older releases of click have no subscript here.
    _ExtentParam = click.ParamType

Command = TypeVar("Command", bound=Callable[..., Any])

_MOST_ROWS = 2**31 - 1
_MOST_COLS = 131_072


class GraderProblem(click.ClickException):
    """Nothing the user did: one line, exit code 3."""

    exit_code = EXIT_GRADER


class Extent(_ExtentParam):
    """A number of rows or columns."""

    name = "number"

    def __init__(self, what: str, most: int, usual: int) -> None:
        self._what = what
        self._most = most
        self._usual = usual

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """An int between 1 and the most."""
        try:
            number = int(value)
        except ValueError:
            self.fail(f"{value!r} is no number of {self._what}; {self._advice()}", param, ctx)
        if not 1 <= number <= self._most:
            self.fail(f"{number} {self._what} cannot be measured; {self._advice()}", param, ctx)
        return number

    def _advice(self) -> str:
        return f"give 1 to {self._most:,}, such as {self._usual}"


class Bandwidth(_ExtentParam):
    """10^9 bytes a second."""

    name = "gb/s"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """A finite positive number."""
        try:
            number = float(value)
        except ValueError:
            number = math.nan
        if not math.isfinite(number) or number <= 0:
            self.fail(f"{value!r} is no bandwidth; give 10^9 bytes a second, such as 2000", param, ctx)
        return number


def shared_options(cols: int, rounds: int) -> Callable[[Command], Command]:
    """The options that all labs have; `cols` and `rounds` are this lab's defaults."""
    options = (
        click.option("--engine", type=click.Choice(["auto", "gpu", "interpreter"]), default="auto", show_default=True),
        click.option("--rows", type=Extent("rows", _MOST_ROWS, 8192), default=8192, show_default=True),
        click.option("--cols", type=Extent("columns", _MOST_COLS, cols), default=cols, show_default=True),
        click.option(
            "--dtype", type=click.Choice(["float32", "float16", "bfloat16"]), default="float32", show_default=True
        ),
        click.option(
            "--rounds", type=click.IntRange(1, 1000), default=rounds, show_default=True, help="Timed runs a kernel."
        ),
        click.option(
            "--bandwidth",
            type=Bandwidth(),
            help="GB/s for lower bounds.  [default: the measured copy; without a GPU an H200's 4200]",
        ),
        click.option("--seed", type=click.IntRange(0, 2**63 - 1), default=0, show_default=True, help="Of the scores."),
        click.option("--json", "as_json", is_flag=True, help="Print the result as JSON."),
        click.option("--svg", metavar="FILE", type=FileType(), help="Write a picture too."),
        click.option("--html", metavar="FILE", type=FileType(), help="Write a page with picture and tables too."),
    )

    def add(command: Command) -> Command:
        for option in reversed(options):
            command = option(command)
        return command

    return add


@click.group(epilog="Example: kata lab softmax --rows 8192 --cols 4096 --svg softmax.svg")
def lab() -> None:
    """Measure the course's kernels side by side.

    On a GPU: time, and bytes at three levels. Without one: exact requested bytes,
    lower bounds of the time, registers and spills.
    """


@lab.command(epilog="Example: kata lab softmax --dtype bfloat16 --html softmax.html")
@shared_options(cols=4096, rounds=10)
@click.pass_context
def softmax(ctx: click.Context, /, **given: Any) -> None:
    """One softmax in 4, 3, 3 and 2 traversals, and torch's.

    Row 0 holds a score of 100, which the naive kernel does not survive. Exits with 1 if
    any other kernel is wrong.
    """
    ctx.exit(_lab("softmax", **given))


@lab.command(epilog="Example: kata lab fusion --rows 4096 --cols 4096")
@shared_options(cols=4096, rounds=10)
@click.pass_context
def fusion(ctx: click.Context, /, **given: Any) -> None:
    """Scale, causal mask and softmax: three kernels, one, one that skips.

    Row r is the query r % cols, which sees the columns up to its own.
    """
    ctx.exit(_lab("fusion", **given))


@lab.command(epilog="Example: kata lab ceiling --cols 131072 --svg ceiling.svg")
@shared_options(cols=32_768, rounds=5)
@click.pass_context
def ceiling(ctx: click.Context, /, **given: Any) -> None:
    """The copy's bandwidth, and when the number of passes decides.

    Row lengths are powers of two from 64 up to --cols.
    """
    ctx.exit(_lab("ceiling", **given))


def _lab(name: Any, *, engine: EngineName, as_json: bool, svg: Path | None, html: Path | None, **asked: Any) -> int:
    from tritonkata.labs.model import Options

    refuse_targets([(option, path, b"<") for option, path in (("--svg", svg), ("--html", html)) if path is not None])
    result = _measured(name, Options(**asked), engine)
    _write(result, svg, html)
    _print(result, as_json=as_json)
    return EXIT_FAILED if _unexpected(result) else EXIT_PASSED


def _measured(name: Any, options: Options, engine: EngineName) -> Result:
    status = StatusLine()
    status.show(f"{name}: starting")
    try:
        from tritonkata.engine.client import GraderError
        from tritonkata.labs.ceiling import run_ceiling
        from tritonkata.labs.memory import TooLarge
        from tritonkata.labs.running import NoGpu, run_lab

        try:
            if name == "ceiling":
                return run_ceiling(options, engine, status.show)
            return run_lab(name, options, engine, status.show)
        except (NoGpu, TooLarge) as error:
            raise Problem(str(error)) from error
        except GraderError as error:
            raise GraderProblem(str(error)) from error
    finally:
        status.clear()
        ending.raise_if_ended()


def _write(result: Result, svg: Path | None, html: Path | None) -> None:
    from tritonkata.labs.page import to_html, to_svg

    for option, path, render in (("--svg", svg, to_svg), ("--html", html, to_html)):
        if path is None:
            continue
        try:
            write_target(path, f"{render(result)}\n".encode())
        except OSError as error:
            raise GraderProblem(why(option, path, error)) from error


def _print(result: Result, *, as_json: bool) -> None:
    if as_json:
        import msgspec

        click.echo(msgspec.json.format(msgspec.json.encode(result), indent=2))
        return
    from rich.console import Console

    from tritonkata.labs.terminal import WIDTH, print_result

    print_result(result, Console(highlight=False, width=WIDTH))


def _unexpected(result: Result) -> bool:
    """Whether a kernel failed that should not."""
    from tritonkata.labs.model import rows_of
    from tritonkata.labs.variants import SOFTMAX

    meant = {variant.name for variant in SOFTMAX if variant.overflows}
    return any(
        row.fault is not None or (row.checked is not None and not row.checked.passed and row.variant not in meant)
        for row in rows_of(result)
    )
