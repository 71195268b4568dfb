"""`registry alias`: names that count as one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from registry.commands.grids import KINDS
from registry.commands.listing import show_rows
from registry.commands.session import Session, asks_server
from registry.commands.status import USER_ERRORS
from registry.errors import NotFound

_HEADER = ("kind", "alias", "name", "created_at")
_KIND = click.Choice(KINDS)


@click.group()
def alias() -> None:
    """Let two names count as one: list, set and remove aliases."""


@alias.command()
@asks_server
def ls(session: Session) -> None:
    """List the aliases of a project, the oldest first."""
    nothing = "No alias yet; `registry alias set model OTHER NAME` makes one."
    show_rows(session, list(session.transport.pages(session.in_project("aliases"))), _HEADER, "alias", nothing)


@alias.command(name="set")
@click.argument("kind", type=_KIND)
@click.argument("other", metavar="ALIAS")
@click.argument("name")
@asks_server
def set_alias(session: Session, kind: str, other: str, name: str) -> None:
    """Let grids that say ALIAS count as grids of NAME, instead of what it stood for before.

    KIND is experiment, benchmark, model, variant or metric. Grids keep the names that they were published with.
    """
    before = _found(session, kind, other)
    if before is None:
        before = _made(session, kind, other, name)
    elif before["name"] != name:
        session.transport.call("DELETE", session.in_project(f"aliases/{before['id']}"))
        try:
            made = _made(session, kind, other, name)
        except USER_ERRORS:
            _made(session, kind, other, before["name"])
            raise
        session.screen.note(f"{other} does not stand for {before['name']} any more.")
        before = made
    show_rows(session, [before], _HEADER, "alias", "")


@alias.command()
@click.argument("kind", type=_KIND)
@click.argument("other", metavar="ALIAS")
@asks_server
def rm(session: Session, kind: str, other: str) -> None:
    """Let grids that say ALIAS count by their own name again."""
    found = _found(session, kind, other)
    if found is None:
        raise NotFound(f'The project {session.project} has no alias "{other}" of a {kind}.')
    session.transport.call("DELETE", session.in_project(f"aliases/{found['id']}"))
    session.screen.note(f"The {kind} {other} does not stand for {found['name']} any more.")


def _made(session: Session, kind: str, other: str, name: str) -> Mapping[str, Any]:
    sent = {"kind": kind, "alias": other, "name": name}
    found: Mapping[str, Any] = session.transport.call("POST", session.in_project("aliases"), sent).json()
    return found


def _found(session: Session, kind: str, other: str) -> Mapping[str, Any] | None:
    every = session.transport.pages(session.in_project("aliases"))
    return next((one for one in every if (one["kind"], one["alias"]) == (kind, other)), None)
