"""Find the grid a command is about, by its id, the beginning of its id, or names, and the experiment and metric.

Several matches are listed, none is guessed.
"""

import difflib
import itertools
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import wraps
from shlex import quote
from typing import Any, cast

import click

from registry.commands.page import page
from registry.commands.session import Session
from registry.errors import NotFound
from registry.renderings.table import Column, Table
from registry.results.grid import GridDocument
from results_registry.origin import segment

KINDS = ("experiment", "benchmark", "model", "variant", "metric")
_ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_BEGINNING = re.compile(r"[0-9a-f][0-9a-f-]{3,35}")
_LISTED = 12
_SHORTEST_ID = 8

Named = Mapping[str, Sequence[str]]
"""For each kind of name the wanted ones, joined by OR; an empty sequence matches all."""
_ASKED = 64
"""Names of a kind that are asked for; more are not needed for a message."""


def names_grids(command: Callable[..., None]) -> Callable[..., None]:
    """Decorator: pass the command `named`, from the options --experiment, --benchmark, --model, --variant and
    --metric."""

    @wraps(command)
    def run(*args: Any, **kwargs: Any) -> None:
        named = {kind: kwargs.pop(kind) for kind in KINDS}
        command(*args, named=named, **kwargs)

    short = {"experiment": ["-e"], "benchmark": ["-b"], "model": ["-m"]}
    for kind in reversed(KINDS):
        run = only(kind, *short.get(kind, []))(run)
    return run


def only(kind: str, *short: str) -> Callable[..., Any]:
    """Decorator: pass the command the names of this kind, from such an option."""
    text = f"Only this {kind}; may be repeated."
    return click.option(*short, f"--{kind}", multiple=True, metavar="NAME", help=text)


def find_grid(session: Session, reference: str | None, named: Named) -> str:
    """Id of the one matching grid.

    `reference` is an id, the beginning of one, or `name=value` pairs separated by commas, which narrow `named` further.
    Raises `NotFound` when no grid or several match; the message lists the latter.
    """
    if reference is not None and _ID.fullmatch(reference.lower()):
        return reference.lower()
    query = dict(named)
    if reference is not None:
        query |= read_reference(reference)
    found = list(itertools.islice(find_grids(session, query, limit=_LISTED + 1), _LISTED + 1))
    if len(found) == 1:
        return str(found[0]["id"])
    if not found:
        raise NotFound(_nothing(session, reference, query))
    raise NotFound(_several(session, found))


def is_grid(reference: str) -> bool:
    """Return whether a reference can only be a grid: an id, four characters of one or more, or names with `=`."""
    return "=" in reference or _BEGINNING.fullmatch(reference.lower()) is not None


def read_reference(reference: str) -> dict[str, Any]:
    """Parameters of a query for the grid that a reference names."""
    if _BEGINNING.fullmatch(reference.lower()):
        return {"id": reference.lower()}
    if "=" not in reference:
        raise click.UsageError(
            f'"{reference}" is no grid: give an id, its first 4 or more characters, or names such as model=R1-Qwen.'
        )
    pairs = [part.partition("=") for part in re.split(rf",(?=(?:{'|'.join(KINDS)})=)", reference)]
    for kind, _, _ in pairs:
        if kind not in KINDS:
            raise click.UsageError(f'"{kind}" in "{reference}" is not one of {", ".join(KINDS)}.')
    return {kind: (name,) for kind, _, name in pairs}


def find_grids(session: Session, query: Mapping[str, Any], limit: int = 1000) -> Iterator[dict[str, Any]]:
    """Matching grids, latest first, as many at a time as `limit` says."""
    return session.transport.pages(session.in_project("grids"), limit=limit, **query)


def read_grid(
    session: Session, grid: str, revision: int | None = None, at: Mapping[str, Sequence[str]] | None = None
) -> GridDocument:
    """A grid with its values, or with those of a slice alone."""
    query: dict[str, Any] = {"revision": revision, **(at or {})}
    return cast(GridDocument, session.transport.get(f"grids/{segment(grid)}", **query))


