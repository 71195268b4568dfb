"""`registry events`: what was done in a project, a line an event, and what happens."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime, timedelta
from typing import Any

import click

from registry.commands.session import Session, asks_server
from registry.results.event_sentences import event_sentence
from results_registry.following import followed

_AGO = re.compile(r"([0-9]{1,6})([smhdw])")
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


@click.command(name="events")
@click.option("--type", "types", multiple=True, metavar="TYPE", help="Only these types, such as 'claim.*'.")
@click.option("--experiment", help="Only events of this experiment.")
@click.option("--benchmark", help="Only events of this benchmark.")
@click.option("--model", help="Only events of this model.")
@click.option("--metric", help="Only events of this metric.")
@click.option(
    "--since",
    metavar="WHEN",
    help="2h, 30m, 7d, an instant, or a cursor.  [default: 24h; with --follow what comes from now on]",
)
@click.option("-f", "--follow", is_flag=True, help="Go on with what happens, until Ctrl-C.")
@asks_server
def events(session: Session, types: tuple[str, ...], since: str | None, follow: bool, **names: str | None) -> None:
    """Show what was done in a project, in its order.

    With --json an event is a line, and its `cursor` is what --since takes to go on behind it.
    """
    after = _place(since or ("now" if follow else "24h"))
    asked: dict[str, Any] = {"type": list(types), **names}
    config = session.config._replace(project=session.project)
    for event in followed(config, asked, after, follow=follow):
        click.echo(json.dumps(event, ensure_ascii=False) if session.screen.json else line(event))


def line(event: dict[str, Any]) -> str:
    """An event for people: when, what, and of what."""
    when = datetime.fromisoformat(event["time"]).astimezone().strftime("%Y-%m-%d %H:%M:%S")
    return f"{when}  {event['type']:<20}  {event_sentence(event['type'], event['data']).text}"


def _place(since: str) -> str:
    """What the API takes for a word such as 2h."""
    ago = _AGO.fullmatch(since)
    if ago is None:
        return since
    try:
        return (datetime.now(UTC) - timedelta(**{_UNITS[ago[2]]: int(ago[1])})).isoformat()
    except OverflowError:
        return "0001-01-01"
