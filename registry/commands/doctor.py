"""`registry doctor`: check the health of a registry, with advice for every problem."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import click
import orjson

from registry.commands.servers import home_option, settings_of_servers
from registry.commands.status import CHECK_FAILED
from registry.operations.check import Check
from registry.operations.doctor import address_of_url, run_checks
from registry.settings import given_variables
from registry.storage.database import Database
from results_registry.local_instance import address_in

_COLOURS = {"good": "green", "doubtful": "yellow", "bad": "red"}


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
