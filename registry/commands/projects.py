"""`registry project alias share suite protocol`: projects, names that count as one, links, suites, binding keys."""

from collections.abc import Mapping, Sequence
from typing import Any

import click

from registry.commands.finding import KINDS
from registry.commands.listing import one_by_id, rows_of, show_rows
from registry.commands.session import Session, asks_server
from registry.errors import Forbidden, NotFound
from registry.renderings.table import Column, Table
from results_registry.errors import NotAllowed, NotThere
from results_registry.origin import segment

_ALIAS_HEADER = ("kind", "alias", "name", "created_at")
_KIND = click.Choice(KINDS)
_RULES = ("experiment", "required", "role", "key")
_SHARE_HEADER = ("id", "path", "created_at", "expires_at")
_DAY = 86_400


@click.group(name="project")
def project() -> None:
    """Make, delete and restore projects; `registry ls projects` lists them."""


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
        lambda: rows_of("projects", [made]),
        essence=lambda: [made["slug"]],
    )


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


@click.group()
def alias() -> None:
    """Let two names count as one: list, set and remove aliases."""


@alias.command(name="ls")
@asks_server
def list_aliases(session: Session) -> None:
    """List the aliases of a project, the oldest first."""
    nothing = "No alias yet; `registry alias set model OTHER NAME` makes one."
    found = list(session.transport.pages(session.in_project("aliases")))
    show_rows(session, found, _ALIAS_HEADER, nothing, essence="alias")


@alias.command(name="set")
@click.argument("kind", type=_KIND)
@click.argument("other", metavar="ALIAS")
@click.argument("name")
@asks_server
def set_alias(session: Session, kind: str, other: str, name: str) -> None:
    """Let grids that say ALIAS count as grids of NAME.

    KIND is experiment, benchmark, model, variant or metric. Grids keep the names that they were published with.
    """
    sent = {"kind": kind, "alias": other, "name": name}
    made = session.transport.call("POST", session.in_project("aliases"), sent).json()
    show_rows(session, [made], _ALIAS_HEADER, essence="alias")


@alias.command(name="rm")
@click.argument("kind", type=_KIND)
@click.argument("other", metavar="ALIAS")
@asks_server
def remove_alias(session: Session, kind: str, other: str) -> None:
    """Let grids that say ALIAS count by their own name again."""
    every = session.transport.pages(session.in_project("aliases"))
    found = next((one for one in every if (one["kind"], one["alias"]) == (kind, other)), None)
    if found is None:
        raise NotFound(f'The project {session.project} has no alias "{other}" of a {kind}.')
    session.transport.call("DELETE", session.in_project(f"aliases/{found['id']}"))
    session.screen.note(f"The {kind} {other} does not stand for {found['name']} any more.")


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
    show_rows(session, [made], (*_SHARE_HEADER, "url"), essence="url")


@share.command(name="ls")
@asks_server
def list_shares(session: Session) -> None:
    """List the links that have not expired, without their addresses."""
    found = list(session.transport.pages(session.in_project("shares")))
    show_rows(session, found, _SHARE_HEADER, "No link; `registry share make PATH` makes one.")


@share.command(name="rm")
@click.argument("link", metavar="ID")
@asks_server
def revoke(session: Session, link: str) -> None:
    """Revoke the link with this ID, or its first characters: it is worthless at once."""
    found = one_by_id(session, "shares", "link", link)
    session.transport.call("DELETE", session.in_project(f"shares/{found['id']}"))
    session.screen.note(f"Revoked the link to {found['path']}.")


@click.group(name="suite")
def suite() -> None:
    """Set, list and delete suites: lists of benchmarks for `registry rank --suite`."""


@suite.command(name="set")
@click.argument("name")
@click.argument("benchmarks", nargs=-1, required=True)
@asks_server
def set_suite(session: Session, name: str, benchmarks: tuple[str, ...]) -> None:
    """Make the suite NAME of these BENCHMARKS, or give it other ones.

    Each is whole, or at levels of its own: STS22@subset=en,split=test.
    """
    _show_suites(session, session.transport.call("PUT", _path(session, name), {"benchmarks": list(benchmarks)}).json())


@suite.command(name="ls")
@asks_server
def list_suites(session: Session) -> None:
    """List the suites of a project with their benchmarks."""
    _show_suites(session, list(session.transport.pages(session.in_project("suites"))))


@suite.command(name="rm")
@click.argument("name")
@asks_server
def remove_suite(session: Session, name: str) -> None:
    """Delete a suite; the grids stay as they are."""
    session.transport.call("DELETE", _path(session, name))
    session.screen.note(f"Deleted the suite {name}.")


def _path(session: Session, name: str) -> str:
    return session.in_project(f"suites/{segment(name)}")


def _show_suites(session: Session, found: Mapping[str, Any] | list[Mapping[str, Any]]) -> None:
    nothing = "No suite yet; `registry suite set NAME BENCHMARK …` makes one."
    row = lambda one: [one["name"], ", ".join(one["benchmarks"])]  # noqa: E731
    show_rows(session, found, ("name", "benchmarks"), nothing, row=row, essence="name")


@click.group(name="protocol")
def protocol() -> None:
    """Show and set which keys of protocols bind in an experiment."""


@protocol.command(name="show")
@click.argument("experiment")
@asks_server
def show_rules(session: Session, experiment: str) -> None:
    """Show which keys of the protocols of EXPERIMENT bind, and which are free."""
    _show_rules(session, session.transport.get(session.in_project(f"experiments/{segment(experiment)}")))


@protocol.command(name="set")
@click.argument("experiment")
@click.option("--binding", multiple=True, metavar="KEY", help="Grids that differ in it are not compared; repeatable.")
@click.option("--free", multiple=True, metavar="KEY", help="Differences in it are not mentioned; repeatable.")
@click.option("--required", is_flag=True, help="A grid that does not say the binding keys is not compared either.")
@asks_server
def set_rules(session: Session, experiment: str, binding: Sequence[str], free: Sequence[str], required: bool) -> None:
    """Declare which keys bind in EXPERIMENT, in place of what was declared before; no key at all: none binds."""
    sent = {"protocol": {"binding": list(binding), "free": list(free), "required": required}}
    path = session.in_project(f"experiments/{segment(experiment)}")
    _show_rules(session, session.transport.call("PATCH", path, sent).json())


def _show_rules(session: Session, document: dict[str, Any]) -> None:
    found = {"experiment": document["name"], **document["protocol"]}
    required = "yes" if found["required"] else "no"
    rows = [[found["experiment"], required, role, key] for role in ("binding", "free") for key in found[role]]
    count = len(found["binding"])
    silent = "; a grid that does not say them is not compared" if found["required"] else ""
    told = f"In {found['experiment']} {count or 'no'} {'keys bind' if count > 1 else 'key binds'}{silent}."
    table = Table([Column(name, [row[place] for row in rows]) for place, name in enumerate(_RULES) if place > 1])
    shown: list[Any] = [told, *([table] if rows else [])]
    session.screen.show(found, lambda: shown, lambda: (_RULES, rows), essence=lambda: list(found["binding"]))
