"""`registry events`: what was done in a project, a line an event, and what happens."""

import json
from datetime import datetime
from typing import Any

import click

from registry.commands.arguments import ALLOWED, place_of, refused
from registry.commands.session import Session, asks_server
from registry.results.event_sentences import event_sentence
from results_registry.errors import Refused
from results_registry.reading import followed

_NOW = "now"
_ALLOWED = f"{_NOW}, {ALLOWED}"


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
    after = _NOW if since == _NOW or (since is None and follow) else place_of(since or "24h", "--since", _ALLOWED)
    asked: dict[str, Any] = {"type": list(types), **names}
    config = session.config._replace(project=session.project)
    try:
        for event in followed(config, asked, after, follow=follow):
            click.echo(json.dumps(event, ensure_ascii=False) if session.screen.json else line(event))
    except Refused as error:
        if since is not None and error.errors and error.errors[0][0] == "/after":
            raise refused(since, "--since", _ALLOWED) from None
        raise


def line(event: dict[str, Any]) -> str:
    """An event for people: when, what, and of what."""
    when = datetime.fromisoformat(event["time"]).astimezone().strftime("%Y-%m-%d %H:%M:%S")
    return f"{when}  {event['type']:<20}  {event_sentence(event['type'], event['data']).text}"
