"""Everything about one series, and about all series of a grid along one axis."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from registry.grid import Direction as Better
from workers.statistics.changes import Change, Onset, Sharpest, steps
from workers.statistics.direction import Direction, direction_with_noise, direction_without_noise
from workers.statistics.kendall import MannKendall, mann_kendall
from workers.statistics.logit import Logit, logit_trend
from workers.statistics.monotone import Monotone, monotone
from workers.statistics.multiplicity import adjusted
from workers.statistics.proportions import Heterogeneity, homogeneity
from workers.statistics.shape import Shape, shape
from workers.statistics.slopes import LeastSquares, TheilSen, least_squares, theil_sen
from workers.statistics.summary import Summary, summarise
from workers.statistics.table import Curve, Place, Table, XScale, place_of
from workers.statistics.terms import Interval, Parameters, Status
from workers.statistics.thresholds import Plateau, Threshold, plateau, thresholds
from workers.statistics.weighted import WeightedSlope, cochran_q, weighted_slope

MOST_SERIES = 2_000
MOST_POINTS = 100_000
"""Series and points analysed of one grid; what lies beyond, in row-major order of each axis, is only counted."""


@dataclass(frozen=True, slots=True)
class SeriesStatistics:
    """The statistics of one series; `slope` in the metric's unit per unit of the abscissa (see `x_scale`).

    `logit` exists where trials are known, `weighted` where standard errors are, `heterogeneity` with either.
    `trend_p` is the p behind `direction`, and `q` its Benjamini-Hochberg value among the series of the grid along
    the axis. `slope_points_used` is below `count` when a long series was thinned for the slope.
    """

    along: str
    at: dict[str, Place]
    x_scale: XScale
    status: Status
    count: int
    from_: Place
    to: Place
    first: float
    last: float
    summary: Summary
    slope: float | None
    slope_intercept: float | None
    slope_interval: Interval | None
    slope_points_used: int
    ols: LeastSquares
    mann_kendall: MannKendall
    logit: Logit | None
    weighted: WeightedSlope | None
    heterogeneity: Heterogeneity | None
    direction: Direction
    trend_p: float | None
    q: float | None
    changes: tuple[Change, ...]
    changes_left_out: int
    sharpest: Sharpest
    onset: Onset
    shape: Shape
    thresholds: tuple[Threshold, ...]
    plateau: Plateau | None
    monotone: Monotone
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class AllSeries:
    """The series of a grid along every ordered axis, and how many were left out."""

    series: tuple[SeriesStatistics, ...]
    left_out: int


def all_series(table: Table, parameters: Parameters) -> AllSeries:
    """Analyses the series axis by axis; a nominal axis has none.

    What one axis leaves of the limits falls to the next, and each gets at least its even share.
    """
    found: list[SeriesStatistics] = []
    places = [place for place, axis in enumerate(table.axes) if axis.ordered]
    points, left_out = MOST_POINTS, 0
    for number, place in enumerate(places):
        axes_left = len(places) - number
        along: list[SeriesStatistics] = []
        most, room = (MOST_SERIES - len(found)) // axes_left, points // axes_left
        for curve in table.curves(place):
            room -= curve.count
            if len(along) == most or room < 0:
                break
            points -= curve.count
            along.append(one_series(curve, parameters, table.metric.direction))
        left_out += int(np.count_nonzero(table.present.any(axis=place))) - len(along)
        found.extend(with_q(along))
    return AllSeries(tuple(found), left_out)


def with_q(along: Sequence[SeriesStatistics]) -> list[SeriesStatistics]:
    """The same series with their false-discovery rates among each other."""
    qs = adjusted([series.trend_p for series in along], "bh")
    return [replace(series, q=q) for series, q in zip(along, qs, strict=True)]


def one_series(curve: Curve, parameters: Parameters, better: Better | None) -> SeriesStatistics:
    """Everything but `q`, which needs the other series."""
    level = 1 - parameters.alpha
    test = mann_kendall(curve.ticks, parameters.alpha)
    line = theil_sen(curve.x, curve.y, curve.ticks, level)
    logit, weighted, heterogeneity = with_noise(curve, level)
    stepwise = steps(curve, parameters, better)
    summary = summarise(curve.x, curve.y)
    trend_p = trend_p_of(test, logit, weighted)
    single = curve.count == 1
    return SeriesStatistics(
        along=curve.axis.name,
        at={axis.name: place_of(axis, position) for axis, position in curve.at},
        x_scale=curve.x_scale,
        status="insufficient" if single else "ok",
        count=curve.count,
        from_=curve.place(0),
        to=curve.place(curve.count - 1),
        first=summary.first,
        last=summary.last,
        summary=summary,
        slope=line.slope,
        slope_intercept=line.intercept,
        slope_interval=line.interval,
        slope_points_used=line.points_used,
        ols=least_squares(curve.x, curve.y, level),
        mann_kendall=test,
        logit=logit,
        weighted=weighted,
        heterogeneity=heterogeneity,
        direction=direction_of(curve, test, line, logit, weighted, heterogeneity, parameters),
        trend_p=trend_p,
        q=None,
        changes=stepwise.changes,
        changes_left_out=stepwise.left_out,
        sharpest=stepwise.sharpest,
        onset=stepwise.onset,
        shape=shape(curve),
        thresholds=thresholds(curve, parameters.thresholds, better),
        plateau=None if parameters.equivalence is None else plateau(curve, parameters.equivalence),
        monotone=monotone(curve, better),
        reason="a single cell has no course" if single else None,
    )


def with_noise(curve: Curve, level: float) -> tuple[Logit | None, WeightedSlope | None, Heterogeneity | None]:
    """What known trials, or else known standard errors, add."""
    k, n = curve.successes, curve.trials
    if k is not None and n is not None and curve.whole is not None:
        return logit_trend(curve.x, k, n, curve.whole), None, homogeneity(k, n)
    if curve.stderr is not None:
        weighted = weighted_slope(curve.x, curve.y, curve.stderr, level)
        return None, weighted, cochran_q(curve.y, curve.stderr)
    return None, None, None


def trend_p_of(test: MannKendall, logit: Logit | None, weighted: WeightedSlope | None) -> float | None:
    """The p of the trend test that the series' noise allows; none where it could not have been significant."""
    if logit is not None:
        return logit.p
    if weighted is not None:
        return weighted.p
    return test.p if test.status == "ok" else None


def direction_of(
    curve: Curve,
    test: MannKendall,
    line: TheilSen,
    logit: Logit | None,
    weighted: WeightedSlope | None,
    heterogeneity: Heterogeneity | None,
    parameters: Parameters,
) -> Direction:
    """Chooses the word by what is known of the noise."""
    noisy = logit or weighted
    if noisy is None or curve.count == 1:
        span = curve.span
        return direction_without_noise(curve.count, test, line, span, parameters)
    change = noisy.fitted_change or 0.0
    return direction_with_noise(noisy.p, change, heterogeneity.p if heterogeneity else None, parameters)
