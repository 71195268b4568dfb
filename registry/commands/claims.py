"""`registry claim`: have claims kept and judged again whenever results change; list, show and remove them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, get_args

import click
import orjson

from registry.claims.grammar import MOST_CLAIMS
from registry.commands.check import Place, Unread, claims_of, not_read, placed, told
from registry.commands.listing import show_rows
from registry.commands.session import Session, asks_server
from registry.errors import NotFound
from registry.results.judgement import Verdict
from results_registry.errors import NotThere, Refused
from results_registry.origin import segment

_COLUMNS = ("id", "verdict", "state", "where", "said")
_LONGEST = 100


@click.group(name="claim")
def claim() -> None:
    """Keep claims, list, show and remove them: they are judged again whenever their grids change."""


@claim.command(name="add")
@click.argument("files", nargs=-1, required=True, type=click.Path(exists=True, dir_okay=False, path_type=Path))
@asks_server
def add(session: Session, files: Sequence[Path]) -> None:
    """Have the claims in files kept: Markdown such as README.md, or claims.toml, as for `registry check`.

    A claim that is kept already stays as it is. One with a fault is told with its line, and then none is kept;
    `registry check` judges them and keeps none.
    """
    read = [one for file in files for one in claims_of(file)]
    places = [one for one in read if isinstance(one, Place)]
    _stop(told(one for one in read if isinstance(one, Unread)))
    batches = (places[first : first + MOST_CLAIMS] for first in range(0, len(places), MOST_CLAIMS))
    found = [one for batch in batches for one in _send(session, batch)]
    for place, one in zip(places, found, strict=True):
        for warning in one["warnings"]:
            session.screen.note(f"{place.text}: {warning['detail']}")
    show_rows(session, found, _COLUMNS, "No claims in these files.", row=_row)


def _send(session: Session, places: Sequence[Place]) -> list[dict[str, Any]]:
    sent = [{"source": {"url": one.file, "line": one.stated.line}, **one.stated.claim} for one in places]
    try:
        answer = session.transport.call("POST", session.in_project("claims"), orjson.loads(orjson.dumps(sent)))
    except Refused as error:
        _stop(told(placed(error.errors, places)))
        raise
    return list(answer.json()["items"])


def _stop(faults: Sequence[Unread]) -> None:
    if faults:
        raise not_read(faults, f"Claims with faults: {len(faults)}. None is kept.")


@claim.command(name="ls")
@click.option("--verdict", multiple=True, type=click.Choice(get_args(Verdict)), help="Only these.")
@click.option("--experiment", multiple=True, help="Only about these.")
@click.option("--source", multiple=True, help="Only from these files or addresses.")
@asks_server
def list_all(session: Session, **wanted: tuple[str, ...]) -> None:
    """List the claims of a project with their latest verdicts."""
    query = {name: list(said) for name, said in wanted.items() if said}
    found = list(session.transport.pages(session.in_project("claims"), **query))
    nothing = "No such claim." if query else "No claim yet; `registry claim add README.md` keeps some."
    show_rows(session, found, _COLUMNS, nothing, row=_row)


@claim.command(name="show")
@click.argument("id")
@asks_server
def show(session: Session, id: str) -> None:
    """Show the claim ID with its judgement."""
    try:
        found = session.transport.get(f"claims/{segment(id)}")
    except NotThere:
        raise NotFound(f"There is no claim {id}.") from None
    sentence = (found["judgement"] or {}).get("sentence", "")
    row = [found["judgement_number"], found["judged_at"], found["verdict"], sentence]
    line = f"{row[1] or 'not yet'}: {row[2] or 'not judged'}. {sentence}".rstrip()
    session.screen.show(found, lambda: [line], lambda: (("number", "judged_at", "verdict", "sentence"), [row]))


@claim.command(name="rm")
@click.argument("id")
@asks_server
def remove(session: Session, id: str) -> None:
    """Remove the claim ID; adding it again brings it back with its judgements."""
    try:
        session.transport.call("DELETE", f"claims/{segment(id)}")
    except NotThere:
        raise NotFound(f"There is no claim {id}.") from None
    session.screen.note(f"Removed the claim {id}.")


def _row(one: dict[str, Any]) -> list[str]:
    source = one["source"]
    where = ":".join(str(source[name]) for name in ("url", "line") if name in source)
    said = _said(one)
    return [one["id"], one["verdict"] or "", one["state"], where, said[:_LONGEST] + ("…" if said[_LONGEST:] else "")]


def _said(one: dict[str, Any]) -> str:
    """The sentence as it was written, or else that of the judgement."""
    judgement = one["judgement"] or {}
    return str(one["text"] or judgement.get("sentence") or f"{one['claim']['kind']} of {one['metric']}")
