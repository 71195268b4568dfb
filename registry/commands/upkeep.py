"""`registry doctor verify retry partition purge bi-role backup restore`: look after the servers of a registry."""

import dataclasses
import json
import secrets
import sys
import time
from functools import partial
from pathlib import Path
from typing import Any

import click
import orjson
from sqlalchemy import text
from sqlalchemy.exc import OperationalError

from migrations.citus import check_distributing, distribute
from migrations.grants import regrant
from migrations.partitions import check_partitioning, largest_share, partition
from registry.commands.group import CHECK_FAILED, writable
from registry.commands.processes import home_of_servers, home_option, settings_of_servers
from registry.errors import Conflict, NotFound, Unavailable
from registry.local import processes
from registry.local.embedded.copying import dump, load
from registry.operations.audit_log import COMMAND
from registry.operations.bi import make_reader
from registry.operations.doctor import address_of_url, run_checks
from registry.operations.doctor_checks import Check
from registry.operations.health import AT_ONCE, retry_failed
from registry.operations.projects import find_project
from registry.operations.purge import count_purgeable, purge, purge_claims, purge_item_ids, purge_projects, purge_shapes
from registry.settings import Settings, given_variables
from registry.storage.database import Database
from results_registry.config import address_in

_COLOURS = {"good": "green", "doubtful": "yellow", "bad": "red"}
_MOST_DRAWN = 1_000_000
"""Grids of which the ids are held in memory, a hundred megabytes."""
_LARGEST_SEED = (1 << 63) - 1
FEWEST_PARTS, MOST_PARTS, USUAL_PARTS = 2, 64, 16
"""Until PostgreSQL 18 a session locks 16 tables and indices cheaply; a statement that names no project locks all."""
STANDARD = Path("-")
"""Standard output of a backup, standard input of a restore."""


@click.command()
@home_option
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document instead of lines.")
@click.option("--web", default=1, help="Web processes that the database must have room for.")
@click.option("--workers", default=1, help="Workers that it must have room for.")
@click.pass_context
def doctor(ctx: click.Context, home: Path | None, as_json: bool, web: int, workers: int) -> None:
    """Check the database, the broker, the disk and the port; exit status 3 when one of them is bad."""
    settings = settings_of_servers(home)
    database = Database(settings, name="doctor")
    checks = []
    of_home = home is not None or not given_variables() & {"database_url", "port"}
    address = address_in(settings.home) if of_home else None
    if address is not None:
        settings = dataclasses.replace(settings, port=address_of_url(address)[1])
    for check in run_checks(settings, database, address, web=web, workers=workers):
        checks.append(check)
        if not as_json:
            show(check)
    database.close()
    bad = [check.name for check in checks if check.state == "bad"]
    if as_json:
        click.echo(orjson.dumps({"healthy": not bad, "signs": [dataclasses.asdict(check) for check in checks]}))
    if bad:
        ctx.exit(CHECK_FAILED)


def show(check: Check) -> None:
    """Print a check in the colour of its state, and its advice below."""
    mark = click.style(f"{check.state:<8}", fg=_COLOURS[check.state])
    click.echo(f"{mark}  {check.name:<18}  {check.found}")
    if check.advice:
        click.echo(f"{'':28}  {check.advice}")


@click.command()
@home_option
@click.option("--project", help="The project's slug; every project if not given.")
@click.option("--sample", metavar="N", type=click.IntRange(1, _MOST_DRAWN), help="Check N grids drawn at random.")
@click.option(
    "--seed", metavar="S", type=click.IntRange(0, _LARGEST_SEED), help="Draw as the run did that named this seed."
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document instead of lines.")
def verify(home: Path | None, as_json: bool, **given: Any) -> None:
    """Compute digests, statistics and sums again from the stored revisions, and compare.

    Exit status 3 when something differs; each difference names its grid and revision. With --sample, the end says how
    much of all differs at most, with 95 % confidence, and the seed that draws the same again.
    """
    if given["sample"] is None and given["seed"] is not None:
        raise click.UsageError("--seed says which sample is drawn, and belongs to --sample.")
    # Workers compute, and this package may not import them: the process is replaced by one that does.
    command = [sys.executable, "-P", "-m", "workers.verify", json.dumps(given | {"as_json": as_json})]
    processes.become(command, settings_of_servers(home))


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


@click.command("partition")
@home_option
@click.option(
    "--parts",
    type=click.IntRange(FEWEST_PARTS, MOST_PARTS),
    default=USUAL_PARTS,
    show_default=True,
    help="Of each table.",
)
@click.option("--citus", is_flag=True, help="Shards on the nodes of a Citus cluster, whose coordinator this is.")
@click.option("--yes", is_flag=True, help="Do it; without this it is only told what it would do.")
def partition_command(home: Path | None, parts: int, citus: bool, yes: bool) -> None:
    """Bring revisions, jobs and statistics into partitions, for vacuum and new indices one part at a time.

    With --citus revisions, statistics and outcomes of items come into shards on many machines instead; see "Many
    machines" in docs/operating.md.

    Stop the web processes, dispatchers and workers first: while one is connected, this is refused, except in the home
    of `registry up`, which runs the database. The rows are copied, in one transaction: it takes as long as a restore
    of these tables and as much disk again, and whoever asks meanwhile waits. There is no way back but a backup. See
    "Partitions" in docs/operating.md.
    """
    try:
        beside = home_of_servers(home) is not None
        _run(settings_of_servers(home).database_url, parts, citus=citus, beside_service=beside, yes=yes)
    except OperationalError as error:  # away, cut off, or its disk is full
        said = str(error.orig).strip()
        raise Unavailable(f"The database says: {said}\nWhat was not committed is undone; run it again.") from error


def _run(url: str, parts: int, *, citus: bool, beside_service: bool, yes: bool) -> None:
    if not yes:
        (check_distributing if citus else check_partitioning)(url)
        share, part = largest_share(url), "shard" if citus else "partition"
        what = "statistics and outcomes of items" if citus else "jobs and statistics"
        click.echo(
            f"Revisions, {what} would be copied into {parts} {part}s each; --yes does it.\n"
            f"A project is in one of them: the largest has {share:.0%} of all grids, and so does one {part}."
        )
        return
    begun = time.monotonic()

    def said(what: str) -> None:
        click.echo(f"{time.monotonic() - begun:8.1f} s  {what}", err=True)

    (distribute if citus else partition)(url, parts, said, beside_service=beside_service)
    said("done")


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
    for clear in (partial(purge_claims, older_than_days=days), purge_shapes, purge_item_ids):
        with database.transaction() as connection:
            clear(connection)
    database.close()
    click.echo(f"{removed} grids and {emptied} projects were removed.")


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
