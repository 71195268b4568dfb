"""`registry hooks`: send the events of a project to addresses, and see what came of it.

`registry events`: what was done in a project, a line an event, and what happens.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from datetime import datetime
from typing import Any, get_args

import click

from registry.commands.arguments import ALLOWED, id_of, place_of, refused
from registry.commands.listing import show_rows
from registry.commands.session import Session, asks_server
from registry.renderings.words import counted
from registry.results.event_sentences import event_sentence
from registry.results.webhooks import FILTERS, DeliveryState, Format
from results_registry.errors import Refused
from results_registry.reading import followed

_NOW = "now"
_ALLOWED = f"{_NOW}, {ALLOWED}"
_HEADER = ("id", "state", "format", "types", "url", "waiting", "failing_since", "description")
_POSITION = re.compile("[0-9]{1,18}")
_SINCE = f"a position of the feed such as 17, {ALLOWED}"
_DELIVERY = ("id", "state", "type", "position", "attempts", "status", "error", "next_at")


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


@click.group(name="hooks")
def hooks() -> None:
    """Add, test, rotate and remove webhooks; list, repeat and recover what they were sent."""


@hooks.command(name="ls")
@asks_server
def list_hooks(session: Session) -> None:
    """List the webhooks of a project, the oldest first."""
    found = list(session.transport.pages(session.in_project("webhooks")))
    nothing = "No webhook yet; `registry hooks add URL TYPE …` makes one."
    show_rows(session, found, _HEADER, nothing, row=_row)


@hooks.command()
@click.argument("address", metavar="URL")
@click.argument("types", nargs=-1, required=True)
@click.option("--format", "format_", type=click.Choice(get_args(Format)), help="What is sent.  [default: standard]")
@click.option("--only", multiple=True, metavar="NAME=TEXT", help="Only events with it; repeat the name for OR.")
@click.option("--description", default="", help="For people.")
@asks_server
def add(
    session: Session, address: str, types: tuple[str, ...], format_: str | None, only: tuple[str, ...], description: str
) -> None:
    """Send events of these TYPES (`claim.flipped`, `alert.*`, `*`) to URL. The secret is shown this once."""
    sent = {"url": address, "types": list(types), "filter": _filter(only), "description": description}
    sent |= {"format": format_} if format_ else {}
    _show_secret(session, session.transport.call("POST", session.in_project("webhooks"), sent).json())


def _filter(only: tuple[str, ...]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for one in only:
        name, is_given, text = one.partition("=")
        if not is_given or name not in FILTERS:
            raise click.UsageError(f"--only takes NAME=TEXT with one of {', '.join(FILTERS)}, not {one}.")
        found.setdefault(name, []).append(text)
    return found


@hooks.command()
@click.argument("webhook")
@asks_server
def rotate(session: Session, webhook: str) -> None:
    """Give WEBHOOK (its id) another secret; for 24 hours the one before signs too."""
    _show_secret(session, session.transport.call("POST", _path(session, webhook, "/rotate")).json())


def _show_secret(session: Session, found: dict[str, Any]) -> None:
    below = {"secret": [f"Its secret, shown this once: {found['secret']}"]}
    header = (*_HEADER, "secret")
    show_rows(session, found, header, row=lambda one: [*_row(one), one["secret"]], essence="secret", below=below)


@hooks.command(name="test")
@click.argument("webhook")
@asks_server
def send_test(session: Session, webhook: str) -> None:
    """Send a test to WEBHOOK (its id)."""
    _show_delivery(session, session.transport.call("POST", _path(session, webhook, "/test")).json())


@hooks.command()
@click.argument("webhook")
@click.option("--state", multiple=True, type=click.Choice(get_args(DeliveryState)), help="Only these.")
@click.option("-n", "--limit", type=click.IntRange(1, 1000), default=50, show_default=True, help="How many.")
@asks_server
def deliveries(session: Session, webhook: str, state: tuple[str, ...], limit: int) -> None:
    """List what WEBHOOK (its id) was sent, the last first, with the last attempt of each."""
    path = _path(session, webhook, "/deliveries")
    found = session.transport.get(path, state=list(state), limit=limit)["items"]
    errors = Counter(error for one in found if (error := _delivery_row(one)[_DELIVERY.index("error")]))
    # An error is longer than what a terminal has beside the rest, and mostly the same for all: it stands below.
    told = [f"{counted(count, 'delivery', 'deliveries')}: {error}" for error, count in errors.items()]
    show_rows(session, found, _DELIVERY, "No such delivery.", row=_delivery_row, below={"error": told})


@hooks.command()
@click.argument("delivery")
@asks_server
def redeliver(session: Session, delivery: str) -> None:
    """Send DELIVERY (its id) again."""
    path = f"deliveries/{id_of(delivery, 'a delivery', 'hooks deliveries')}/redeliver"
    _show_delivery(session, session.transport.call("POST", path).json())


def _show_delivery(session: Session, found: dict[str, Any]) -> None:
    show_rows(session, found, _DELIVERY, row=_delivery_row)


@hooks.command()
@click.argument("webhook")
@click.argument("since", metavar="SINCE")
@asks_server
def recover(session: Session, webhook: str, since: str) -> None:
    """Send WEBHOOK (its id) every event that it has not taken SINCE then.

    SINCE is a position of the feed such as 17 or a cursor, behind which all events are sent; an instant; or how long
    ago, such as 2h.
    """
    place = int(since) if _POSITION.fullmatch(since) else place_of(since, "SINCE", _SINCE)
    try:
        found = session.transport.call("POST", _path(session, webhook, "/recover"), {"since": place}).json()
    except Refused as error:
        if error.errors and error.errors[0][0] == "/since":
            raise click.UsageError(f"SINCE {error.errors[0][1]}; it takes {_SINCE}.") from None
        raise
    show_rows(session, found, ("count",), essence="count")


@hooks.command()
@click.argument("webhook")
@asks_server
def enable(session: Session, webhook: str) -> None:
    """Send events to WEBHOOK (its id) again, from now on."""
    found = session.transport.call("PATCH", _path(session, webhook), {"state": "enabled"}).json()
    show_rows(session, found, _HEADER, row=_row)
    session.screen.note("`registry hooks recover` sends what it missed.")


@hooks.command(name="rm")
@click.argument("webhook")
@click.option("--yes", is_flag=True, help="Do not ask.")
@asks_server
def remove(session: Session, webhook: str, yes: bool) -> None:
    """Remove WEBHOOK (its id) with its deliveries."""
    path = _path(session, webhook)
    if not yes:
        click.confirm(f"Remove the webhook {webhook} at {session.config.url}?", abort=True, err=True)
    session.transport.call("DELETE", path)
    session.screen.note(f"Removed the webhook {webhook}.")


def _path(session: Session, webhook: str, more: str = "") -> str:
    return session.in_project(f"webhooks/{id_of(webhook, 'a webhook', 'hooks ls')}{more}")


def _row(told: dict[str, Any]) -> list[Any]:
    more = [told["url"], told["waiting"], told["failing_since"] or "", told["description"]]
    return [told["id"], told["state"], told["format"], " ".join(told["types"]), *more]


def _delivery_row(told: dict[str, Any]) -> list[Any]:
    last = told["attempts"][-1] if told["attempts"] else {"status": None, "error": None}
    seen = [len(told["attempts"]), last["status"] or "", last["error"] or "", told["next_at"] or ""]
    position = "" if told["position"] is None else told["position"]
    return [told["id"], told["state"], told["type"], position, *seen]
