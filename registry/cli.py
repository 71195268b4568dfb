"""The command `registry`."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from pathlib import Path
from typing import Any

import click

from registry.errors import RegistryError
from registry.settings import Settings, given_variables


def _plain_errors(command: Callable[..., None]) -> Callable[..., None]:
    """Errors of the registry are one sentence on standard error and exit status 1."""

    @wraps(command)
    def run(*args: Any, **kwargs: Any) -> None:
        try:
            command(*args, **kwargs)
        except RegistryError as error:
            raise click.ClickException(error.detail) from None

    return run


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="results-registry")
def main() -> None:
    """A registry of experiment results: grids in, statistics with their uncertainty out."""


@main.command()
@click.option("--home", type=click.Path(path_type=Path), help="Where everything is kept.")
@click.option("--host", help="The address to listen on; 127.0.0.1 if not given.")
@click.option("--port", type=click.IntRange(1, 65535), help="The port to listen on; 8080 if not given.")
@click.option("--demo", is_flag=True, help="Publish the seed heatmaps into the public project demo.")
@_plain_errors
def up(home: Path | None, host: str | None, port: int | None, demo: bool) -> None:
    """Run everything on this machine until Ctrl-C.

    PostgreSQL and Valkey are started under the home unless REGISTRY_DATABASE_URL and REGISTRY_REDIS_URL say where
    others are.
    """
    from registry import running

    settings = _settings()
    changes: dict[str, Any] = {"home": home, "host": host, "port": port}
    settings = replace(settings, **{name: value for name, value in changes.items() if value is not None})
    running.up(settings, given=given_variables(), demo=demo, say=click.echo)


@main.command()
@_plain_errors
def serve() -> None:
    """Serve HTTP (waitress); the database must be migrated."""
    from registry import running

    running.serve(_settings())


@main.command()
@_plain_errors
def worker() -> None:
    """Run a Celery worker, which computes statistics and rankings."""
    from registry import running

    running.become(running.WORKER, _settings())


@main.command()
@_plain_errors
def dispatch() -> None:
    """Run the dispatcher, which sees to it that every promise is kept."""
    from registry import running

    running.become(running.DISPATCHER, _settings())


@main.command()
@_plain_errors
def migrate() -> None:
    """Bring the database to this version's schema."""
    from migrations.apply import migrate as apply

    apply(_settings().database_url)
    click.echo("The database is up to date.", err=True)


@main.command()
@click.option("--project", help="The project's slug; every project if not given.")
@click.option("--role", type=click.Choice(["reader", "writer", "admin"]), default="writer", show_default=True)
@click.option("--name", required=True, help="What the token is for.")
@click.option("--days", type=click.IntRange(1, 3650), default=90, show_default=True)
@click.option("--file", "path", type=click.Path(path_type=Path), help="Write it to a new file that only you may read.")
@_plain_errors
def token(project: str | None, role: Any, name: str, days: int, path: Path | None) -> None:
    """Make a token; its secret is shown this once."""
    from registry.database import Database
    from registry.operations.admit import issue_token
    from registry.operations.project import find_project
    from registry.running import write_secret

    with Database(_settings(), name="token").transaction() as connection:
        row = find_project(connection, project) if project else None
        if project and row is None:
            raise click.ClickException(f'There is no project "{project}".')
        _, secret = issue_token(connection, project_id=row and row.id, role=role, name=name, days=days)
        if path is not None:
            write_secret(path, secret)
    if path is None:
        click.echo(secret)


@main.command()
@_plain_errors
def openapi() -> None:
    """Print the OpenAPI document as YAML."""
    from registry import create_app
    from registry.api.document import openapi_yaml

    sys.stdout.write(openapi_yaml(create_app(Settings())))


def _settings() -> Settings:
    """The settings of the environment, with the logs that they ask for."""
    from registry.logs import configure_logs

    settings = Settings.from_environment()
    configure_logs(settings.log_level)
    return settings
