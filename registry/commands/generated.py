"""`registry openapi completion deploy-files`: files that are made for other programs."""

from __future__ import annotations

import shutil
from pathlib import Path

import click
from click.shell_completion import get_completion_class

from registry.distribution import production_files
from registry.errors import Conflict, NotFound

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


@click.command("deploy-files")
@click.argument("directory", type=click.Path(path_type=Path, file_okay=False))
@click.option("--overwrite", is_flag=True, help="Replace files that are there and differ.")
def deploy_files(directory: Path, overwrite: bool) -> None:
    """Write docker-compose.yml and deploy/ of this version to DIRECTORY.

    The settings of nginx, the health check, and the environment of the containers are among them. Files
    that are the same stay as they are; if one differs, nothing is written without --overwrite.
    """
    files = production_files()
    if not files:
        raise NotFound("This installation came without them: install a wheel that was built from a checkout.")
    differing = [name for name, path in files.items() if _differs(directory / name, path)]
    if differing and not overwrite:
        raise Conflict(f"Different in {directory}: {', '.join(differing)}; --overwrite replaces them.")
    for name, path in files.items():
        target = directory / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, target)
        click.echo(name)


def _differs(there: Path, ours: Path) -> bool:
    return there.exists() and (not there.is_file() or there.read_bytes() != ours.read_bytes())
