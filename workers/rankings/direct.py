"""Direct ranking: the grids of a scope become a score matrix, and that a ranking.

Ranking of a large scope from its stored pair sums.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import orjson
from sqlalchemy import Connection, select

from registry.grids.slices import member_text
from registry.query import AggregatesQuery, ModelComparisonQuery, RankingQuery, sliced_by
from registry.results.inputs import Warning
from registry.results.ranking import Checksum, Omission, Ranking, Slots
from registry.storage.tables import grids, pair_sum_scopes, pair_sums
from workers.rankings.pair_sums import scope_of, stored_sums
from workers.rankings.ranking_input import NO_ITEMS, build_ranking_input, derived_name_warnings, scale_warnings
from workers.rankings.slots import Scale, scales
from workers.scope import alias_map, experiment_names
from workers.statistics import ScoreMatrix, rank
from workers.statistics.board import MOST_COUNTED, rank_counted
from workers.statistics.counted import Counted, matrices_of
from workers.statistics.pair_sums import FIELDS
from workers.statistics.ranking import refused

_NAMED = 12
"""Missing benchmarks of a suite that are named; the rest is counted."""


def refused_ranking(query: RankingQuery, reason: str) -> Ranking:
    """Ranking that says why a query gets no order."""
    return of_scope(refused(reason, query.method, query.missing, query.alpha, query.target), query, ())


def of_scope(found: Ranking, query: RankingQuery, benchmarks: Sequence[str]) -> Ranking:
    """The ranking with the query's scope; what a suite names and no grid is about is a warning."""
    return replace(
        found,
        by=query.by,
        experiment=query.experiment,
        metric=query.metric,
        benchmarks=tuple(benchmarks),
        suite=query.suite or None,
        variant=query.variant,
        **sliced_by(query),
        warnings=(*suite_warnings(query, benchmarks, "ranked"), *found.warnings),
    )


def benchmarks_of(query: RankingQuery, scores: ScoreMatrix) -> tuple[str, ...]:
    """The benchmarks of a score matrix, which are its names where benchmarks are ranked."""
    return scores.names if query.by == "benchmark" else scores.benchmark_names


def suite_warnings(
    query: RankingQuery | AggregatesQuery | ModelComparisonQuery, benchmarks: Sequence[str], done: str
) -> Iterator[Warning]:
    """What a suite names and no grid is about; `done` says what is not done there."""
    lacking = sorted(set(query.benchmark) - set(benchmarks)) if query.suite and benchmarks else []
    if lacking:
        more = f" and {len(lacking) - _NAMED:,} more" if len(lacking) > _NAMED else ""
        own = dict(query.slices)
        named = ", ".join(member_text(name, own.get(name, ())) for name in lacking[:_NAMED])
        counted = f"{len(lacking):,} of the {len(query.benchmark):,} benchmarks"
        detail = f'Nothing is {done} on {counted} of the suite "{query.suite}": {named}{more}.'
        yield Warning("suite_incomplete", detail)


def direct_ranking(
    query: RankingQuery,
    rows: Sequence[Any],
    joined: Mapping[tuple[str, str], str],
    items: Mapping[Any, Sequence[Any]] = NO_ITEMS,
) -> Ranking:
    """Ranking computed from its cells, with rows of outcomes of items by grid; equal inputs give equal bytes."""
    prepared = build_ranking_input(query, rows, joined, items)
    found = rank(prepared.scores, query.method, query.missing, query.alpha, query.target, query.pairs_of or None)
    scoped = of_scope(found, query, benchmarks_of(query, prepared.scores))
    warnings = prepared.warnings + scoped.warnings
    told = {name: getattr(prepared, name) for name in ("inputs", "derived", "scale", "set_aside")}
    return replace(scoped, warnings=warnings, **told)


MOST_BENCHMARKS = 1_000


