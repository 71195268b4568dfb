"""Rank: the grids of a scope -> a field -> a ranking."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from registry.query import RankingQuery
from workers.rankings.ranking_input import build_ranking_input
from workers.statistics import rank
from workers.statistics.ranking import refused


def ranking_refused(question: RankingQuery, reason: str) -> dict[str, Any]:
    """The document that says why a question is not answered."""
    asked = (question.method, question.missing, question.alpha, question.target)
    return about(question, []) | refused(reason, *asked) | {"inputs": [], "derived": []}


def about(question: RankingQuery, benchmarks: list[str]) -> dict[str, Any]:
    return {
        "by": question.by,
        "experiment": question.experiment,
        "metric": question.metric,
        "benchmarks": benchmarks,
        "variant": list(question.variant),
    }


def ranking(question: RankingQuery, rows: Sequence[Any], joined: Mapping[tuple[str, str], str]) -> dict[str, Any]:
    """The ranking's document: equal inputs give equal bytes."""
    field = build_ranking_input(question, rows, joined)
    asked = (question.method, question.missing, question.alpha, question.target)
    found = rank(field.standings, *asked)
    return {
        **about(question, list(field.standings.benchmark_names)),
        **found,
        "inputs": field.inputs,
        "derived": field.derived,
        "warnings": [*field.warnings, *found["warnings"]],
    }
