"""`registry token`: make a token with direct access to the database, for the first administrator and for containers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from registry.commands.servers import home_option, settings_of_servers
from registry.errors import NotFound
from registry.local.preparation import write_secret
from registry.operations.acts import create_token
from registry.operations.audit_log import COMMAND
from registry.operations.projects import find_project
from registry.storage.database import Database


@click.command()
@home_option
@click.option("--project", help="The project's slug; every project if not given.")
@click.option("--role", type=click.Choice(["reader", "writer", "admin"]), default="writer", show_default=True)
@click.option("--name", required=True, help="What the token is for.")
@click.option("--days", type=click.IntRange(1, 3650), default=90, show_default=True)
@click.option("--file", "path", type=click.Path(path_type=Path), help="Write it to a new file that only you may read.")
def token(home: Path | None, project: str | None, role: Any, name: str, days: int, path: Path | None) -> None:
    """Make a token. Its secret is shown only once."""
    with Database(settings_of_servers(home), name="token").transaction() as connection:
        row = find_project(connection, project) if project else None
        if project and row is None:
            raise NotFound(f'There is no project "{project}".')
        project_id = None if row is None else row.id
        _, secret = create_token(connection, COMMAND, project_id, name=name, role=role, days=days)
        if path is not None:
            write_secret(path, secret)
    if path is None:
        click.echo(secret)
