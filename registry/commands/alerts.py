"""`registry alerts`: list what contenders were shown to lose, acknowledge it or dismiss it."""

from __future__ import annotations

import uuid
from typing import Any, get_args

import click

from registry.commands.screen import styled
from registry.commands.session import Session, asks_server
from registry.renderings.table import Column, Table
from registry.results.verdicts import AlertState, DismissalReason

_HEADER = ("id", "state", "baseline", "model", "benchmark", "at", "seen", "opened_at", "sentence")


@click.group(name="alerts")
def alerts() -> None:
    """List, acknowledge and dismiss alerts: contenders that fail the policy of a baseline."""


@alerts.command(name="ls")
@click.option("--state", multiple=True, type=click.Choice(get_args(AlertState)), help="[default: open, acknowledged]")
@click.option("--baseline", help="Only alerts of this baseline.")
@asks_server
def list_alerts(session: Session, state: tuple[str, ...], baseline: str | None) -> None:
    """List the alerts of a project, the last opened first."""
    asked: dict[str, Any] = {"state": list(state or ("open", "acknowledged"))}
    asked |= {"baseline": baseline} if baseline else {}
    found = list(session.transport.pages(session.in_project("alerts"), **asked))
    rows = [_row(one) for one in found]
    columns = [(title, place) for place, title in enumerate(_HEADER) if title not in ("sentence", "opened_at")]
    table = Table([Column(title, [str(row[place]) for row in rows]) for title, place in columns])
    shown: list[Any] = [styled(table, {})] if rows else ["No such alert."]
    session.screen.show(found, lambda: shown, lambda: (_HEADER, rows), essence=lambda: [one["id"] for one in found])


@alerts.command()
@click.argument("alert")
@click.option("--note", help="What to remember of it.")
@asks_server
def acknowledge(session: Session, alert: str, note: str | None) -> None:
    """Say that ALERT (its id) is right, and that somebody sees to it."""
    _answer(session, alert, note, {"state": "acknowledged"})


@alerts.command()
@click.argument("alert")
@click.option("--reason", required=True, type=click.Choice(get_args(DismissalReason)), help="Why nobody minds.")
@click.option("--note", help="What to remember of it.")
@asks_server
def dismiss(session: Session, alert: str, reason: str, note: str | None) -> None:
    """Say why nobody minds ALERT (its id); it stays dismissed while it goes on failing."""
    _answer(session, alert, note, {"state": "dismissed", "reason": reason})


def _answer(session: Session, alert: str, note: str | None, said: dict[str, str]) -> None:
    sent = said | ({} if note is None else {"note": note})
    found = session.transport.call("PATCH", session.in_project(f"alerts/{_as_id(alert)}"), sent).json()
    session.screen.show(
        found,
        lambda: [f"{found['state'].capitalize()}: {found['sentence']}"],
        lambda: (_HEADER, [_row(found)]),
        essence=lambda: [found["id"]],
    )


def _as_id(text: str) -> uuid.UUID:
    try:
        return uuid.UUID(text)
    except ValueError:
        raise click.UsageError(f"{text} is not the id of an alert; `registry alerts ls` has them.") from None


def _row(told: dict[str, Any]) -> list[Any]:
    at = ", ".join(f"{name}={level}" for name, level in told.get("at", {}).items())
    names = [told[name] for name in ("id", "state", "baseline", "model")]
    return [*names, told.get("benchmark", ""), at, told["seen"], told["opened_at"], told["sentence"]]
