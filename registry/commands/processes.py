"""Processes of the service: `registry up serve worker dispatch migrate`; the servers that a command looks after."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from registry.local import processes
from registry.local.embedded import Home, Postgres, Valkey
from registry.logs import configure_logs
from registry.settings import Settings, given_variables, refuse_unknown


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


def home_option(command: Any) -> Any:
    """Decorator for the option --home of commands that look after servers."""
    text = "The home of `registry up` whose servers are meant, whatever REGISTRY_DATABASE_URL says."
    return click.option("--home", type=click.Path(path_type=Path), help=text)(command)


def settings_of_servers(home: Path | None) -> Settings:
    """Settings of the environment, with the addresses of a home's servers where none are given."""
    settings, place = settings_of_environment(), home_of_servers(home)
    if place is not None:
        settings = replace(settings, home=place.path, database_url=Postgres(place, settings.pg_bin or None).url)
        if "redis_url" not in given_variables():
            settings = replace(settings, redis_url=Valkey(place).url)
    return settings


def home_of_servers(home: Path | None) -> Home | None:
    """The home whose servers are meant; None where the environment says where they are, or there is no home."""
    place = Home(home or settings_of_environment().home)
    is_meant = home is not None or ("database_url" not in given_variables() and place.postgres_data.exists())
    return place if is_meant else None


def settings_of_environment(*, of_process: bool = False) -> Settings:
    """Settings of the environment; configures the logs as they say. A process of the service does not begin beside a
    variable that nothing reads."""
    if of_process:
        refuse_unknown()
    settings = Settings.from_environment()
    configure_logs(settings.log_level)
    return settings