def ranking_from_sums(connection: Connection, project_id: uuid.UUID, query: RankingQuery) -> Ranking:
    """Ranking computed from pair sums. Equal sums give equal bytes.

    `connection` must see one snapshot.
    """
    scope = connection.execute(select(pair_sum_scopes).where(*scope_of(project_id, query))).one()
    found = scales(tuple(orjson.loads(kind)) for kind in scope.kinds)
    if len(found.classes) > 1 or any(scale.factor != 1 for scale in found.of.values()):
        reason = "units, directions or bounds differ; over so many cells only grids of one scale are compared"
        return refused_ranking(query, reason)
    scale = found.classes[0] if found.classes else Scale("", "higher", None, None)
    if scale.direction is None:
        return refused_ranking(query, "the metric has no better end")
    benchmarks, more = _benchmarks(connection, scope)
    settings = (query.method, query.missing, query.alpha, query.target, query.pairs_of or None)
    ranked = of_scope(rank_counted(_counted(connection, scope, query, scale), *settings), query, benchmarks)
    return replace(
        ranked,
        scale=found.one,
        left_out=ranked.left_out + _left_out(more),
        inputs_left_out=Checksum(scope.grids, scope.checksum.hex),
        warnings=scale_warnings(found) + derived_name_warnings(benchmarks) + ranked.warnings,
    )


def _left_out(more: bool) -> tuple[Omission, ...]:
    """Parts of the ranking that are not in the sums; `more`: there are more benchmarks than are listed."""
    derived = Omission("derived", "what was derived from other grids is not in the sums, and not listed")
    return (derived, Omission("benchmarks", f"more than {MOST_BENCHMARKS:,}: the first ones")) if more else (derived,)


def _counted(connection: Connection, scope: Any, query: RankingQuery, scale: Scale) -> Counted:
    statement = (
        select(pair_sums).where(pair_sums.c.scope_id == scope.id, pair_sums.c.cells > 0).order_by(pair_sums.c.name)
    )
    if query.model:
        statement = statement.where(pair_sums.c.name.in_(query.model))
    # One more than are compared: the refusal needs no sums.
    rows = connection.execute(statement.limit(MOST_COUNTED + 1)).all()
    places = [row.position for row in rows]
    sums = np.zeros((FIELDS, 0, 0), dtype=np.int64)
    if 0 < len(rows) <= MOST_COUNTED:
        width = max(places) + 1
        sums = np.stack([stored_sums(row.sums, width)[:, places] for row in rows], axis=1)
    return Counted(
        names=tuple(row.name for row in rows),
        cells=tuple(row.cells for row in rows),
        unit=10.0 ** -(scope.exponent or 0),
        sign=-1 if scale.direction == "lower" else 1,
        slots=Slots(scope.slots, scope.compared),
        bounded=scale.lower is not None and scale.upper is not None,
        **matrices_of(sums),
    )


def _benchmarks(connection: Connection, scope: Any) -> tuple[list[str], bool]:
    """Sorted names of the benchmarks, up to a limit, and whether there are more."""
    aliases = alias_map(connection, scope.project_id)
    here = (
        grids.c.project_id == scope.project_id,
        grids.c.metric == scope.metric,
        grids.c.deleted_at.is_(None),
    )
    found: set[str] = set()
    for experiment in experiment_names(aliases, scope.experiment):
        after = ""
        while len(found) <= MOST_BENCHMARKS:
            # A loose scan of the index: one step for each benchmark, whatever the number of its grids. The order is
            # that of the whole index: for min(benchmark) the planner may read all that come after.
            first = select(grids.c.benchmark).where(*here, grids.c.experiment == experiment).limit(1)
            of_index = (grids.c.project_id, grids.c.experiment, grids.c.metric, grids.c.benchmark)
            name = connection.scalar(first.where(grids.c.benchmark > after).order_by(*of_index))
            if name is None:
                break
            found.add(aliases.get(("benchmark", name), name))
            after = name
    return sorted(found)[:MOST_BENCHMARKS], len(found) > MOST_BENCHMARKS