def _nothing(session: Session, reference: str | None, query: Mapping[str, Any]) -> str:
    place = f"project {session.project} at {session.config.url}"
    if reference is not None and "id" in query:
        return f'No grid of {place} has an id that begins with "{reference}". `registry ls` lists them.'
    wanted = ", ".join(f"{kind} {' or '.join(map(repr, query[kind]))}" for kind in KINDS if query.get(kind))
    about = f"No grid of {place} has {wanted}." if wanted else f"There is no grid in {place}."
    return about + "".join(f" {hint}" for hint in _near(session, query))


def _near(session: Session, query: Mapping[str, Any]) -> Iterator[str]:
    for kind in KINDS:
        for wanted in query.get(kind) or ():
            listed = session.transport.get(session.in_project(f"names/{kind}s"), limit=1000)["items"]
            names = {str(one["name"]).casefold(): str(one["name"]) for one in listed}
            if wanted.casefold() not in names or wanted not in names.values():
                near = difflib.get_close_matches(wanted.casefold(), names, n=3, cutoff=0.5)
                if near:
                    yield f"Did you mean {kind} {' or '.join(repr(names[one])[1:-1] for one in near)}?"


def _several(session: Session, found: Sequence[dict[str, Any]]) -> str:
    shown = found[:_LISTED]
    ids = short_ids([grid["id"] for grid in shown])
    columns = [Column("id", ids), *(Column(kind, [name_of(grid, kind) for grid in shown]) for kind in KINDS)]
    lines = page([Table(columns)], session.screen.width, colour=False)
    count = f"{len(found)} grids" if len(found) <= _LISTED else f"More than {_LISTED} grids"
    listed = "\n".join(f"  {line}" for line in lines)
    return f"{count} fit; name one by its id, or by more of its names:\n{listed}"


def name_of(grid: Mapping[str, Any], kind: str) -> str:
    """Name of this kind that a grid has."""
    return str(grid["metric"]["name"] if kind == "metric" else grid[kind])


def short_ids(ids: Iterable[str]) -> list[str]:
    """Ids cut to the shortest length at which they all differ, at least eight characters."""
    whole = list(ids)
    different = len(set(whole))
    for size in range(_SHORTEST_ID, 36):
        if len({one[:size] for one in whole}) == different and not any(one[size - 1] == "-" for one in whole):
            return [one[:size] for one in whole]
    return whole


def one_scope(session: Session, named: Named, done: str, *kinds: str) -> dict[str, Any]:
    """Experiment and metric that a question is about, and the names of these other kinds. `NotFound` with the choices
    where there are several; `done` says what is done with them."""
    others = {kind: list(named[kind]) for kind in kinds}
    for kind in ("experiment", "metric"):
        if len(named[kind]) > 1:
            raise click.UsageError(f"One {kind} is {done}; --{kind} is given {len(named[kind])} times.")
    if named["experiment"] and named["metric"]:
        return {"experiment": named["experiment"][0], "metric": named["metric"][0], **others}
    pairs = _pairs(session, named)
    if len(pairs) == 1:
        return dict(zip(("experiment", "metric"), pairs[0], strict=True)) | others
    if not pairs:
        raise NotFound(f"No grid in {session.project} at {session.config.url} fits; `registry ls` lists them.")

    listed = "\n".join(f"  -e {quote(one)} --metric {quote(other)}" for one, other in itertools.islice(pairs, 20))
    raise NotFound(f"Say which of these {len(pairs)} is {done}:\n{listed}")


def _pairs(session: Session, named: Named) -> list[tuple[str, str]]:
    experiments = named["experiment"] or _names(session, "experiment", named)
    return [
        (one, other)
        for one in experiments
        for other in named["metric"] or _names(session, "metric", {**named, "experiment": (one,)})
    ]


def _names(session: Session, kind: str, named: Named) -> list[str]:
    narrowed: dict[str, Any] = {other: list(named[other]) for other in KINDS if other != kind}
    listed = session.transport.get(session.in_project(f"names/{kind}s"), limit=_ASKED, **narrowed)["items"]
    return [str(one["name"]) for one in listed]
