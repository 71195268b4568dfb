"""`registry purge`: remove for good what was deleted long ago."""

from __future__ import annotations

from pathlib import Path

import click

from registry.commands.servers import home_option, settings_of_servers
from registry.operations.audit_log import COMMAND
from registry.operations.purge import count_purgeable, purge, purge_item_ids, purge_projects, purge_shapes
from registry.operations.purge_claims import purge_claims
from registry.storage.database import Database


@click.command("purge")
@home_option
@click.option("--older-than", "days", type=click.IntRange(1, 36_500), default=30, show_default=True, help="In days.")
@click.option("--yes", is_flag=True, help="Do it; without this it is only told how much it would be.")
def purge_command(home: Path | None, days: int, yes: bool) -> None:
    """Remove deleted grids and projects for good, with everything that was computed from them.

    Each is named in the audit log. Backups still hold it.
    """
    database = Database(settings_of_servers(home), name="purge")
    with database.reading() as connection:
        left, whole = count_purgeable(connection, older_than_days=days)
    if not yes:
        click.echo(f"{left} grids and {whole} projects were deleted over {days} days ago; --yes removes them for good.")
        return
    removed = 0
    while True:
        with database.transaction() as connection:
            count = purge(connection, COMMAND, older_than_days=days)
        if not count:
            break
        removed += count
        click.echo(f"{removed} of {left}", err=True)
    with database.transaction() as connection:
        emptied = purge_projects(connection, COMMAND, older_than_days=days)
    with database.transaction() as connection:
        purge_claims(connection, older_than_days=days)
    with database.transaction() as connection:
        purge_shapes(connection)
    with database.transaction() as connection:
        purge_item_ids(connection)
    database.close()
    click.echo(f"{removed} grids and {emptied} projects were removed.")
