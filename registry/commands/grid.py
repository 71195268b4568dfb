"""`registry grid`: delete grids, and restore deleted ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import click

from registry.commands.finding import find_grids, name_of, read_reference
from registry.commands.listing import filters_grids, grid_rows
from registry.commands.session import Session, asks_server
from registry.errors import NotFound
from registry.renderings.words import counted
from results_registry.origin import segment

_SHOWN = 5


@click.group()
def grid() -> None:
    """Delete grids, and restore deleted ones."""


@grid.command()
@click.argument("grids", metavar="[GRID]...", nargs=-1)
@filters_grids
@click.option("--yes", is_flag=True, help="Do not ask before several are deleted.")
@asks_server
def rm(session: Session, grids: tuple[str, ...], wanted: Mapping[str, Any], yes: bool) -> None:
    """Delete grids: those named, or all that the options choose as in `registry ls`.

    A deleted grid is in no answer any more; `registry grid restore` brings it back until it is purged. Before several
    are deleted the command asks.
    """
    found = _chosen(session, grids, wanted, deleted="exclude")
    if len(found) > 1 and not yes:
        names = "".join(f"\n  {_named(one)}" for one in found[:_SHOWN])
        more = f"\n  and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
        where = f"of {session.project} at {session.config.url}"
        click.confirm(f"Delete {counted(len(found), 'grid', 'grids')} {where}?{names}{more}\n", abort=True, err=True)
    _each(session, found, "DELETE", "", "Deleted")


@grid.command()
@click.argument("grids", metavar="[GRID]...", nargs=-1)
@filters_grids
@asks_server
def restore(session: Session, grids: tuple[str, ...], wanted: Mapping[str, Any]) -> None:
    """Restore deleted grids with all their revisions: those named, or all that the options choose."""
    _each(session, _chosen(session, grids, wanted, deleted="only"), "POST", "/restore", "Restored")


def _chosen(
    session: Session, references: Sequence[str], wanted: Mapping[str, Any], *, deleted: str
) -> list[dict[str, Any]]:
    """Grids by reference, each of one grid, or all that are wanted; `NotFound` where there is none."""
    if not references and not any(wanted.values()):
        raise click.UsageError("Say which grids: by an id, or by names, labels, --find, --since or --at.")
    found: dict[str, dict[str, Any]] = {}
    for reference in references or (None,):
        query = {**wanted, **(read_reference(reference) if reference else {}), "deleted": deleted}
        met = {str(one["id"]): one for one in find_grids(session, query)}
        which = f'"{reference}"' if reference else "these options"
        if not met or (reference and len(met) > 1):
            of = "deleted grid" if deleted == "only" else "grid"
            raise NotFound(
                f"{'No' if not met else len(met)} {of}{'s fit' if met else ' fits'} {which} in {session.project}."
            )
        found |= met
    return list(found.values())


def _each(session: Session, found: Sequence[dict[str, Any]], method: str, path: str, told: str) -> None:
    """Ask the server for each grid in turn, and show those that it was done with, also where one failed."""
    done: list[dict[str, Any]] = []
    try:
        for one in found:
            session.transport.call(method, f"grids/{segment(str(one['id']))}{path}")
            done.append(one)
    finally:
        if done:
            grid_rows(session, done)
            session.screen.note(f"{told} {counted(len(done), 'grid', 'grids')} of {len(found)}.")


def _named(one: Mapping[str, Any]) -> str:
    names = (name_of(one, kind) for kind in ("experiment", "benchmark", "model", "variant", "metric"))
    return " · ".join(name for name in names if name)
