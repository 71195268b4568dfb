"""`registry project`: make a project, list the projects there are, delete one and restore it."""

from __future__ import annotations

import click

from registry.commands.listing import projects_page
from registry.commands.session import Session, asks_server
from registry.errors import Forbidden, NotFound
from results_registry.errors import NotAllowed, NotThere
from results_registry.origin import segment


@click.group(name="project")
def project() -> None:
    """Make, list, delete and restore projects."""


@project.command(name="create")
@click.argument("slug")
@click.option("--name", help="For people; the slug if not given.")
@click.option("--public", is_flag=True, help="Anybody may read it without a token.")
@asks_server
def create(session: Session, slug: str, name: str | None, public: bool) -> None:
    """Make a project, named SLUG in addresses: 1 to 63 of a-z, 0-9 and -.

    Needs an administrator's token for every project, such as the one of the registry that `registry up` runs.
    """
    sent = {"slug": slug, "visibility": "public" if public else "private"} | ({"name": name} if name else {})
    try:
        made = session.transport.call("POST", "projects", sent).json()
    except NotAllowed as error:
        if session.config.token is None:
            raise
        raise Forbidden(f"Only an administrator's token for every project makes one: {error.detail}") from None
    session.screen.show(
        made,
        lambda: [f"Made the project {made['slug']}, {made['visibility']}."],
        lambda: projects_page([made])[1],
        essence=lambda: [made["slug"]],
    )


@project.command(name="ls")
@asks_server
def list_them(session: Session) -> None:
    """List the projects that can be seen; the same as `registry ls projects`."""
    found = list(session.transport.pages("projects"))
    parts, rows = projects_page(found)
    shown = parts or [f"{session.config.url} shows no project; `registry project create NAME` makes one."]
    session.screen.show(found, lambda: shown, lambda: rows, essence=lambda: [one["slug"] for one in found])


@project.command(name="rm")
@click.argument("slug")
@click.option("--yes", is_flag=True, help="Do not ask.")
@asks_server
def remove(session: Session, slug: str, yes: bool) -> None:
    """Delete a project and everything in it: its addresses answer 404.

    It can be restored, and its name stays taken, until it is purged.
    """
    if not yes:
        click.confirm(f"Delete the project {slug} at {session.config.url} with all its grids?", abort=True, err=True)
    try:
        session.transport.call("DELETE", f"projects/{segment(slug)}", query={"cascade": "true"})
    except NotThere:
        raise NotFound(f'There is no project "{slug}" at {session.config.url} that this token may see.') from None
    session.screen.note(
        f"Deleted the project {slug}; `registry project restore {slug}` brings it back until it is purged."
    )


@project.command(name="restore")
@click.argument("slug")
@asks_server
def restore(session: Session, slug: str) -> None:
    """Restore a deleted project with everything in it, as its administrator."""
    try:
        session.transport.call("POST", f"projects/{segment(slug)}/restore")
    except NotThere:
        raise NotFound(f'There is no project "{slug}" at {session.config.url} that this token may restore.') from None
    session.screen.note(f"Restored the project {slug}.")
