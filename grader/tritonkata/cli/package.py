"""`kata package`: what a platform runs to grade by itself."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import click

from tritonkata.cli.common import FileType, KataType, Problem
from tritonkata.cli.outputs import refuse_foreign
from tritonkata.files import write_target
from tritonkata.model.course import Kata


@click.command(epilog="Example: kata package gradescope --kata safe_softmax --to autograder.zip")
@click.argument("platform", type=click.Choice(["gradescope", "classroom50", "github"]))
@click.option("--kata", metavar="SLUG", type=KataType(), required=True)
@click.option(
    "--to", "target", metavar="PATH", type=FileType(), required=True, help="The zip, folder or workflow file."
)
@click.option("--wheel", metavar="FILE", type=FileType(), help="A wheel of tritonkata to ship with it.")
@click.option("--engine", type=click.Choice(["interpreter", "gpu"]), default="interpreter", show_default=True)
def package(platform: str, kata: Kata, target: Path, wheel: Path | None, engine: Literal["interpreter", "gpu"]) -> None:
    """Write what PLATFORM needs to grade a kata: Gradescope's zip, Classroom 50's folder, or a GitHub workflow."""
    from tritonkata.exports.words import ExportProblem

    try:
        if platform == "gradescope":
            from tritonkata.exports.wrappers.gradescope import is_package, package_gradescope

            if not is_package(target):
                refuse_foreign("--to", target, b"")
            package_gradescope(kata, target, wheel=wheel, engine=engine)
        elif platform == "classroom50":
            from tritonkata.exports.wrappers.classroom50 import package_classroom50

            package_classroom50(kata, target, wheel=wheel, engine=engine)
        else:
            from tritonkata.exports.wrappers.github import workflow

            content = workflow(kata, engine=engine).encode()
            refuse_foreign("--to", target, content.partition(b"\n")[0])
            write_target(target, content)
    except ExportProblem as error:
        raise Problem(str(error)) from error
    except OSError as error:
        raise Problem(f"{target}: cannot be written: {error.strerror}; choose another --to") from error
    click.echo(f"{target}: grades {kata.slug} on {platform}")
