"""`kata doctor`: what works on this machine, and how to put right what does not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from tritonkata.cli.common import EXIT_FAILED, EXIT_PASSED
from tritonkata.cli.status import StatusLine

if TYPE_CHECKING:
    from tritonkata.launcher.traffic.comparison import Comparison

_MARKS = {"ok": ("ok", "green"), "warn": ("!", "yellow"), "fail": ("x", "red"), "absent": ("-", "bright_black")}
_SOURCES = {"cupti": "CUPTI", "ncu": "Nsight Compute"}
_VERDICTS = {True: "equal", False: "DIFFERENT", None: ""}


@click.command(epilog="Example: kata doctor --json > doctor.json")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option("--counters", is_flag=True, help="Count a copy on the GPU with CUPTI and with ncu, and compare.")
@click.pass_context
def doctor(ctx: click.Context, as_json: bool, counters: bool) -> None:
    """Look at GPU, driver, counters, Triton, NumPy and sandbox. Exits 0 if an engine works, else 1.

    With --counters: exits 0 if hardware counters can be trusted here, else 1.
    """
    if counters:
        ctx.exit(_compare(as_json=as_json))
    from tritonkata.doctor.examination import examine

    status = StatusLine()
    status.show("looking at libraries, GPU and sandbox")
    try:
        health = examine()
    finally:
        status.clear()
    if as_json:
        import msgspec

        click.echo(msgspec.json.format(msgspec.json.encode(health), indent=2))
    else:
        width = max(len(finding.name) for finding in health.findings)
        for finding in health.findings:
            mark, colour = _MARKS[finding.status]
            click.echo(f"{click.style(mark.rjust(2), fg=colour)} {finding.name:{width}}  {finding.detail}")
            if finding.fix:
                click.echo(f"   {'':{width}}  fix: {finding.fix}")
        click.echo(f"Engines that work: {', '.join(health.engines) or 'none'}")
    ctx.exit(EXIT_PASSED if health.engines else EXIT_FAILED)


def _compare(*, as_json: bool) -> int:
    """Print what both sources counted; the exit code."""
    import msgspec

    from tritonkata.doctor.examination import compare_counters

    status = StatusLine()
    status.show("counting a copy with CUPTI and with Nsight Compute")
    try:
        found = compare_counters()
    finally:
        status.clear()
    if isinstance(found, str):
        told = msgspec.json.encode({"error": found}).decode() if as_json else f"No counters: {found} (`kata doctor`)"
        click.echo(told)
        return EXIT_FAILED
    if as_json:
        lines = msgspec.to_builtins(found.lines)
        everything = {**msgspec.to_builtins(found), "lines": lines, "agrees": found.agrees}
        click.echo(msgspec.json.format(msgspec.json.encode(everything), indent=2))
    else:
        _print_comparison(found)
    return EXIT_PASSED if found.agrees else EXIT_FAILED


def _print_comparison(found: Comparison) -> None:
    click.echo(f"A copy of {found.copied_bytes} bytes on {found.device}, in bytes:")
    click.echo(f"{'':20}{'CUPTI':>14}{'ncu':>14}")
    for line in found.lines:
        values = ("-" if value is None else str(value) for value in (line.cupti, line.ncu))
        click.echo(f"{line.name:20}{''.join(f'{value:>14}' for value in values)}  {_VERDICTS[line.agrees]}".rstrip())
    for source in found.sources:
        name = _SOURCES[source.name]
        setup = f", after {source.setup_seconds:.2f} s of set-up" if source.setup_seconds else ""
        click.echo(f"{name}: {source.problem or f'trusted; one measurement takes {source.seconds:.2f} s{setup}'}")
        for level, reason in source.absent.items():
            click.echo(f"{name}, {level}: {reason}")
