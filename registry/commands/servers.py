"""Servers that a command looks after: those of the environment, else those of a home on this machine."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from registry.commands.environment import settings_of_environment
from registry.local.embedded import Home, Postgres, Valkey
from registry.settings import Settings, given_variables


def home_option(command: Any) -> Any:
    """Decorator for the option --home of commands that look after servers."""
    text = "The home of `registry up` whose servers are meant, unless REGISTRY_DATABASE_URL says where they are."
    return click.option("--home", type=click.Path(path_type=Path), help=text)(command)


def settings_of_servers(home: Path | None) -> Settings:
    """Settings of the environment, with the addresses of a home's servers where none are given."""
    settings, given = settings_of_environment(), given_variables()
    place = Home(home or settings.home)
    if home is not None or ("database_url" not in given and place.postgres_data.exists()):
        settings = replace(settings, home=place.path, database_url=Postgres(place, settings.pg_bin or None).url)
        if "redis_url" not in given:
            settings = replace(settings, redis_url=Valkey(place).url)
    return settings
