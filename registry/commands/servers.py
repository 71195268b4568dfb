"""Servers that a command looks after: those of the environment, else those of a home on this machine.

Settings of commands that run parts of the service.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from registry.local.embedded import Home, Postgres, Valkey
from registry.logs import configure_logs
from registry.settings import Settings, given_variables, refuse_unknown


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
