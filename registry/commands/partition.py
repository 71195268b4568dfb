"""`registry partition`: bring the largest tables into hash partitions by project."""

from __future__ import annotations

import time
from pathlib import Path

import click
from sqlalchemy.exc import OperationalError

from migrations.partitions import check_partitioning, largest_share, partition
from registry.commands.servers import home_of_servers, home_option, settings_of_servers
from registry.errors import Unavailable

FEWEST, MOST, USUAL = 2, 64, 16
"""Until PostgreSQL 18 a session locks 16 tables and indices cheaply; a statement that names no project locks all."""


@click.command("partition")
@home_option
@click.option("--parts", type=click.IntRange(FEWEST, MOST), default=USUAL, show_default=True, help="Of each table.")
@click.option("--yes", is_flag=True, help="Do it; without this it is only told what it would do.")
def partition_command(home: Path | None, parts: int, yes: bool) -> None:
    """Bring revisions, jobs and statistics into partitions, for vacuum and new indices one part at a time.

    Stop the web processes, dispatchers and workers first: while one is connected, this is refused, except in the home
    of `registry up`, which runs the database. The rows are copied, in one transaction: it takes as long as a restore
    of these tables and as much disk again, and whoever asks meanwhile waits. There is no way back but a backup. See
    "Partitions" in docs/operating.md.
    """
    try:
        _run(settings_of_servers(home).database_url, parts, beside_service=home_of_servers(home) is not None, yes=yes)
    except OperationalError as error:  # away, cut off, or its disk is full
        said = str(error.orig).strip()
        raise Unavailable(f"The database says: {said}\nWhat was not committed is undone; run it again.") from error


def _run(url: str, parts: int, *, beside_service: bool, yes: bool) -> None:
    if not yes:
        check_partitioning(url)
        share = largest_share(url)
        click.echo(
            f"Revisions, jobs and statistics would be copied into {parts} partitions each; --yes does it.\n"
            f"A project is in one of them: the largest has {share:.0%} of all grids, and so does one partition."
        )
        return
    begun = time.monotonic()

    def said(what: str) -> None:
        click.echo(f"{time.monotonic() - begun:8.1f} s  {what}", err=True)

    partition(url, parts, said, beside_service=beside_service)
    said("done")
