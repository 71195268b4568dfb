"""`registry bi-role`: a database role that can read the schema `bi` and nothing else."""

from __future__ import annotations

import secrets
from pathlib import Path

import click

from registry.commands.servers import home_option, settings_of_servers
from registry.operations.bi import make_reader
from registry.storage.database import Database


@click.command()
@home_option
@click.argument("name", metavar="ROLE")
@click.option("--project", "projects", multiple=True, help="A project that it may see; may be repeated.")
@click.option("--all", "every", is_flag=True, help="It may see every project, also those to come.")
def bi_role(home: Path | None, name: str, projects: tuple[str, ...], every: bool) -> None:
    """Make a role for SQL tools, or change what an existing one may see. Its new password is shown only once.

    Needs a database user that may make roles.
    """
    if every == bool(projects):
        raise click.UsageError("Say either --all or the projects: --project demo --project another.")
    password = secrets.token_urlsafe(24)
    with Database(settings_of_servers(home), name="bi-role").transaction() as connection:
        make_reader(connection, name, password, projects)
    click.echo(password)
