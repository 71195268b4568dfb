"""Direct ranking: the grids of a scope become a score matrix, and that a ranking."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from registry.grids.slices import member_text
from registry.query import AggregatesQuery, ModelComparisonQuery, RankingQuery, sliced_by
from registry.results.inputs import Warning
from registry.results.ranking import Ranking
from workers.rankings.ranking_input import NO_ITEMS, build_ranking_input
from workers.statistics import ScoreMatrix, rank
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
