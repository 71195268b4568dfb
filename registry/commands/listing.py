"""`registry ls`: projects, grids, and the names in use."""

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import wraps
from typing import Any

import click

from registry.commands.arguments import Parameters, cuts_slices, pairs_of
from registry.commands.finding import KINDS, Named, find_grids, name_of, names_grids, short_ids
from registry.commands.page import Part
from registry.commands.session import Session, asks_server
from registry.errors import NotFound
from registry.renderings.sheet import Lines
from registry.renderings.table import Column, Table
from registry.renderings.words import counted, label

NAMES = tuple(f"{kind}s" for kind in KINDS)
_PAGE = 100
_GRID = ("id", *KINDS, "shape", "cells", "revision", "state", "updated_at")
_KEYS = {"grids": "id", "projects": "slug"}
_LEAST = ("revision", "visibility", "alias of", "cells", "updated", "metric", "name", "state")
_LEAST_OF_ROWS = ("waiting", "format", "types", "next_at", "position", "attempts")
"""Columns that a narrow terminal does without: a whole id is what other commands take."""


def filters_grids(command: Callable[..., None]) -> Callable[..., None]:
    """Decorator: pass the command `wanted`, the parameters of a query for grids, from the options that narrow it."""

    @names_grids
    @click.option(
        "--label", "labels", multiple=True, metavar="KEY=TEXT", help="Only grids with this label; may be repeated."
    )
    @click.option("--find", "q", metavar="WORDS", help="Only with these words in names or labels, in any order.")
    @click.option(
        "--since",
        "updated_since",
        metavar="INSTANT",
        help="Only grids that changed then or later (2026-11-21 or RFC 3339).",
    )
    @cuts_slices
    @wraps(command)
    def run(
        *args: Any,
        named: Named,
        labels: Sequence[str],
        at: Parameters,
        q: str | None,
        updated_since: str | None,
        **more: Any,
    ) -> None:
        wanted = {**named, **_labels(labels), **at, "q": q, "updated_since": updated_since}
        command(*args, wanted=wanted, **more)

    return run


@click.command()
@click.argument("what", type=click.Choice(["grids", "projects", *NAMES]), default="grids")
@filters_grids
@click.option("--sort", default="-updated_at", show_default=True, help="A name or instant; a minus for descending.")
@click.option("--limit", type=click.IntRange(1), help="How many at most; 100 on a terminal, else all.")
@asks_server
def ls(session: Session, what: str, wanted: Mapping[str, Any], sort: str, limit: int | None) -> None:
    """List projects, grids, or the names in use.

    WHAT is grids (if it is not given), projects, experiments, benchmarks, models, variants or metrics. With --at, the
    grids that have such a level.
    """
    most = limit or (_PAGE if session.screen.is_terminal and not session.screen.json else None)
    if what == "projects" and wanted["q"] is not None:
        raise click.UsageError("--find is for grids and for the names of a project, not for projects.")
    query = {**wanted, "sort": sort} if what == "grids" else {"q": wanted["q"]}
    found = listed(session, what, query, most)
    shown = found if most is None else found[:most]

    def parts() -> Iterator[Part]:
        if not shown:
            yield _nothing(session, what)
            return
        yield table_of(what, shown)
        if len(shown) < len(found):
            yield Lines((f"the first {len(shown)}; --limit shows more",))

    session.screen.show(
        shown,
        parts,
        lambda: rows_of(what, shown),
        least=_LEAST,
        essence=lambda: [str(one[_KEYS.get(what, "name")]) for one in shown],
    )


def listed(session: Session, what: str, query: Mapping[str, Any], most: int | None) -> list[dict[str, Any]]:
    """Projects, grids or names as a query has them; of more than so many that are wanted, one more."""
    if what == "grids":
        items = find_grids(session, query, limit=min(1000, (most or 999) + 1))
    else:
        items = session.transport.pages(what if what == "projects" else session.in_project(f"names/{what}"), **query)
    return list(items if most is None else itertools.islice(items, most + 1))


def table_of(what: str, items: Sequence[dict[str, Any]]) -> Table:
    """Projects, grids or names as people read them."""
    return Table({"grids": _grids, "projects": _projects}.get(what, _names)(items))


