"""Direct ranking: the grids of a scope become a score matrix, and that a ranking."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from registry.query import RankingQuery, sliced_by
from registry.results.inputs import Warning
from registry.results.ranking import Ranking
from workers.rankings.ranking_input import build_ranking_input
from workers.statistics import rank
from workers.statistics.ranking import refused

_NAMED = 12
"""Missing benchmarks of a suite that are named; the rest is counted."""


def refused_ranking(query: RankingQuery, reason: str) -> Ranking:
    """Ranking that says why a query gets no order."""
    return of_scope(refused(reason, query.method, query.missing, query.alpha, query.target), query, ())


def of_scope(found: Ranking, query: RankingQuery, benchmarks: Sequence[str]) -> Ranking:
    """The ranking with the query's scope; what a suite names and no grid is about is a warning."""
    lacking = sorted(set(query.benchmark) - set(benchmarks)) if query.suite and benchmarks else []
    return replace(
        found,
        by=query.by,
        experiment=query.experiment,
        metric=query.metric,
        benchmarks=tuple(benchmarks),
        suite=query.suite or None,
        variant=query.variant,
        **sliced_by(query),
        warnings=(*_lacking(lacking, query), *found.warnings),
    )


def _lacking(benchmarks: Sequence[str], query: RankingQuery) -> Iterator[Warning]:
    if benchmarks:
        more = f" and {len(benchmarks) - _NAMED:,} more" if len(benchmarks) > _NAMED else ""
        named = ", ".join(benchmarks[:_NAMED])
        counted = f"{len(benchmarks):,} of the {len(query.benchmark):,} benchmarks"
        yield Warning(
            "suite_incomplete", f'Nothing is ranked on {counted} of the suite "{query.suite}": {named}{more}.'
        )


def direct_ranking(query: RankingQuery, rows: Sequence[Any], joined: Mapping[tuple[str, str], str]) -> Ranking:
    """Ranking computed from its cells; equal inputs give equal bytes."""
    prepared = build_ranking_input(query, rows, joined)
    found = rank(prepared.scores, query.method, query.missing, query.alpha, query.target, query.pairs_of or None)
    scoped = of_scope(found, query, prepared.scores.benchmark_names)
    warnings = prepared.warnings + scoped.warnings
    return replace(scoped, inputs=prepared.inputs, derived=prepared.derived, warnings=warnings)
