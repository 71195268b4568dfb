"""Overview of a project or of a name in it: the experiments, how much of each grid was measured, and stored rankings.

Nothing is requested here: a ranking that nobody asked for stays unasked.
"""

import json
import math
import uuid
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, cast

from sqlalchemy import Connection, and_, case, func, not_, or_, select, text, tuple_

from registry.grids.protocol import Protocol, Rules, differences
from registry.operations.cached_results import invalidated
from registry.operations.find_grids import Filters, conditions
from registry.query import TARGETS, RankingQuery, query_of
from registry.storage.keys import of_current
from registry.storage.tables import aliases, cached_results, derivations, experiments, grids, projects, revisions

MOST_SCOPES = 2_000
"""Experiments with a metric that are counted one by one; beyond them the rest is only said to be there."""
_SIZES = func.jsonb_path_query_array(revisions.c.axes, text("'$[*].levels.size()'"))
"""How many levels each axis of a grid has."""
_CURRENT = of_current(revisions)
_DERIVED = of_current(derivations)
_IS_CURRENT = and_(
    cached_results.c.etag.is_not(None),
    cached_results.c.document_generation == cached_results.c.generation,
    ~invalidated(cached_results.c.experiment, cached_results.c.metric),
)
"""Whether a stored document is of the results as they are now."""


@dataclass(frozen=True, slots=True)
class Scope:
    """The grids of a name in one experiment by one metric."""

    experiment: str
    metric: str
    grids: int = 0
    measured: int = 0
    possible: int = 0
    """Cells that these grids have room for."""
    pending: int = 0
    failed: int = 0
    updated_at: datetime | None = None
    also: tuple[str, ...] = ()
    """Of one metric of several: the other ones."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A grid of a scope."""

    id: uuid.UUID
    benchmark: str
    model: str
    variant: str
    measured: int
    possible: int


@dataclass(frozen=True, slots=True)
class Standing:
    """The place of a name in a stored ranking; no ranks where it has none, or where the result is not current."""

    query: RankingQuery
    state: str
    """`ready`, `pending`, `failed`, or `stale`: an input has changed, and nobody has asked since."""
    names: int = 0
    is_in: bool = False
    """Whether the name is one of its names."""
    rank: int | None = None
    rank_low: int | None = None
    rank_high: int | None = None
    parted: bool = False
    """Whether several names are first: ranks are then only among names that the data connect, or tied."""


def scopes_of(connection: Connection, project_id: uuid.UUID, filters: Filters) -> list[Scope]:
    """The experiments and metrics in which grids fulfil these filters, by name; at most `MOST_SCOPES` rows are read."""
    names = (grids.c.experiment, grids.c.metric, _SIZES.label("sizes"))
    query = (
        select(
            *names,
            func.count().label("grids"),
            func.sum(revisions.c.cell_count).label("measured"),
            func.max(grids.c.updated_at).label("updated_at"),
            *(func.count().filter(derivations.c.state == state).label(state) for state in ("pending", "failed")),
        )
        .select_from(grids)
        .join(revisions, _CURRENT)
        .outerjoin(derivations, _DERIVED)
        .where(grids.c.project_id == project_id, grids.c.deleted_at.is_(None))
        .where(*conditions(connection, project_id, filters))
        .group_by(*names)
        .order_by(*names[:2])
        .limit(MOST_SCOPES)
    )
    found: dict[tuple[str, str], Scope] = {}
    for row in connection.execute(query):
        one = found.get((row.experiment, row.metric), Scope(row.experiment, row.metric))
        found[row.experiment, row.metric] = replace(
            one,
            grids=one.grids + row.grids,
            measured=one.measured + row.measured,
            possible=one.possible + row.grids * math.prod(row.sizes),
            pending=one.pending + row.pending,
            failed=one.failed + row.failed,
            updated_at=max(filter(None, (one.updated_at, row.updated_at))),
        )
    return list(found.values())


