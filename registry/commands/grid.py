"""`registry grid rm` and `restore`, and `registry describe`: what a grid, an experiment or a project is about."""

import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from registry.commands.arguments import pairs_of
from registry.commands.finding import find_grid, find_grids, name_of, read_reference
from registry.commands.listing import filters_grids, grid_rows
from registry.commands.page import Part
from registry.commands.session import Session, asks_server
from registry.errors import NotFound
from registry.renderings.sheet import Heading
from registry.renderings.words import counted
from results_registry.errors import NotThere
from results_registry.origin import segment

_SHOWN = 5
_GRID_ID = re.compile(r"[0-9a-f]{8}-[0-9a-f-]{0,27}", re.IGNORECASE)
_FIELDS = ("description", "labels")


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


@click.command(name="describe")
@click.argument("what", metavar="PROJECT[/EXPERIMENT]|GRID")
@click.option("--file", "file", metavar="FILE", help="Markdown to describe it with; - reads standard input.")
@click.option("--label", "labels", multiple=True, metavar="KEY=TEXT", help="Set a label; repeatable.")
@click.option("--remove-label", "removed", multiple=True, metavar="KEY", help="Take a label away; repeatable.")
@asks_server
def describe(session: Session, what: str, file: str | None, labels: Sequence[str], removed: Sequence[str]) -> None:
    """Show what is said of a project, an experiment or a grid, or change it.

    A grid is named by its id, by the id's first 9 or more characters, or by names (model=R1-Qwen,benchmark=AMC23). An
    empty file takes the description away. To describe a project needs the role admin, everything else the role writer.
    Changed labels of a grid make a revision with the same values.
    """
    changes = _changes(file, labels, removed)
    path, name = _place(session, what)
    try:
        if changes:
            found = session.transport.call("PATCH", path, changes).json()
            session.screen.note(f"Described {name}.")
        else:
            found = session.transport.get(path)
    except NotThere as error:
        raise NotFound(f"{name}: {error.detail}") from None
    said = {field: found[field] for field in _FIELDS}
    rows = [["description", "", said["description"]], *(["label", *pair] for pair in sorted(said["labels"].items()))]
    session.screen.show(
        said, lambda: _page(name, said), lambda: (["kind", "name", "text"], rows), essence=lambda: [said["description"]]
    )


def _changes(file: str | None, labels: Sequence[str], removed: Sequence[str]) -> dict[str, Any]:
    changed: dict[str, str | None] = dict(pairs_of(labels, "A label is KEY=TEXT"))
    if both := changed.keys() & set(removed):
        raise click.UsageError(f'The label "{min(both)}" is set and taken away.')
    changed |= dict.fromkeys(removed)
    changes: dict[str, Any] = {"labels": changed} if changed else {}
    return changes if file is None else changes | {"description": _text(file)}


def _text(file: str) -> str:
    try:
        content = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
        return content.decode("utf-8-sig")
    except OSError as error:
        raise click.UsageError(f"{file} cannot be read: {error.strerror or error}.") from None
    except UnicodeDecodeError:
        raise click.UsageError(f"{file} is not UTF-8.") from None


def _place(session: Session, what: str) -> tuple[str, str]:
    project, slash, experiment = what.partition("/")
    if slash and "=" not in project:
        if not (project and experiment):
            raise click.UsageError(f'"{what}" is no PROJECT/EXPERIMENT.')
        return f"projects/{segment(project)}/experiments/{segment(experiment)}", f"the experiment {what}"
    if "=" in what or _GRID_ID.fullmatch(what):
        grid = find_grid(session, what, {})
        return f"grids/{grid}", f"the grid {grid}"
    return f"projects/{segment(what)}", f"the project {what}"


def _page(name: str, said: dict[str, Any]) -> Iterator[Part]:
    yield Heading(f"{name[0].upper()}{name[1:]}")
    yield from said["description"].splitlines() or ["No description."]
    if said["labels"]:
        yield ""
        yield from (f"{key}: {text}" for key, text in sorted(said["labels"].items()))
