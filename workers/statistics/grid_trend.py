"""One trend over all series of a grid along an axis: the sum of their S with its own null law.

A stratified Mann–Kendall test (Hirsch, Slack and Smith 1982, eq. 5); here the null law is the convolution of the
exact laws of the rows, so that ragged rows and ties need no approximation. Rows are taken as independent.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from registry.results.trend_tests import ExactOrNormal, GridTrend
from workers.statistics.kendall import (
    EXACT_PAIRS,
    EXACT_POINTS,
    min_attainable,
    normal_p,
    probabilities,
    scores,
    tie_patterns,
    untied_pairs,
    variance,
)
from workers.statistics.series import MOST_POINTS
from workers.statistics.table import Table, by_level
from workers.statistics.terms import SMALLEST_P, FloatArray, IntArray


def grid_trends(table: Table, alpha: float) -> dict[str, GridTrend]:
    """The trend along every ordered axis, by the axis' name."""
    return {
        axis.name: stratified(rows_along(table, place), alpha) for place, axis in enumerate(table.axes) if axis.ordered
    }


def rows_along(table: Table, place: int) -> list[IntArray]:
    """The values of the series along an axis that have two cells or more, as integers."""
    present, ticks = by_level(table.present, place).T, by_level(table.ticks, place).T
    found = []
    left = MOST_POINTS
    for i in np.flatnonzero(present.sum(axis=1) > 1).tolist():
        row = ticks[i][present[i]]
        left -= int(row.size)
        if left < 0:
            break
        found.append(row)
    return found


def stratified(rows: Sequence[IntArray], alpha: float = 0.05) -> GridTrend:
    """Tests for a common direction of all rows."""
    if not rows:
        return GridTrend("insufficient", 0, 0, None, None, "exact", "no series has two cells")
    s, patterns = scored(rows)
    pairs = sum(untied_pairs(*pattern) for pattern in patterns)
    least = max(SMALLEST_P, 2 * math.prod(min_attainable(*p) / 2 if untied_pairs(*p) else 1.0 for p in patterns))
    if pairs == 0:
        return GridTrend("undefined", s, len(rows), 1.0, 1.0, "exact", "no series has two different values")
    method: ExactOrNormal = "normal"
    p = normal_p(s, sum(variance(*pattern) for pattern in patterns))
    if pairs <= EXACT_PAIRS and max(count for count, _ in patterns) <= EXACT_POINTS:
        method, p = "exact", tail(patterns, s, pairs)
    if least >= alpha:
        reason = f"no orderings of these series have a p below {alpha}"
        return GridTrend("insufficient", s, len(rows), p, min(1.0, least), method, reason)
    return GridTrend("ok", s, len(rows), p, least, method)


def scored(rows: Sequence[IntArray]) -> tuple[int, list[tuple[int, tuple[int, ...]]]]:
    """The sum of S over the rows, and the length and tie pattern of each, by length."""
    by_length: dict[int, list[IntArray]] = {}
    for row in rows:
        by_length.setdefault(int(row.size), []).append(row)
    s, patterns = 0, []
    for count, alike in by_length.items():
        ticks = np.array(alike)
        s += sum(scores(ticks))
        patterns += [(count, ties) for ties in tie_patterns(ticks)]
    return s, patterns


def tail(patterns: Sequence[tuple[int, tuple[int, ...]]], s: int, pairs: int) -> float:
    """P(|sum of S| >= |s|) by convolution over the rows."""
    if s == 0:
        return 1.0
    # Inversions of independent rows add up, so their laws are convolved; each is symmetric, and so is the sum.
    ordered = sorted(patterns)
    alike = ordered.count(ordered[0])
    law = repeated(*ordered[0], alike)
    for count, ties in ordered[alike:]:
        law = np.convolve(law, probabilities(count, ties))
    return min(1.0, max(SMALLEST_P, 2 * float(law[: (pairs - abs(s)) // 2 + 1].sum())))


@lru_cache(maxsize=128)
def repeated(count: int, ties: tuple[int, ...], times: int) -> FloatArray:
    """The law of as many rows with one tie pattern; most rows of most grids have no ties."""
    law: FloatArray = np.ones(1)
    for _ in range(times):
        law = np.convolve(law, probabilities(count, ties))
    return law