def entries_of(
    connection: Connection, project_id: uuid.UUID, filters: Filters, scopes: Sequence[Scope], most: int
) -> Mapping[tuple[str, str], Sequence[Entry]]:
    """The first `most` grids of each scope, in the order of their names."""
    pair = (grids.c.experiment, grids.c.metric)
    order = (grids.c.benchmark, grids.c.model, grids.c.variant)
    place = func.row_number().over(partition_by=pair, order_by=order).label("place")
    inner = (
        select(grids.c.id, *pair, *order, grids.c.revision, place)
        .where(grids.c.project_id == project_id, grids.c.deleted_at.is_(None))
        .where(tuple_(*pair).in_([(one.experiment, one.metric) for one in scopes]))
        .where(*conditions(connection, project_id, filters))
        .subquery()
    )
    current = and_(
        revisions.c.project_id == project_id, revisions.c.grid_id == inner.c.id, revisions.c.number == inner.c.revision
    )
    query = (
        select(inner, revisions.c.cell_count, _SIZES.label("sizes"))
        .join(revisions, current)
        .where(inner.c.place <= most)
        .order_by(inner.c.experiment, inner.c.metric, inner.c.place)
    )
    found: dict[tuple[str, str], list[Entry]] = {}
    for row in connection.execute(query):
        entry = Entry(row.id, row.benchmark, row.model, row.variant, row.cell_count, math.prod(row.sizes))
        found.setdefault((row.experiment, row.metric), []).append(entry)
    return found


def lacking_of(
    connection: Connection, project_id: uuid.UUID, filters: Filters, scopes: Sequence[Scope]
) -> Mapping[str, Sequence[str]]:
    """The benchmarks of each of these experiments of which no grid fulfils the filters; an alias is the name that it
    stands for."""
    same = (aliases.c.project_id == project_id, aliases.c.kind == "benchmark", aliases.c.alias == grids.c.benchmark)
    benchmark = func.coalesce(aliases.c.name, grids.c.benchmark)
    query = (
        select(grids.c.experiment, benchmark.label("benchmark"))
        .select_from(grids.outerjoin(aliases, and_(*same)))
        .where(grids.c.project_id == project_id, grids.c.deleted_at.is_(None), benchmark != "")
        .where(grids.c.experiment.in_({one.experiment for one in scopes}))
        .group_by(grids.c.experiment, benchmark)
        .having(not_(func.bool_or(and_(*conditions(connection, project_id, filters)))))
        .order_by(benchmark)
    )
    found: dict[str, list[str]] = {}
    for row in connection.execute(query):
        found.setdefault(row.experiment, []).append(row.benchmark)
    return found


def protocols_of(
    connection: Connection, project_id: uuid.UUID, filters: Filters
) -> Mapping[str, Sequence[tuple[Protocol, Sequence[str]]]]:
    """What the protocols of these grids say of the keys in which those of one experiment differ, each with its models;
    without experiments in which none do. Keys that are free in an experiment make no difference."""
    same = (aliases.c.project_id == project_id, aliases.c.kind == "model", aliases.c.alias == grids.c.model)
    ruled = (experiments.c.project_id == project_id, experiments.c.name == grids.c.experiment)
    said = (grids.c.experiment, revisions.c.protocol, experiments.c.protocol_rules)
    model = func.array_agg(func.coalesce(aliases.c.name, grids.c.model).distinct()).label("models")
    query = (
        select(*said, model)
        .select_from(grids.outerjoin(aliases, and_(*same)).outerjoin(experiments, and_(*ruled)))
        .join(revisions, _CURRENT)
        .where(grids.c.project_id == project_id, grids.c.deleted_at.is_(None))
        .where(*conditions(connection, project_id, filters))
        .group_by(*said)
        .order_by(grids.c.experiment)
    )
    found: dict[str, list[tuple[Protocol, Sequence[str]]]] = {}
    for row in connection.execute(query):
        free = Rules.of(row.protocol_rules).free
        protocol = {key: value for key, value in (row.protocol or {}).items() if key not in free}
        found.setdefault(row.experiment, []).append((protocol, row.models))
    each = {experiment: _differing(protocols) for experiment, protocols in found.items()}
    return {experiment: told for experiment, told in each.items() if told}


