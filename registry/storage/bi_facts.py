"""Facts of a result for SQL tools: short lists, in an order that the views of the schema `bi` know.

Documents are stored compressed, and PostgreSQL cannot inflate them; the facts are stored beside them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from registry.results.peaks import Peaks
from registry.results.ranking import Ranked, Ranking
from registry.results.series import Series
from registry.results.statistics import GridStatistics

_MOST_SERIES, _MOST_CELLS = 200, 40


def facts_of_statistics(found: GridStatistics) -> dict[str, Any]:
    """Facts of a grid's statistics: coverage, a list for each series, and one for each best or tied cell."""
    coverage = found.coverage
    return {
        "coverage": [coverage.cells, coverage.possible, coverage.component_count] if coverage else [None] * 3,
        "trends": [_trend(one) for one in found.series[:_MOST_SERIES]],
        "peaks": _peaks(found.peaks) if found.peaks else [],
    }


def _trend(one: Series) -> list[Any]:
    interval, steps = one.slope_interval, [step.sharp for step in one.changes]
    sharp = None if steps and all(step is None for step in steps) else sum(map(bool, steps))
    p = one.mann_kendall.p if one.trend_p is None else one.trend_p
    ends = (interval.low, interval.high) if interval else (None, None)
    course = [one.along, one.at, one.count, one.first, one.last, one.slope, *ends]
    return [*course, p, one.q, one.direction, one.shape.kind, one.shape.at, sharp]


def _peaks(peaks: Peaks) -> list[list[Any]]:
    """Value, coordinate, probability of being best, and standing of cells: `best`, or `tied` for the others in the set
    that holds the best cell with 95 % confidence."""
    best = peaks.best
    if best is None:
        return []
    chances = [(one.at, one.value, one.probability) for one in peaks.probability_best or ()]
    tied = peaks.best_set.at if peaks.best_set else ()
    found: list[list[Any]] = [
        [best.value, at, next((p for where, _, p in chances if where == at), None), "best"] for at in best.at
    ]
    found += [[value, at, p, "tied"] for at, value, p in chances if at in tied and at not in best.at]
    return found[:_MOST_CELLS]


def facts_of_answer(result: Ranking | Mapping[str, Any]) -> dict[str, Any] | None:
    """Facts of a ranking: a list for each name. None for other results."""
    return {"ranking": [_ranked(one) for one in result.ranking]} if isinstance(result, Ranking) else None


def _ranked(one: Ranked) -> list[Any]:
    place = [one.rank, one.name, one.score, one.rank_low, one.rank_high]
    return [*place, one.cells, one.wins, one.ties, one.losses, one.group]
