"""`registry completion`: a script that lets a shell complete commands and options."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

_INTO = {
    "bash": 'eval "$(registry completion bash)" in ~/.bashrc',
    "zsh": 'eval "$(registry completion zsh)" in ~/.zshrc',
    "fish": "registry completion fish > ~/.config/fish/completions/registry.fish",
}


@click.command(epilog="Put into use with: " + "; ".join(_INTO.values()) + ".")
@click.argument("shell", type=click.Choice(list(_INTO)))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print the completion script of a shell."""
    kind = get_completion_class(shell)
    assert kind is not None  # noqa: S101 (click has these three)
    click.echo(kind(context.find_root().command, {}, "registry", "_REGISTRY_COMPLETE").source())
