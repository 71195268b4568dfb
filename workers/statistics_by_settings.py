"""Statistics of a revision by a query's settings instead of the default ones."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from registry.grids.grid import Metric
from registry.query import RevisionQuery, StatisticsQuery, sliced_by
from registry.storage.rows import grid_of
from workers.derive import statistics_document
from workers.statistics import Parameters, describe

_OWN = ("sharp_change", "equivalence", "split")


def asked_parameters(query: RevisionQuery, metric: Metric) -> Parameters:
    """Parameters with the query's settings, and the defaults of the metric for the rest."""
    usual = Parameters.of(metric) if query.alpha is None else Parameters.of(metric, query.alpha)
    given = {name: value for name in _OWN if (value := getattr(query, name)) is not None}
    return replace(usual, **given)


def statistics_asked_document(query: StatisticsQuery, revision: Any) -> dict[str, Any]:
    """Document of a revision's statistics by the query's settings."""
    grid = grid_of(revision)
    return statistics_document(revision, describe(grid, asked_parameters(query, grid.metric)), **sliced_by(query))
