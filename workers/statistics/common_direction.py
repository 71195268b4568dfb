"""One trend over all series of a grid along an axis, for `describe.py`: the sum of their S with its own null law.

A stratified Mann–Kendall test (Hirsch, Slack and Smith 1982, eq. 5); here the null law is the convolution of the
exact laws of the rows, so that ragged rows and ties need no approximation. Rows are taken as independent. What all
cells of a column share, such as one bad checkpoint, breaks that: where the means of the columns miss a line by more
than the noise of the cells, the test is Mann and Kendall's over the sums of the columns, to which a shock of a column
is one value among the others.

Orders are alike only where the laws of the cells are. Of rare failures, few trials show none more often than many do:
where trials grow along a row of 0.99, the values fall though the rates do not, and there is no test.
"""

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

import numpy as np
from scipy.special import fdtrc

from registry.results.trend_tests import ExactOrNormal, GridTrend
from workers.statistics.curves import RowNoise
from workers.statistics.ranks import (
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
from workers.statistics.slopes import line_basis, misfit
from workers.statistics.table import MOST_POINTS, Table, abscissa_of, by_level, noise_at
from workers.statistics.terms import SMALLEST_P, FloatArray, IntArray

UNEVEN = "trials differ more than twofold within a series, and are few for its rate: its order follows from them"
"""Why there is no test over values whose order depends on their trials."""
FEWEST = 5.0
"""Trials that are expected to come out the rarer way in the smallest cell, from which on it may be smaller."""


def grid_trends(table: Table, alpha: float) -> dict[str, GridTrend]:
    """The trend along every ordered axis, by the axis' name."""
    return {axis.name: grid_trend(table, place, alpha) for place, axis in enumerate(table.axes) if axis.ordered}


def grid_trend(table: Table, place: int, alpha: float) -> GridTrend:
    """The trend along one axis: over its series, or over the columns' sums where columns share more than a line."""
    found = stratified(rows_along(table, place), alpha)
    if found.status == "ok" and uneven_trials(table, place):
        return replace(found, status="insufficient", reason=UNEVEN)
    shared, sums = shared_by_columns(table, place)
    if shared is None or sums is None or shared >= alpha or not table.computable:
        return replace(found, shared_p=shared)
    return replace(stratified([sums], alpha, "sums"), rows=found.rows, over="columns", shared_p=shared)


def shared_by_columns(table: Table, place: int) -> tuple[float | None, IntArray | None]:
    """The p that the means of the columns miss a line by no more than noise, and the sums of the columns in ticks, over
    the series that have every measured level; `None` below two such series or three levels."""
    present = by_level(table.present, place)
    used = np.flatnonzero(present.any(axis=1))
    rows = np.flatnonzero(present[used].all(axis=0))
    if rows.size < 2 or used.size < 3 or not table.computable:
        return None, None
    at = np.ix_(used, rows)
    cells = by_level(np.arange(table.values.size).reshape(table.values.shape), place)[at]
    values, x = by_level(table.values, place)[at], abscissa_of(table.axes[place])[0][used]
    means, noise = values.mean(axis=1), noise_at(table, cells.ravel())
    sums = by_level(table.ticks, place)[at].sum(axis=1)
    if noise is not None:
        error = np.sqrt(np.sum(noise.error.reshape(cells.shape) ** 2, axis=1)) / rows.size
        known = RowNoise(noise.kind, error[None])
        return float(misfit(means[None], known, line_basis(x[None], known)).p[0]), sums
    known = RowNoise("stderr", np.ones((1, used.size)))
    apart = float(misfit(means[None], known, line_basis(x[None], known)).statistic[0]) * rows.size
    rest = values - values.mean(axis=0) - means[:, None] + values.mean()
    free = used.size - 2, (rows.size - 1) * (used.size - 1)
    scatter = float(np.sum(rest**2)) / free[1]
    if scatter <= 1e-24 * float(np.max(np.abs(values), initial=0.0)) ** 2:
        return None, None
    return max(SMALLEST_P, float(fdtrc(*free, apart / free[0] / scatter))), sums


def uneven_trials(table: Table, place: int) -> bool:
    """Return whether some series has cells of much fewer trials than others, too few for their rate."""
    if table.counts is None or table.metric.proportion_of is None:
        return False
    n = np.where(table.present, table.counts, 0) / table.design_effect
    if n.max() <= 2 * np.min(n, where=n > 0, initial=n.max()):
        return False
    n, values = by_level(n, place), np.nan_to_num(by_level(table.values, place))
    most, fewest = n.max(axis=0), np.min(n, axis=0, where=n > 0, initial=n.max())
    share = (n * values).sum(axis=0) / np.maximum(n.sum(axis=0), 1) / table.metric.proportion_of
    return bool(np.any((most > 2 * fewest) & (fewest * np.minimum(share, 1 - share) < FEWEST)))


def rows_along(table: Table, place: int) -> list[IntArray]:
    """The values of the series along an axis that have two cells or more, as integers."""
    present, (ticks, _) = by_level(table.present, place).T, table.ticks_along(place)
    found = []
    left = MOST_POINTS
    for i in np.flatnonzero(present.sum(axis=1) > 1).tolist():
        row = ticks[i][present[i]]
        left -= int(row.size)
        if left < 0:
            break
        found.append(row)
    return found


def stratified(rows: Sequence[IntArray], alpha: float = 0.05, kind: str = "values") -> GridTrend:
    """Tests for a common direction of all rows; `kind` is what a reason calls what they have."""
    if not rows:
        return GridTrend("insufficient", 0, 0, None, None, "exact", "no series has two cells")
    s, patterns = scored(rows)
    pairs = sum(untied_pairs(*pattern) for pattern in patterns)
    least = max(SMALLEST_P, 2 * math.prod(min_attainable(*p) / 2 if untied_pairs(*p) else 1.0 for p in patterns))
    if pairs == 0:
        return GridTrend("undefined", s, len(rows), 1.0, 1.0, "exact", f"no series has two different {kind}")
    method: ExactOrNormal = "normal"
    p = normal_p(s, sum(variance(*pattern) for pattern in patterns))
    if pairs <= EXACT_PAIRS and max(count for count, _ in patterns) <= EXACT_POINTS:
        method, p = "exact", tail(patterns, s, pairs)
    if least >= alpha:
        reason = f"no orderings of these {kind} have a p below {alpha}"
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