def _labels(labels: Sequence[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for key, text in pairs_of(labels, "--label takes KEY=TEXT"):
        found.setdefault(f"label.{key}", []).append(text)
    return found


def show_rows(
    session: Session,
    found: Mapping[str, Any] | Sequence[Mapping[str, Any]],
    header: Sequence[str],
    nothing: str = "",
    *,
    row: Callable[[Any], Sequence[Any]] | None = None,
    essence: str = "id",
) -> None:
    """Show documents, or one, a row each; `nothing` where there is none. `-q` leaves the member `essence` of each.

    `row` makes the fields of a row, by default the members of these names.
    """
    several: Sequence[Mapping[str, Any]] = [found] if isinstance(found, Mapping) else found
    rows = [row(one) if row else [one.get(name) for name in header] for one in several]
    cells = [Column(name, ["" if one[at] is None else str(one[at]) for one in rows]) for at, name in enumerate(header)]
    parts: list[Part] = [Table(cells)] if rows else [nothing]
    session.screen.show(
        found,
        lambda: parts,
        lambda: (header, rows),
        least=_LEAST_OF_ROWS,
        essence=lambda: [str(one[essence]) for one in several],
    )


def one_by_id(session: Session, path: str, what: str, beginning: str) -> Mapping[str, Any]:
    """The one of a list of the project whose id begins so; `NotFound` where none does, or several."""
    every: Iterator[dict[str, Any]] = session.transport.pages(session.in_project(path))
    found = [one for one in every if beginning and str(one["id"]).startswith(beginning.lower())]
    if len(found) != 1:
        what = f"{len(found)} {what}s have an id that begins" if found else f"No {what} has an id that begins"
        raise NotFound(f'{what} with "{beginning}" in {session.project}.')
    return found[0]


def grid_rows(session: Session, found: Sequence[dict[str, Any]]) -> None:
    """Show grids, as `registry ls` does."""
    session.screen.show(
        found, lambda: [Table(_grids(found))], lambda: rows_of("grids", found),
        least=_LEAST, essence=lambda: [str(one["id"]) for one in found],
    )  # fmt: skip


def _nothing(session: Session, what: str) -> str:
    if what == "projects":
        return f"{session.config.url} shows no project; `registry project create NAME` makes one."
    return f"{session.config.url} shows no {what} in {session.project}."


def _grids(items: Sequence[dict[str, Any]]) -> list[Column]:
    names = [Column(kind, [name_of(grid, kind) for grid in items]) for kind in KINDS]
    return [
        Column("id", short_ids([grid["id"] for grid in items])),
        *(column for column in names if column.name != "variant" or any(column.cells)),
        Column("shape", [" × ".join(map(str, grid["shape"])) or "one" for grid in items]),
        Column("cells", [str(grid["cell_count"]) for grid in items], True),
        Column("revision", [str(grid["revision"]) for grid in items], True),
        Column("state", [grid["derivation"]["state"] for grid in items]),
        Column("updated", [_minute(grid["updated_at"]) for grid in items]),
    ]


def _projects(items: Sequence[dict[str, Any]]) -> list[Column]:
    return [
        Column("project", [one["slug"] for one in items]),
        Column("name", [one["name"] for one in items]),
        Column("visibility", [one["visibility"] for one in items]),
        Column("updated", [_minute(one["updated_at"]) for one in items]),
    ]


def _names(items: Sequence[dict[str, Any]]) -> list[Column]:
    columns = [Column("name", [label(one["name"]) or "(none)" for one in items])]
    if any(one["alias_of"] for one in items):
        columns.append(Column("alias of", [one["alias_of"] or "" for one in items]))
    counts = [counted(one["grids"], "grid", "grids") for one in items]
    return [*columns, Column("grids", counts), Column("updated", [_minute(one["updated_at"]) for one in items])]


def rows_of(what: str, items: Sequence[dict[str, Any]]) -> tuple[Sequence[str], list[list[Any]]]:
    """Header and fields of grids, projects or names as a pipe gets them."""
    if what == "grids":
        return _GRID, [_grid_row(grid) for grid in items]
    keys = (
        ("slug", "name", "visibility", "updated_at")
        if what == "projects"
        else ("name", "grids", "alias_of", "updated_at")
    )
    return keys, [[one[key] for key in keys] for one in items]


def _grid_row(grid: dict[str, Any]) -> list[Any]:
    names = [name_of(grid, kind) for kind in KINDS]
    shape = "x".join(map(str, grid["shape"]))
    last = (grid["derivation"]["state"], grid["updated_at"])
    return [grid["id"], *names, shape, grid["cell_count"], grid["revision"], *last]


def _minute(instant: str) -> str:
    return instant[:16].replace("T", " ")
