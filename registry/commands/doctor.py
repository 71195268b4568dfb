"""`registry doctor`: is everything as it should be, and what to do if not."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import click
import orjson

from registry.commands.servers import home_option, settings_of_servers
from registry.commands.status import CHECK_FAILED
from registry.operations.doctor import Sign, examine
from registry.settings import given_variables
from registry.storage.database import Database
from results_registry.local_instance import address_in

_COLOURS = {"good": "green", "doubtful": "yellow", "bad": "red"}


@click.command()
@home_option
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document instead of lines.")
@click.pass_context
def doctor(ctx: click.Context, home: Path | None, as_json: bool) -> None:
    """Look at the database, the broker, the disk and the port; exit status 3 when something is bad."""
    settings = settings_of_servers(home)
    database = Database(settings, name="doctor")
    signs = []
    of_home = home is not None or not given_variables() & {"database_url", "port"}
    for sign in examine(settings, database, address_in(settings.home) if of_home else None):
        signs.append(sign)
        if not as_json:
            show(sign)
    database.close()
    bad = [sign.name for sign in signs if sign.state == "bad"]
    if as_json:
        click.echo(orjson.dumps({"healthy": not bad, "signs": [dataclasses.asdict(sign) for sign in signs]}))
    if bad:
        ctx.exit(CHECK_FAILED)


def show(sign: Sign) -> None:
    """A line in the colour of its state, and below it what to do."""
    mark = click.style(f"{sign.state:<8}", fg=_COLOURS[sign.state])
    click.echo(f"{mark}  {sign.name:<18}  {sign.found}")
    if sign.advice:
        click.echo(f"{'':28}  {sign.advice}")
