"""`registry up
serve
worker
dispatch
migrate`: processes of the service."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from registry.commands.servers import settings_of_environment
from registry.local import processes
from registry.settings import given_variables


@click.command()
@click.option("--home", type=click.Path(path_type=Path), help="Where everything is kept.")
@click.option("--host", help="The address to listen on; 127.0.0.1 if not given.")
@click.option("--port", type=click.IntRange(1, 65535), help="The port to listen on; 8080 if not given.")
@click.option("--demo", is_flag=True, help="Publish the seed heatmaps into the public project demo.")
def up(home: Path | None, host: str | None, port: int | None, demo: bool) -> None:
    """Run everything on this machine until Ctrl-C.

    PostgreSQL and Valkey are started under the home unless REGISTRY_DATABASE_URL and REGISTRY_REDIS_URL say where
    others are.
    """
    settings = settings_of_environment(of_process=True)
    changes: dict[str, Any] = {"home": home, "host": host, "port": port}
    settings = replace(settings, **{name: value for name, value in changes.items() if value is not None})
    processes.up(settings, given=given_variables(), demo=demo, say=click.echo)


@click.command()
def serve() -> None:
    """Serve HTTP; the database must be migrated."""
    processes.serve(settings_of_environment(of_process=True))


@click.command()
def worker() -> None:
    """Run a Celery worker, which computes statistics and rankings."""
    processes.become(processes.WORKER, settings_of_environment(of_process=True))


@click.command()
def dispatch() -> None:
    """Run the dispatcher, which finds due work and wakes the workers."""
    processes.become(processes.DISPATCHER, settings_of_environment(of_process=True))


@click.command()
@click.option(
    "--grant-web-role", "role", metavar="NAME", help="Make this role if it is missing; grant it what web needs."
)
def migrate(role: str | None) -> None:
    """Bring the database to this version's schema.

    The web process may then log in with a role of its own, which changes no table and no revision; its password is
    REGISTRY_WEB_PASSWORD.
    """
    from sqlalchemy.exc import OperationalError

    from migrations.apply import migrate as apply
    from migrations.grants import grant_web_role

    settings = settings_of_environment(of_process=True)
    try:
        apply(settings.database_url)
    except OperationalError as error:
        raise click.ClickException(
            f"The database cannot be reached: {error.orig}".strip()
            + "\nREGISTRY_DATABASE_URL says where it is; a home of `registry up` is migrated whenever that starts."
        ) from error
    click.echo("The database is up to date.", err=True)
    if role is not None:
        grant_web_role(settings.database_url, role, settings.web_password or None, settings.session_parameters())
        click.echo(f"{role} may serve and publish.", err=True)
