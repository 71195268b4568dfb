"""Direct ranking: the grids of a scope become a score matrix, and that a ranking."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from registry.query import RankingQuery, sliced_by
from registry.results.ranking import Ranking
from workers.rankings.ranking_input import build_ranking_input
from workers.statistics import rank
from workers.statistics.ranking import refused


def refused_ranking(query: RankingQuery, reason: str) -> Ranking:
    """Ranking that says why a query gets no order."""
    return of_scope(refused(reason, query.method, query.missing, query.alpha, query.target), query, ())


def of_scope(found: Ranking, query: RankingQuery, benchmarks: Sequence[str]) -> Ranking:
    """The ranking with the query's scope."""
    return replace(
        found,
        by=query.by,
        experiment=query.experiment,
        metric=query.metric,
        benchmarks=tuple(benchmarks),
        variant=query.variant,
        **sliced_by(query),
    )


def direct_ranking(query: RankingQuery, rows: Sequence[Any], joined: Mapping[tuple[str, str], str]) -> Ranking:
    """Ranking computed from its cells; equal inputs give equal bytes."""
    prepared = build_ranking_input(query, rows, joined)
    found = rank(prepared.scores, query.method, query.missing, query.alpha, query.target, query.pairs_of or None)
    return replace(
        of_scope(found, query, prepared.scores.benchmark_names),
        inputs=prepared.inputs,
        derived=prepared.derived,
        warnings=prepared.warnings + found.warnings,
    )
