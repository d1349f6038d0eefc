"""`kata doctor`: what works on this machine, and how to put right what does not."""

from __future__ import annotations

import click

from tritonkata.cli.common import EXIT_FAILED, EXIT_PASSED

_MARKS = {"ok": ("ok", "green"), "warn": ("!", "yellow"), "fail": ("x", "red"), "absent": ("-", "bright_black")}


@click.command(epilog="Example: kata doctor --json > doctor.json")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_context
def doctor(ctx: click.Context, as_json: bool) -> None:
    """Look at GPU, driver, counters, Triton, NumPy and sandbox. Exits 0 if an engine works, else 1."""
    from tritonkata.doctor import examine

    health = examine()
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
