"""`registry retry`: try again what failed."""

from __future__ import annotations

from pathlib import Path

import click

from registry.commands.servers import home_option, settings_of_servers
from registry.operations.acts import retry_failed
from registry.operations.audit_log import COMMAND
from registry.operations.projects import find_project
from registry.operations.retry import AT_ONCE
from registry.storage.database import Database


@click.command("retry")
@home_option
@click.option("--project", help="The project's slug; every project if not given.")
def retry_command(home: Path | None, project: str | None) -> None:
    """Make failed statistics, rankings and other answers due again, with all their attempts.

    The page /status says why they failed; that should be repaired first.
    """
    database = Database(settings_of_servers(home), name="retry")
    derivations = answers = 0
    while True:
        with database.transaction() as connection:
            row = None if project is None else find_project(connection, project)
            if project is not None and row is None:
                raise click.ClickException(f"There is no project {project}.")
            found = retry_failed(connection, COMMAND, row and row.id)
        derivations, answers = derivations + found.derivations, answers + found.answers
        if max(found.derivations, found.answers) < AT_ONCE:
            break
    database.close()
    click.echo(f"{derivations} statistics and {answers} rankings and other answers are tried again.")
