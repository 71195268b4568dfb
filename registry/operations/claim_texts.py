"""Texts read as claims by the names, axes and levels of a project."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import ColumnElement, Connection, func, select

from registry.claims.claim import FACETS
from registry.claims.parsing.asked import Asked
from registry.claims.parsing.parse import Candidate, Unparsed, parse
from registry.claims.parsing.scope import Scope, scopes_about, spoken_names
from registry.claims.reading import nearby
from registry.errors import Fault, Invalid
from registry.grids.grid import Axis, Level, Metric
from registry.operations.aliases import joined_names
from registry.operations.query_names import axes_in
from registry.storage.keys import of_current
from registry.storage.rows import metric_of
from registry.storage.tables import grids, revisions

_MOST_SCOPES = 10
"""Experiments and metrics among which a text may leave open what it is about."""
_MOST_NAMES = 20_000
_MOST_SHOWN = 12
_AXIS_NAMES = func.jsonb_path_query_array(revisions.c.axes, "$[*].name").label("axis_names")
_KINDS = ("experiment", "metric", *FACETS)


def parsed(connection: Connection, project_id: uuid.UUID, asked: Asked) -> tuple[list[Candidate], list[Unparsed]]:
    """The candidates in a text and what is unparsed. `Invalid` where `about` names what is not there, or leaves too
    much open."""
    joined = joined_names(connection, project_id)
    about = {kind: joined.get((kind, name), name) for kind, name in asked.about.items()}
    here = [grids.c.project_id == project_id, grids.c.deleted_at.is_(None)]
    if "grid" in about:
        here.append(grids.c.id == uuid.UUID(about["grid"]))
    for kind in ("experiment", "metric"):
        if kind in about:
            spoken = [alias for (of, alias), name in joined.items() if of == kind and name == about[kind]]
            here.append(grids.c[kind].in_([about[kind], *spoken]))
    rows = connection.execute(
        select(*(grids.c[kind] for kind in _KINDS)).where(*here).distinct().limit(_MOST_NAMES + 1)
    ).all()
    if len(rows) > _MOST_NAMES:
        raise Invalid([Fault("/about", f"leaves more than {_MOST_NAMES:,} names open; name the experiment")])
    named = [{kind: joined.get((kind, getattr(row, kind)), getattr(row, kind)) for kind in _KINDS} for row in rows]
    _check(connection, here[:2], about, named)
    found: dict[tuple[str, str], list[tuple[Any, dict[str, str]]]] = {}
    for row, names in zip(rows, named, strict=True):
        found.setdefault((names["experiment"], names["metric"]), []).append((row, names))
    if len(found) > _MOST_SCOPES:
        raise Invalid([Fault("/about", f"names no experiment and metric, of which there are {len(found)}")])
    scopes = [_scope(connection, here, joined, key, mine) for key, mine in sorted(found.items())]
    wanted = {facet: about[facet] for facet in FACETS if facet in about}
    kept = list(scopes_about(scopes, wanted))
    return parse(asked.text, kept, {"grid": about["grid"]} if "grid" in about else wanted)


def _check(
    connection: Connection,
    here: Sequence[ColumnElement[bool]],
    about: Mapping[str, str],
    named: Sequence[Mapping[str, str]],
) -> None:
    """Refuse an `about` that no grid has."""
    if not about:
        return
    if "grid" in about:
        if not named:
            raise Invalid([Fault("/about/grid", "is the id of no grid of this project")])
        return
    if not named:
        named = [
            row._asdict()
            for row in connection.execute(
                select(*(grids.c[kind] for kind in _KINDS)).where(*here).distinct().limit(_MOST_NAMES)
            )
        ]
    faults = []
    for kind, name in about.items():
        known = sorted({one[kind] for one in named})
        if name not in known:
            there = ", ".join(f'"{one}"' for one in known[:_MOST_SHOWN]) or "none"
            faults.append(
                Fault(f"/about/{kind}", f'no grid here has the {kind} "{name}"{nearby(name, known)}; there are {there}')
            )
    if not faults and not any(all(one[kind] == name for kind, name in about.items()) for one in named):
        faults = [Fault("/about", "no grid has all of these names at once")]
    if faults:
        raise Invalid(faults)


def _scope(
    connection: Connection,
    here: Sequence[ColumnElement[bool]],
    joined: Mapping[tuple[str, str], str],
    key: tuple[str, str],
    mine: Sequence[tuple[Any, dict[str, str]]],
) -> Scope:
    """The names, axes and levels of an experiment and a metric."""
    spoken = {row.experiment for row, _ in mine}, {row.metric for row, _ in mine}
    conditions = [*here, grids.c.experiment.in_(spoken[0]), grids.c.metric.in_(spoken[1])]
    current = of_current(revisions)
    columns = (*(grids.c[facet] for facet in FACETS), revisions.c.metric, _AXIS_NAMES)
    rows = connection.execute(
        select(*columns).select_from(grids).join(revisions, current).where(*conditions).distinct()
    )
    held: dict[tuple[str, ...], set[str]] = {}
    metrics: list[Metric] = []
    for row in rows:
        key_of = tuple(joined.get((facet, getattr(row, facet)), getattr(row, facet)) for facet in FACETS)
        held.setdefault(key_of, set()).update(row.axis_names)
        metrics.append(metric_of(row.metric))
    names = {
        facet: spoken_names(
            {getattr(row, facet) for row, _ in mine} | {one[facet] for _, one in mine},
            {alias: name for (kind, alias), name in joined.items() if kind == facet},
        )
        for facet in FACETS
    }
    every = sorted(held)
    return Scope(
        key[0],
        _metric(key[1], metrics),
        _axes(axes_in(connection, conditions)),
        names,
        tuple(dict(zip(FACETS, one, strict=True)) for one in every),
        tuple(frozenset(held[one]) for one in every),
    )


def _metric(name: str, metrics: Iterable[Metric]) -> Metric:
    """What all grids say of the metric."""
    told = list(metrics)
    same = {field: {getattr(one, field) for one in told} for field in ("unit", "direction", "lower", "upper")}
    return Metric(name, **{field: next(iter(values)) for field, values in same.items() if len(values) == 1})


def _axes(axes: Sequence[Axis]) -> tuple[Axis, ...]:
    """The axes by name, each with the levels of all grids."""
    found: dict[str, list[Axis]] = {}
    for axis in axes:
        found.setdefault(axis.name, []).append(axis)
    whole = []
    for name in sorted(found):
        levels: list[Level] = list(dict.fromkeys(level for axis in found[name] for level in axis.levels))
        if all(level.number is not None for level in levels):
            levels.sort(key=lambda level: level.number or 0.0)
        kinds = {axis.kind for axis in found[name]}
        whole.append(Axis(name, kinds.pop() if len(kinds) == 1 else "nominal", tuple(levels)))
    return tuple(whole)
