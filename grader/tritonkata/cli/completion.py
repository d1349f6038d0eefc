"""`kata completion`: the script that a shell sources."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class


@click.command(epilog='Example, in ~/.bashrc: eval "$(kata completion bash)"')
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    """Print the completion script for a shell.

    \b
    bash: eval "$(kata completion bash)" in ~/.bashrc
    zsh:  eval "$(kata completion zsh)" in ~/.zshrc
    fish: kata completion fish > ~/.config/fish/completions/kata.fish
    """  # noqa: D301 - \b is click's mark for lines to be left alone
    kind = get_completion_class(shell)
    if kind is None:
        raise click.UsageError(f"this release of click knows no completion for {shell}; update click", ctx)
    click.echo(kind(ctx.find_root().command, {}, "kata", "_KATA_COMPLETE").source())
