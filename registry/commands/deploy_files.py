"""`registry deploy-files`: what production is set up with, where there is no checkout."""

from __future__ import annotations

import shutil
from pathlib import Path

import click

from registry.distribution import production_files
from registry.errors import Conflict, NotFound


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
