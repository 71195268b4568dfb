"""Results of sweet spots and thresholds, computed from stored grids."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from registry.query import SweetSpotQuery, ThresholdsQuery, sliced_by
from registry.results.codec import to_document
from registry.results.series import Series
from registry.results.thresholds import SeriesThresholds
from registry.storage.rows import grid_of
from workers.derive import asked_parameters
from workers.scope import canonical_names, matches
from workers.statistics import describe, sweet_spot
from workers.statistics.table import Table
from workers.statistics.thresholds import level_counts

TOO_MANY = "too many cells; ask about fewer models or benchmarks"
TOO_LARGE = {"status": "undefined", "reason": TOO_MANY, "inputs": []}
"""Result for a scope with more cells than are read at once."""


def sweet_spot_document(
    query: SweetSpotQuery, rows: Sequence[Any], joined: Mapping[tuple[str, str], str]
) -> dict[str, Any]:
    """Sweet spot of all grids that the query matches, with its inputs; derived grids are listed but not counted."""
    matching = [(row, names) for row in rows if matches(query, names := canonical_names(row, joined))]
    meant = [(row, names) for row, names in matching if row.derived is None]
    derived = [
        {"grid": str(row.id), "benchmark": names["benchmark"], "model": names["model"]}
        for row, names in matching
        if row.derived is not None
    ]
    inputs = [{"grid": str(row.id), "revision": row.number, **names} for row, names in meant]
    found = sweet_spot([grid_of(row) for row, _ in meant])
    return {
        "experiment": query.experiment,
        "metric": query.metric,
        **sliced_by(query),
        **to_document(found),
        "inputs": inputs,
        "derived": derived,
    }


def thresholds_document(query: ThresholdsQuery, revision: Any) -> dict[str, Any]:
    """Positions where each series of a revision crosses the query's levels."""
    grid = grid_of(revision)
    parameters = replace(asked_parameters(query, grid.metric), thresholds=query.thresholds)
    described = describe(grid, parameters)
    meant = [one for one in described.series if query.along in ("", one.along)]
    return {
        "grid": query.grid,
        "revision": query.revision,
        "metric": revision.metric,
        "axes": revision.axes,
        "params": to_document(parameters),
        "thresholds": list(query.thresholds),
        **sliced_by(query),
        "series": to_document([_crossings(one) for one in meant]),
        "counts": to_document(level_counts(Table.of(grid), query.thresholds, parameters.alpha)),
        "series_left_out": described.series_left_out,
    }


def _crossings(one: Series) -> SeriesThresholds:
    return SeriesThresholds(
        along=one.along,
        at=one.at,
        status=one.status,
        count=one.count,
        from_=one.from_,
        to=one.to,
        first=one.first,
        last=one.last,
        direction=one.direction,
        thresholds=one.thresholds,
    )
