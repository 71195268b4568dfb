"""Everything about one series, and about all series of a grid along one axis.

What a series says by itself is computed first; the series of an axis are then judged together, because every word
counts the looks that were taken: q for trends and for heterogeneity, Holm for steps and onsets.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from registry.grids.grid import Direction as Better
from workers.statistics.changes import (
    Change,
    Largest,
    SharpReason,
    Steps,
    holm_of_family,
    largest,
    listed,
    sharp_reason,
    steps_of,
)
from workers.statistics.direction import Direction, direction_with_noise, direction_without_noise
from workers.statistics.fitted_change import FittedChange
from workers.statistics.kendall import MannKendall
from workers.statistics.logit import Logit
from workers.statistics.monotone import Monotone, monotone
from workers.statistics.multiplicity import adjusted
from workers.statistics.noise import Known, word_of
from workers.statistics.onset import Onset, judged, onset
from workers.statistics.plateau import Plateau, plateau
from workers.statistics.proportions import Heterogeneity
from workers.statistics.shape import Shape, shape
from workers.statistics.slopes import LeastSquares
from workers.statistics.summary import Summary, summarise
from workers.statistics.table import Curve, Place, Table, XScale, place_of
from workers.statistics.terms import FloatArray, Interval, Parameters, Status
from workers.statistics.thresholds import Threshold, thresholds
from workers.statistics.trend import Trend, trend_of
from workers.statistics.weighted import WeightedSlope

MOST_SERIES = 2_000
MOST_POINTS = 100_000
"""Series and points analysed of one grid; what lies beyond, in row-major order of each axis, is only counted."""


@dataclass(frozen=True, slots=True)
class SeriesStatistics:
    """The statistics of one series; `slope` in the metric's unit per unit of the abscissa (see `x_scale`).

    `noise` says what its tests rest on. `logit` exists with trials, `weighted` with standard errors or repeats,
    `heterogeneity` with any. `fitted_change` goes from the first to the last abscissa, and `detectable` is the
    smallest such change that the series could have shown. `trend_p` is the p of the trend and `q` its
    Benjamini-Hochberg value among the series of the grid along the axis: the direction follows from `q`.
    `slope_points_used` is below `count` when a long series was thinned for the slope.
    """

    along: str
    at: dict[str, Place]
    x_scale: XScale
    status: Status
    noise: Known
    count: int
    from_: Place
    to: Place
    first: float
    last: float
    summary: Summary
    slope: float | None
    slope_intercept: float | None
    slope_interval: Interval | None
    slope_interval_reason: str | None
    slope_points_used: int
    ols: LeastSquares
    mann_kendall: MannKendall
    logit: Logit | None
    weighted: WeightedSlope | None
    heterogeneity: Heterogeneity | None
    fitted_change: FittedChange | None
    detectable: float | None
    direction: Direction
    trend_p: float | None
    q: float | None
    changes: tuple[Change, ...]
    changes_left_out: int
    sharp_reason: SharpReason | None
    largest: Largest
    onset: Onset | None
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


@dataclass(frozen=True)
class _Family:
    """What the series of an axis need of each other: adjusted p-values, in the order of the series."""

    q: Sequence[float | None]
    heterogeneity_q: Sequence[float | None]
    steps: Sequence[FloatArray | None]
    onsets: Sequence[Onset | None]


def all_series(table: Table, parameters: Parameters) -> AllSeries:
    """Analyses the series axis by axis; a nominal axis has none.

    What one axis leaves of the limits falls to the next, and each gets at least its even share.
    """
    found: list[SeriesStatistics] = []
    places = [place for place, axis in enumerate(table.axes) if axis.ordered]
    points, left_out = MOST_POINTS, 0
    for number, place in enumerate(places):
        axes_left = len(places) - number
        along: list[Curve] = []
        most, room = (MOST_SERIES - len(found)) // axes_left, points // axes_left
        for curve in table.curves(place):
            room -= curve.count
            if len(along) == most or room < 0:
                break
            points -= curve.count
            along.append(curve)
        left_out += int(np.count_nonzero(table.present.any(axis=place))) - len(along)
        found.extend(along_axis(along, parameters, table.metric.direction))
    return AllSeries(tuple(found), left_out)


def along_axis(curves: Sequence[Curve], parameters: Parameters, better: Better | None) -> list[SeriesStatistics]:
    """The series of one axis, judged together."""
    trends = [trend_of(curve, parameters.alpha) for curve in curves]
    steps = [steps_of(curve, 1 - parameters.alpha) for curve in curves]
    family = _Family(
        adjusted([trend.p for trend in trends], "bh"),
        adjusted([trend.heterogeneity.p if trend.heterogeneity else None for trend in trends], "bh"),
        holm_of_family([one.p for one in steps]),
        judged([onset(curve, parameters, better) for curve in curves], parameters.alpha),
    )
    return [one_series(curve, trends[i], steps[i], family, i, parameters, better) for i, curve in enumerate(curves)]


def one_series(
    curve: Curve, trend: Trend, steps: Steps, family: _Family, i: int, parameters: Parameters, better: Better | None
) -> SeriesStatistics:
    """One series among those of its axis."""
    summary = summarise(curve.x, curve.y, curve.noise, 1 - parameters.alpha, curve.whole)
    changes, left_out = listed(curve, steps, family.steps[i], parameters)
    line, single = trend.line, curve.count == 1
    return SeriesStatistics(
        along=curve.axis.name,
        at={axis.name: place_of(axis, position) for axis, position in curve.at},
        x_scale=curve.x_scale,
        status="insufficient" if single else "ok",
        noise=word_of(curve.noise),
        count=curve.count,
        from_=curve.place(0),
        to=curve.place(curve.count - 1),
        first=summary.first,
        last=summary.last,
        summary=summary,
        slope=line.slope,
        slope_intercept=line.intercept,
        slope_interval=line.interval,
        slope_interval_reason=line.reason,
        slope_points_used=line.points_used,
        ols=trend.ols,
        mann_kendall=trend.mann_kendall,
        logit=trend.logit,
        weighted=trend.weighted,
        heterogeneity=trend.heterogeneity_with(family.heterogeneity_q[i]),
        fitted_change=trend.change,
        detectable=trend.detectable,
        direction=direction_of(curve, trend, family.q[i], family.heterogeneity_q[i], parameters),
        trend_p=trend.p,
        q=family.q[i],
        changes=changes,
        changes_left_out=left_out,
        sharp_reason=sharp_reason(curve, parameters),
        largest=largest(curve, family.steps[i], parameters.alpha),
        onset=family.onsets[i],
        shape=shape(curve),
        thresholds=thresholds(curve, parameters.thresholds, better, parameters.alpha),
        plateau=None if parameters.equivalence is None else plateau(curve, parameters.equivalence),
        monotone=monotone(curve, better),
        reason="a single cell has no course" if single else None,
    )


def direction_of(
    curve: Curve, trend: Trend, q: float | None, heterogeneity_q: float | None, parameters: Parameters
) -> Direction:
    """Chooses the word by what is known of the noise."""
    if curve.noise is None or curve.count == 1:
        return direction_without_noise(curve.count, trend.mann_kendall, q, trend.change, parameters)
    return direction_with_noise(q, trend.change, heterogeneity_q, parameters)
