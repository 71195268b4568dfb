"""`registry share`: links that open a part of a project without a token."""

from __future__ import annotations

import click

from registry.commands.listing import one_by_id, show_rows
from registry.commands.session import Session, asks_server
from results_registry.origin import segment

_HEADER = ("id", "path", "created_at", "expires_at")
_DAY = 86_400


@click.group()
def share() -> None:
    """Make, list and revoke links that need no token."""


@share.command()
@click.argument("path", required=False)
@click.option("--days", type=click.IntRange(1, 366), default=30, show_default=True, help="Until it expires.")
@asks_server
def make(session: Session, path: str | None, days: int) -> None:
    """Make a link to PATH, such as /grids/ID or /projects/SLUG/rankings; the page of the project if not given.

    Whoever has it reads that path, its forms and what is below it. It is shown this once.
    """
    sent = {"path": path or f"/projects/{segment(session.project)}", "expires_in": days * _DAY}
    made = session.transport.call("POST", session.in_project("shares"), sent).json()
    show_rows(session, [made], (*_HEADER, "url"), "url", "")


@share.command()
@asks_server
def ls(session: Session) -> None:
    """List the links that have not expired, without their addresses."""
    found = list(session.transport.pages(session.in_project("shares")))
    show_rows(session, found, _HEADER, "id", "No link; `registry share make PATH` makes one.")


@share.command()
@click.argument("link", metavar="ID")
@asks_server
def rm(session: Session, link: str) -> None:
    """Revoke the link with this ID, or its first characters: it is worthless at once."""
    found = one_by_id(session, "shares", "link", link)
    session.transport.call("DELETE", session.in_project(f"shares/{found['id']}"))
    session.screen.note(f"Revoked the link to {found['path']}.")