def _differing(protocols: Sequence[tuple[Protocol, Sequence[str]]]) -> list[tuple[Protocol, Sequence[str]]]:
    """Protocols with the keys alone in which those that say anything differ; that of most models first."""
    known = [protocol for protocol, _ in protocols if protocol]
    keys = sorted({one.key for protocol in known for one in differences(known[0], protocol)})
    found: dict[str, tuple[Protocol, set[str]]] = {}
    for protocol, models in protocols if keys else ():
        cut = {key: protocol[key] for key in keys if key in protocol}
        found.setdefault(json.dumps(cut), (cut, set()))[1].update(models)
    told = [(cut, sorted(models)) for cut, models in found.values()]
    return sorted(told, key=lambda one: (not one[0], -len(one[1]), json.dumps(one[0])))


def usual_rankings(
    connection: Connection,
    project_id: uuid.UUID,
    scopes: Sequence[Scope],
    known: Collection[str] = (),
    targets: Sequence[str] = TARGETS,
) -> Mapping[tuple[str, str], Mapping[str, Any]]:
    """The rows of the usual rankings of these scopes by target, from the narrowest on. One that is being computed has
    no etag, as has none whose document is of former results; the document is left out where its etag is among the
    `known` ones."""
    queries = [RankingQuery(one.experiment, one.metric, target=target) for one in scopes for target in targets]
    asked = {one.key: one for one in queries}
    document = cached_results.c.document
    etag = case((_IS_CURRENT, cached_results.c.etag)).label("etag")
    unless_known = case((and_(_IS_CURRENT, cached_results.c.etag.not_in(known)), document)).label("document")
    query = (
        select(cached_results.c.query_key, etag, unless_known)
        .join(projects, projects.c.id == cached_results.c.project_id)
        .where(projects.c.id == project_id, cached_results.c.query_key.in_(asked))
        .where(or_(and_(_IS_CURRENT, document.is_not(None)), cached_results.c.state != "failed"))
    )
    rows = {row.query_key: row for row in connection.execute(query)}
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for key, one in asked.items():
        if key in rows:
            found.setdefault((one.experiment, one.metric), {})[one.target] = rows[key]
    return found


def standings_of(
    connection: Connection, project_id: uuid.UUID, kind: str, name: str, scopes: Sequence[Scope]
) -> list[Standing]:
    """The places of a name in the usual rankings of its kind of these scopes, as far as they are stored, by experiment
    and metric."""
    keys = [RankingQuery(one.experiment, one.metric, by=kind).key for one in scopes]
    query, document = cached_results.c.query, cached_results.c.facts["ranking"]
    row = func.jsonb_path_query_first(
        document, text("'strict $[*] ? (@[1] == $name)'"), func.jsonb_build_object("name", name)
    )
    firsts = func.jsonb_path_query_array(document, text("'strict $[*] ? (@[0] == 1)'"))
    statement = (
        select(
            query.label("query"),
            cached_results.c.state,
            func.jsonb_array_length(document).label("names"),
            row.label("row"),
            firsts.label("firsts"),
            _IS_CURRENT.label("current"),
        )
        .join(projects, projects.c.id == cached_results.c.project_id)
        .where(projects.c.id == project_id, cached_results.c.query_key.in_(keys))
        .order_by(cached_results.c.experiment, cached_results.c.metric)
    )
    return [_standing(one) for one in connection.execute(statement)]


def _standing(found: Any) -> Standing:
    query = cast(RankingQuery, query_of(found.query))
    if not found.current:
        return Standing(query, "stale" if found.state == "ready" else found.state)
    if found.row is None:
        return Standing(query, "ready", found.names)
    rank, _, _, low, high, *_ = found.row
    # Of names that tie for the first rank the scores are one number; each part has its own first.
    parted = len({score for _, _, score, *_ in found.firsts}) > 1
    return Standing(query, "ready", found.names, True, rank, low, high, parted)
