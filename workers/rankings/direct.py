"""Rank: the grids of a scope -> a field -> a ranking."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from registry.query import RankingQuestion
from workers.rankings.score_matrix import build_field
from workers.statistics import rank
from workers.statistics.ranking import refused


def ranking_refused(question: RankingQuestion, reason: str) -> dict[str, Any]:
    """The document that says why a question is not answered."""
    asked = (question.method, question.missing, question.alpha, question.target)
    return about(question, []) | refused(reason, *asked) | {"inputs": [], "derived": []}


def about(question: RankingQuestion, benchmarks: list[str]) -> dict[str, Any]:
    return {
        "by": question.by,
        "experiment": question.experiment,
        "metric": question.metric,
        "benchmarks": benchmarks,
        "variant": list(question.variant),
    }


def ranking(question: RankingQuestion, rows: Sequence[Any], joined: Mapping[tuple[str, str], str]) -> dict[str, Any]:
    """The ranking's document: equal inputs give equal bytes."""
    field = build_field(question, rows, joined)
    asked = (question.method, question.missing, question.alpha, question.target)
    found = rank(field.standings, *asked)
    return {
        **about(question, list(field.standings.benchmark_names)),
        **found,
        "inputs": field.inputs,
        "derived": field.derived,
        "warnings": [*field.warnings, *found["warnings"]],
    }
