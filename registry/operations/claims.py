"""Claims as questions about experiments: their grids are found, aliases replaced, and what no grid has is refused."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import orjson
from sqlalchemy import Connection, exists, select

from registry.claims.claim import FACETS, About, Atom, Claim, Part, atoms_of
from registry.claims.dimensions import faults_of, with_names
from registry.claims.normal import normal_form
from registry.errors import Fault, Invalid
from registry.operations.names import joined_names
from registry.operations.query_names import axes_in, known_metrics_text, known_names_text
from registry.query import ClaimsQuery
from registry.storage.tables import aliases, grids

Scope = tuple[str, str]
"""An experiment and a metric."""
_MOST_NAMES = 500
"""Names that are looked through for one that is like a misspelt one."""


class Questions(NamedTuple):
    """The questions that claims ask, one an experiment and metric, and for each claim which of them has its answer at
    which place."""

    asked: tuple[ClaimsQuery, ...]
    places: tuple[tuple[int, int], ...]


class Placed(NamedTuple):
    """A claim with its JSON pointer in what was sent. `posted` has the names of the grids that it gives by their ids,
    `plain` also has no aliases; `scope` is what the plain one is about."""

    pointer: str
    posted: Claim
    plain: Claim
    scope: Scope


def questions_of(connection: Connection, project_id: uuid.UUID, claims: Sequence[tuple[str, Claim]]) -> Questions:
    """The questions of some claims, each with its JSON pointer in what was sent.

    Raises what `placed` raises, and `Invalid` for experiments and metrics of which there is no grid.
    """
    found: dict[Scope, list[tuple[int, Claim]]] = {}
    faults: list[Fault] = []
    for place, one in enumerate(placed(connection, project_id, claims)):
        if one.scope not in found:
            why = _without_grids(connection, project_id, one.scope)
            faults += [Fault(one.pointer + at, told) for at, told in why]
        found.setdefault(one.scope, []).append((place, one.plain))
    if faults:
        raise Invalid(faults)
    asked: list[ClaimsQuery] = []
    places: dict[int, tuple[int, int]] = {}
    for scope, mine in found.items():
        texts = tuple(dict.fromkeys(text_of(claim) for _, claim in mine))
        for place, claim in mine:
            places[place] = (len(asked), texts.index(text_of(claim)))
        restricted = _restriction(connection, project_id, scope, [claim for _, claim in mine])
        asked.append(ClaimsQuery(*scope, claims=texts, **restricted))
    return Questions(tuple(asked), tuple(places[place] for place in sorted(places)))


def _without_grids(connection: Connection, project_id: uuid.UUID, scope: Scope) -> Iterator[tuple[str, str]]:
    """Where a claim is wrong, and what there is, when no grid has the experiment and metric that it is about."""
    experiment, metric = scope
    if connection.scalar(select(exists().where(*_conditions(connection, project_id, scope)))):
        return
    here = (grids.c.project_id == project_id, grids.c.deleted_at.is_(None))
    names = connection.scalars(select(grids.c.experiment).where(*here).distinct().limit(_MOST_NAMES)).all()
    if experiment in names:
        there = select(grids.c.metric).where(*here, grids.c.experiment == experiment).distinct().limit(_MOST_NAMES)
        found = known_metrics_text(connection.scalars(there).all(), metric)
        yield "/about/metric", f'no grid of experiment "{experiment}" has the metric "{metric}"; {found}'
    else:
        found = known_names_text(names, experiment)
        yield "/about/experiment", f'no grid of this project has the experiment "{experiment}"; {found}'


def placed(connection: Connection, project_id: uuid.UUID, claims: Sequence[tuple[str, Claim]]) -> list[Placed]:
    """The claims with what they are about.

    Raises `Invalid` for a grid of another project, for a claim about several experiments, and for axes and levels that
    no grid of its experiment has.
    """
    joined = joined_names(connection, project_id)
    known = known_grids(connection, project_id, claims)
    found: list[Placed] = []
    faults: list[Fault] = []
    for pointer, claim in claims:
        missing = list(_without_grid(claim, known, pointer))
        faults += missing
        if missing:
            continue
        posted = _about_grids(claim, known)
        plain = with_names(posted, lambda kind, name: joined.get((kind, name), name))
        scopes = {(atom.about.experiment, atom.about.metric) for _, atom in atoms_of(plain.says)}
        if len(scopes) > 1:
            faults.append(Fault(pointer, "is about several experiments or metrics; a claim is about one of each"))
        else:
            found.append(Placed(pointer, posted, plain, scopes.pop()))
    for scope in dict.fromkeys(one.scope for one in found):
        axes = axes_in(connection, _conditions(connection, project_id, scope))
        for one in (one for one in found if one.scope == scope):
            faults += faults_of(one.plain, axes, one.pointer) if axes else ()
    if faults:
        raise Invalid(faults)
    return found


def text_of(claim: Claim) -> str:
    """The JSON of the normal form; equal exactly for the same statement."""
    return orjson.dumps(normal_form(claim), option=orjson.OPT_SORT_KEYS).decode()


def _restriction(connection: Connection, project_id: uuid.UUID, scope: Scope, mine: Sequence[Claim]) -> dict[str, Any]:
    """Names to which the reading of grids can be restricted: those of a kind that every statement names, if all are
    there."""
    conditions = _conditions(connection, project_id, scope)
    statements = [atom for claim in mine for _, atom in atoms_of(claim.says)]
    restricted: dict[str, Any] = {}
    for facet in FACETS:
        wanted = {getattr(atom.about, facet) for atom in statements}
        if wanted & {"", None}:
            continue
        held = set(connection.scalars(select(grids.c[facet]).where(*conditions).distinct()))
        if wanted <= held:
            restricted[facet] = tuple(sorted(wanted))
    return restricted


def _conditions(connection: Connection, project_id: uuid.UUID, scope: Scope) -> list[Any]:
    mine = (aliases.c.project_id == project_id, aliases.c.kind == "experiment", aliases.c.name == scope[0])
    experiments = [scope[0], *connection.scalars(select(aliases.c.alias).where(*mine))]
    return [
        grids.c.project_id == project_id,
        grids.c.experiment.in_(experiments),
        grids.c.metric == scope[1],
        grids.c.deleted_at.is_(None),
    ]


def known_grids(connection: Connection, project_id: uuid.UUID, claims: Sequence[tuple[str, Claim]]) -> dict[str, Any]:
    """The rows of the grids that claims name by their ids."""
    ids = {atom.about.grid for _, claim in claims for _, atom in atoms_of(claim.says)} - {""}
    if not ids:
        return {}
    here = (grids.c.project_id == project_id, grids.c.deleted_at.is_(None), grids.c.id.in_(map(uuid.UUID, ids)))
    columns = (grids.c.id, grids.c.experiment, grids.c.metric, *(grids.c[facet] for facet in FACETS))
    return {str(row.id): row for row in connection.execute(select(*columns).where(*here))}


def _without_grid(claim: Claim, known: Mapping[str, Any], pointer: str) -> Iterator[Fault]:
    for where, atom in atoms_of(claim.says):
        if atom.about.grid and atom.about.grid not in known:
            yield Fault(f"{pointer}{where}/about/grid", "is the id of no grid of this project")


def _about_grids(claim: Claim, known: Mapping[str, Any]) -> Claim:
    def filled(part: Part) -> Part:
        if not isinstance(part, Atom):
            return replace(part, claims=tuple(filled(one) for one in part.claims))
        row = known.get(part.about.grid)
        if row is None:
            return part
        names = (row.benchmark, row.model, row.variant)
        return replace(part, about=About(part.about.grid, row.experiment, row.metric, *names))

    return replace(claim, says=filled(claim.says))
