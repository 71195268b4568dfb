"""`registry backup
restore`: the whole database in one file."""

from __future__ import annotations

from pathlib import Path

import click
from sqlalchemy import text

from migrations.grants import regrant
from registry.commands.servers import home_option, settings_of_servers
from registry.commands.status import writable
from registry.errors import Conflict, NotFound
from registry.local.embedded.copying import dump, load
from registry.settings import Settings
from registry.storage.database import Database

STANDARD = Path("-")
"""Standard output of a backup, standard input of a restore."""


@click.command()
@home_option
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False, allow_dash=True))
@click.option("--overwrite", is_flag=True, help="Replace the file if it is there.")
def backup(home: Path | None, file: Path, overwrite: bool) -> None:
    """Write the whole database to FILE, or to standard output for `-`, while the service runs.

    It holds every project's grids, and tokens as hashes only. `registry restore` brings it back.
    """
    settings = settings_of_servers(home)
    if file == STANDARD:
        dump(settings.database_url, None, settings.pg_bin or None)
        return
    if file.exists() and not overwrite:
        raise Conflict(f"{file} is there already; --overwrite replaces it.")
    with writable(file):
        dump(settings.database_url, file, settings.pg_bin or None)
    click.echo(f"{file}: {file.stat().st_size / 1e6:.1f} MB", err=True)


@click.command()
@home_option
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False, allow_dash=True))
@click.option("--replace", is_flag=True, help="Restore over a database that holds something: that is lost.")
def restore(home: Path | None, file: Path, replace: bool) -> None:
    """Bring back from FILE, or from standard input for `-`, what `registry backup` wrote, as a whole or not at all.

    What was still pending is then computed by itself. Afterwards run `registry migrate` (with --grant-web-role if the
    web process has a role of its own that is not called registry_web) and `registry bi-role` for SQL tools.
    """
    if file != STANDARD and not file.exists():
        raise NotFound(f"There is no file {file}.")
    settings = settings_of_servers(home)
    if not replace and holds_something(settings):
        raise Conflict("The database holds tables already; --replace restores over them, and they are lost.")
    source = None if file == STANDARD else file
    load(settings.database_url, source, replace=replace, chosen=settings.pg_bin or None)
    regrant(settings.database_url)
    click.echo(
        "Restored. Run `registry migrate` next, or start `registry up` anew.\n"
        "Tokens are those of the backup: what was revoked since is valid again, and what was made since is not.",
        err=True,
    )


def holds_something(settings: Settings) -> bool:
    """Tell whether the database has any table, the registry's or another's."""
    database = Database(settings, name="restore")
    try:
        with database.reading() as connection:
            query = text("SELECT EXISTS (SELECT FROM pg_tables WHERE schemaname = 'public')")
            return bool(connection.scalar(query))
    finally:
        database.close()
