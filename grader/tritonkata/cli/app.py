"""The command group: subcommands are imported when they are asked for, and every error gets one line and a code."""

from __future__ import annotations

import importlib
import os
import sys

import click

from tritonkata import __version__
from tritonkata.cli import ending, streams
from tritonkata.cli.common import EXIT_GRADER, EXIT_READER_LEFT, EXIT_USAGE, refuse_lost_folder, report_crash
from tritonkata.courses import CourseError
from tritonkata.workspace import WorkspaceError

_COMMANDS = {
    "start": "tritonkata.cli.start:start",
    "check": "tritonkata.cli.check:check",
    "list": "tritonkata.cli.listing:list_katas",
    "hint": "tritonkata.cli.hint:hint",
    "solution": "tritonkata.cli.solution:solution",
    "reset": "tritonkata.cli.reset:reset",
    "lab": "tritonkata.cli.lab:lab",
    "verify": "tritonkata.cli.verify:verify",
    "new": "tritonkata.cli.new:new",
    "grade": "tritonkata.cli.grade:grade",
    "regrade": "tritonkata.cli.regrade:regrade",
    "override": "tritonkata.cli.override:override",
    "report": "tritonkata.cli.report:report",
    "similar": "tritonkata.cli.similar:similar",
    "export": "tritonkata.cli.export:export",
    "feedback": "tritonkata.cli.export:feedback",
    "package": "tritonkata.cli.package:package",
    "doctor": "tritonkata.cli.doctor:doctor",
    "completion": "tritonkata.cli.completion:completion",
}


class _LazyGroup(click.Group):
    """A group whose commands are imported by name, in the order of `_COMMANDS`."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        place = _COMMANDS.get(cmd_name)
        if place is None:
            return None
        module, _, attribute = place.partition(":")
        command: click.Command = getattr(importlib.import_module(module), attribute)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            raise click.UsageError(_unknown_command(args[0]) if args else error.message, ctx) from error


@click.group(
    cls=_LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Example: kata start safe_softmax && kata check",
)
@click.version_option(__version__, prog_name="kata")
@click.option(
    "--course",
    metavar="DIR|NAME",
    envvar="KATA_COURSE",
    help="A course folder, or an installed course, in place of the built-in one (also: KATA_COURSE).",
)
@click.pass_context
def cli(ctx: click.Context, course: str | None) -> None:  # noqa: ARG001 - read from the context, by the command
    """Drills for Triton kernels, graded against a float64 truth.

    Start a kata, fill in its TODOs, check it, and read what to change.
    """
    if os.environ.get("NO_COLOR"):
        ctx.color = False
    refuse_lost_folder()


def run(arguments: list[str] | None = None) -> int:
    """Run `kata` with these arguments (the process's own by default); returns the exit code."""
    streams.prepare()
    try:
        ending.listen()
        result = cli.main(arguments, prog_name="kata", standalone_mode=False)
        sys.stdout.flush()
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except (CourseError, WorkspaceError) as error:
        click.echo(f"Error: {error}", err=True)
        return EXIT_USAGE
    except (click.Abort, KeyboardInterrupt):
        ending.finish()
        click.echo(ending.words(), err=True)
        return ending.exit_code()
    except streams.OutputLost as error:
        return _output_lost(error)
    except Exception as error:
        report_crash(error, debug=bool(os.environ.get("KATA_DEBUG")))
        return EXIT_GRADER
    return result if isinstance(result, int) else 0


def _output_lost(error: streams.OutputLost) -> int:
    streams.abandon_output()
    if error.reason is None:
        return EXIT_READER_LEFT
    click.echo(f"Error: standard output cannot be written ({error.reason}); send it elsewhere", err=True)
    return EXIT_GRADER


def _unknown_command(name: str) -> str:
    import difflib

    near = difflib.get_close_matches(name, _COMMANDS, n=1)
    hint = f"did you mean `kata {near[0]}`?" if near else "`kata --help` lists them."
    return f"there is no command {name!r}; {hint}"
