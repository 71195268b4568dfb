"""Everything about one series, and about all series of a grid along one axis.

What a series says by itself is computed first; the series of an axis are then judged together, because every word
counts the looks that were taken: q for trends and for heterogeneity, Holm for steps and onsets.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from registry.grids.grid import Direction as Better
from registry.results.parameters import Parameters
from registry.results.series import Direction, Series
from registry.results.steps import Onset
from workers.statistics.changes import Steps, holm_of_family, largest, listed, sharp_reason, steps_of
from workers.statistics.direction import direction_with_noise, direction_without_noise
from workers.statistics.monotone import monotone
from workers.statistics.multiplicity import adjusted
from workers.statistics.noise import word_of
from workers.statistics.onset import judged, onset
from workers.statistics.plateau import plateau
from workers.statistics.shape import shape
from workers.statistics.summary import summarise
from workers.statistics.table import Curve, Table, place_of
from workers.statistics.terms import FloatArray
from workers.statistics.thresholds import thresholds
from workers.statistics.trend import Trend, trend_of

MOST_SERIES = 2_000
MOST_POINTS = 100_000
"""Series and points analysed of one grid; what lies beyond, in row-major order of each axis, is only counted."""


@dataclass(frozen=True, slots=True)
class AllSeries:
    """The series of a grid along every ordered axis, and how many were left out."""

    series: tuple[Series, ...]
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
    found: list[Series] = []
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


def along_axis(curves: Sequence[Curve], parameters: Parameters, better: Better | None) -> list[Series]:
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
) -> Series:
    """One series among those of its axis."""
    summary = summarise(curve.x, curve.y, curve.noise, 1 - parameters.alpha, curve.whole)
    changes, left_out = listed(curve, steps, family.steps[i], parameters)
    line, single = trend.line, curve.count == 1
    return Series(
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
