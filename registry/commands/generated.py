"""`registry openapi completion`: files that are made for other programs."""

import subprocess
from pathlib import Path

import click
from click.shell_completion import get_completion_class

import registry

_INTO = {
    "bash": 'eval "$(registry completion bash)" in ~/.bashrc',
    "zsh": 'eval "$(registry completion zsh)" in ~/.zshrc',
    "fish": "registry completion fish > ~/.config/fish/completions/registry.fish",
}


@click.command()
@click.option("--client", is_flag=True, help="As generators of clients read it, as ?view=client does.")
def openapi(*, client: bool) -> None:
    """Print the OpenAPI document as YAML."""
    from registry import create_app
    from registry.api.openapi import openapi_yaml
    from registry.settings import Settings

    click.echo(openapi_yaml(create_app(Settings()), client=client), nl=False)


@click.command(epilog="Put into use with: " + "; ".join(_INTO.values()) + ".")
@click.argument("shell", type=click.Choice(list(_INTO)))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print the completion script of a shell."""
    kind = get_completion_class(shell)
    assert kind is not None  # noqa: S101 (click has these three)
    click.echo(kind(context.find_root().command, {}, "registry", "_REGISTRY_COMPLETE").source())


def commit() -> str | None:
    """The commit that runs, in hexadecimal; None where nobody knows."""
    package = Path(registry.__file__).parent
    checkout = package.parent
    built = package / "commit.txt"
    if built.exists():
        return built.read_text(encoding="utf-8").strip()
    if not (checkout / ".git").exists():
        return None
    try:
        asked = ["git", "-C", str(checkout), "rev-parse", "HEAD"]
        return subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return None
