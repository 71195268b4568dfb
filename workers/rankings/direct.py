"""Direct ranking: the grids of a scope become a score matrix, and that a ranking."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from registry.query import RankingQuery
from workers.rankings.ranking_input import build_ranking_input
from workers.statistics import rank
from workers.statistics.ranking import refused


def refused_ranking(query: RankingQuery, reason: str) -> dict[str, Any]:
    """Document that says why a query gets no ranking."""
    settings = (query.method, query.missing, query.alpha, query.target)
    return scope_fields(query, []) | refused(reason, *settings) | {"inputs": [], "derived": []}


def scope_fields(query: RankingQuery, benchmarks: list[str]) -> dict[str, Any]:
    """Fields of a ranking's document that repeat the query's scope."""
    return {
        "by": query.by,
        "experiment": query.experiment,
        "metric": query.metric,
        "benchmarks": benchmarks,
        "variant": list(query.variant),
    }


def ranking_document(query: RankingQuery, rows: Sequence[Any], joined: Mapping[tuple[str, str], str]) -> dict[str, Any]:
    """Document of a ranking computed from its cells; equal inputs give equal bytes."""
    prepared = build_ranking_input(query, rows, joined)
    settings = (query.method, query.missing, query.alpha, query.target)
    found = rank(prepared.scores, *settings)
    return {
        **scope_fields(query, list(prepared.scores.benchmark_names)),
        **found,
        "inputs": prepared.inputs,
        "derived": prepared.derived,
        "warnings": [*prepared.warnings, *found["warnings"]],
    }
