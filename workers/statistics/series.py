"""Everything about one series, and about all series of a grid along one axis.

What a series says by itself is computed first; the series of an axis are then judged together, because every word
counts the looks that were taken: q for trends and for heterogeneity, Holm for steps and onsets.

One word for where a series goes, from its trend test, the interval of its change, and what it could have shown. The
trend is judged by q, the false-discovery rate among the series of the grid along the axis. It is not gated on the test
of heterogeneity: a trend can be certain where the omnibus test, which spends its power on m - 1 directions, sees
nothing. `flat` is shown, not assumed: the whole interval of the change lies within the margin of equivalence
(Schuirmann 1987, Journal of Pharmacokinetics and Biopharmaceutics 15, 657-680; Berger 1982, Technometrics 24, 295-300).
What is neither shown to move nor shown to be flat is `inconclusive`.

What is left at the end of a series of its first value: a ratio with its interval. MOVER-R, from the intervals of both
cells by themselves (Donner and Zou 2012, Statistical Methods in Medical Research 21, 347-359; Newcombe 2016,
Statistical Methods in Medical Research 25, 1774-1778): Wilson's (1927) of a proportion, else so many errors to either
side. With normal errors it is Fieller's.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from registry.grids.grid import Direction as Better
from registry.results.courses import (
    Direction,
    LargestSteps,
    Monotone,
    Onset,
    Plateau,
    Retained,
    Series,
    SeriesShape,
    Split,
    Summary,
    Threshold,
)
from registry.results.parameters import Parameters
from registry.results.terms import Interval
from registry.results.trend_tests import FittedChange, MannKendall
from workers.statistics.changes import (
    Listed,
    holm_of_family,
    judged,
    largest,
    listed,
    onsets,
    sharp_reason,
    splits,
    steps_of,
)
from workers.statistics.curves import Curves, RowNoise, alike
from workers.statistics.judging import adjusted
from workers.statistics.proportions import wilson
from workers.statistics.shape import monotones, plateaus, shapes
from workers.statistics.table import MOST_POINTS, Curve, Table, place_of
from workers.statistics.terms import FloatArray, reach_of
from workers.statistics.thresholds import thresholds
from workers.statistics.trend import Trend, trends_of

MOST_SERIES = 2_000
"""Series analysed of one grid; what lies beyond, in row-major order of each axis, is only counted."""


@dataclass(frozen=True)
class Asked:
    """The series of one grid along one axis, and what is asked of them: a family that is judged together."""

    curves: Sequence[Curve]
    parameters: Parameters
    better: Better | None
    whole: float | None


@dataclass(frozen=True)
class _Alone:
    """Results of a series by itself."""

    trend: Trend
    p: FloatArray | None
    steps: Listed
    onset: Onset | None
    rest: _Rest


@dataclass(frozen=True)
class _Rest:
    """The parts of an answer that no other series changes."""

    summary: Summary
    shape: SeriesShape
    thresholds: tuple[Threshold, ...]
    plateau: Plateau | None
    monotone: Monotone
    retained: Retained | None
    split: Split | None


def curves_of(table: Table) -> tuple[list[list[Curve]], int]:
    """The series of a grid axis by axis, and how many were left out; a nominal axis has none.

    What one axis leaves of the limits falls to the next, and each gets at least its even share.
    """
    found: list[list[Curve]] = []
    places = [place for place, axis in enumerate(table.axes) if axis.ordered]
    points, series, left_out = MOST_POINTS, MOST_SERIES, 0
    for number, place in enumerate(places):
        axes_left = len(places) - number
        along: list[Curve] = []
        most, room = series // axes_left, points // axes_left
        for curve in table.curves(place):
            room -= curve.count
            if len(along) == most or room < 0:
                break
            points -= curve.count
            along.append(curve)
        series -= len(along)
        # Counted from the mask: the curves beyond the limit are never built.
        left_out += int(np.count_nonzero(table.present.any(axis=place))) - len(along)
        found.append(along)
    return found, left_out


def families(asked: Sequence[Asked]) -> list[tuple[Series, ...]]:
    """The series of each family, judged together. Series that are asked the same are computed together, whichever grid
    they are of."""
    groups = [group for members in _asked_alike(asked) for group in _groups(asked, members)]
    alone: list[dict[int, _Alone]] = [{} for _ in asked]
    for group in groups:
        for (family, place), part in zip(group.members, _alone(group.curves, group.asked), strict=True):
            alone[family][place] = part
    judgements = [
        _judgements([parts[i] for i in range(len(parts))], one) for one, parts in zip(asked, alone, strict=True)
    ]
    found: list[dict[int, Series]] = [{} for _ in asked]
    for group in groups:
        given = [judgements[family][place] for family, place in group.members]
        most = largest(group.curves, [one.p_holm for one in given], group.asked.parameters.alpha)
        for (family, place), judgement, steps in zip(group.members, given, most, strict=True):
            curve = asked[family].curves[place]
            found[family][place] = _series(curve, alone[family][place], judgement, steps, group.asked.parameters)
    return [tuple(parts[i] for i in range(len(parts))) for parts in found]


@dataclass(frozen=True)
class _Group:
    """Series that are computed together, with their family and their place in it."""

    members: list[tuple[int, int]]
    curves: Curves
    asked: Asked


def _groups(asked: Sequence[Asked], members: list[tuple[int, int]]) -> Iterator[_Group]:
    """The series of some families that are asked the same, by their length and noise."""
    curves = [asked[family].curves[place] for family, place in members]
    for positions in alike(curves):
        together = Curves.of([curves[i] for i in positions])
        yield _Group([members[i] for i in positions], together, asked[members[0][0]])


def _asked_alike(asked: Sequence[Asked]) -> Iterable[list[tuple[int, int]]]:
    """The series of all families, as pairs of a family and a place in it, by what is asked of them."""
    groups: dict[tuple[object, ...], list[tuple[int, int]]] = {}
    for family, one in enumerate(asked):
        for place in range(len(one.curves)):
            groups.setdefault((one.parameters, one.better, one.whole), []).append((family, place))
    return groups.values()


def _alone(curves: Curves, asked: Asked) -> list[_Alone]:
    parameters, alpha = asked.parameters, asked.parameters.alpha
    steps = steps_of(curves, 1 - alpha)
    flats: Sequence[Plateau | None] = [None] * len(curves)
    if parameters.equivalence is not None:
        flats = plateaus(curves, parameters.equivalence)
    rest = zip(
        summaries(curves, asked.whole, 1 - alpha),
        shapes(curves),
        thresholds(curves, parameters.thresholds, asked.better, alpha),
        flats,
        monotones(curves, asked.better),
        retained(curves, 1 - alpha),
        splits(curves, parameters.split, 1 - alpha),
        strict=True,
    )
    parts = zip(
        trends_of(curves, alpha),
        [steps.p_of(row) for row in range(len(curves))],
        listed(curves, steps, alpha),
        onsets(curves, parameters, asked.better),
        (_Rest(*row) for row in rest),
        strict=True,
    )
    return [_Alone(*row) for row in parts]


@dataclass(frozen=True)
class _Judgement:
    """Judgement of a series among the others of its family."""

    q: float | None
    heterogeneity_q: float | None
    p_holm: FloatArray | None
    onset: Onset | None


def _judgements(alone: Sequence[_Alone], asked: Asked) -> list[_Judgement]:
    """The series of one family, adjusted over each other."""
    trends = [one.trend for one in alone]
    columns = zip(
        adjusted([trend.p for trend in trends], "bh"),
        adjusted([trend.heterogeneity.p if trend.heterogeneity else None for trend in trends], "bh"),
        holm_of_family([one.p for one in alone]),
        judged([one.onset for one in alone], asked.parameters.alpha),
        strict=True,
    )
    return [_Judgement(*row) for row in columns]


def _series(curve: Curve, alone: _Alone, judgement: _Judgement, steps: LargestSteps, parameters: Parameters) -> Series:
    trend, rest, places, single = alone.trend, alone.rest, curve.places, curve.count == 1
    line = trend.line
    return Series(
        along=curve.axis.name,
        at={axis.name: place_of(axis, position) for axis, position in curve.at},
        x_scale=curve.x_scale,
        status="insufficient" if single else "ok",
        noise=curve.noise_kind,
        count=curve.count,
        from_=places[0],
        to=places[-1],
        first=rest.summary.first,
        last=rest.summary.last,
        summary=rest.summary,
        slope=line.slope,
        slope_intercept=line.intercept,
        slope_interval=line.interval,
        slope_interval_reason=line.reason,
        slope_points_used=line.points_used,
        ols=trend.ols,
        mann_kendall=trend.mann_kendall,
        logit=trend.logit,
        weighted=trend.weighted,
        heterogeneity=trend.heterogeneity and replace(trend.heterogeneity, q=judgement.heterogeneity_q),
        fitted_change=trend.change,
        detectable=trend.detectable,
        direction=direction_of(curve, trend, judgement.q, judgement.heterogeneity_q, parameters),
        trend_p=trend.p,
        q=judgement.q,
        changes=alone.steps.changes(judgement.p_holm, parameters),
        changes_left_out=alone.steps.left_out,
        sharp_reason=sharp_reason(curve.noise_kind, parameters),
        largest=steps,
        onset=judgement.onset,
        shape=rest.shape,
        thresholds=rest.thresholds,
        plateau=rest.plateau,
        monotone=rest.monotone,
        reason="a single cell has no course" if single else None,
        retained=rest.retained,
        split=rest.split,
    )


def direction_of(
    curve: Curve, trend: Trend, q: float | None, heterogeneity_q: float | None, parameters: Parameters
) -> Direction:
    """Chooses the word by what is known of the noise."""
    if curve.noise_kind == "unknown" or curve.count == 1:
        return direction_without_noise(curve.count, trend.mann_kendall, q, trend.change, parameters)
    return direction_with_noise(q, trend.change, heterogeneity_q, parameters)


def direction_with_noise(
    q: float | None, change: FittedChange | None, heterogeneity_q: float | None, parameters: Parameters
) -> Direction:
    """The word where the noise of each of two or more cells is known."""
    if q is not None and q < parameters.alpha and change is not None and change.value != 0:
        return trend_word(change.value, parameters)
    if heterogeneity_q is not None and heterogeneity_q < parameters.alpha:
        return "varies_without_trend"
    return "flat" if is_flat(change, parameters) else "inconclusive"


def direction_without_noise(
    count: int, test: MannKendall, q: float | None, change: FittedChange | None, parameters: Parameters
) -> Direction:
    """The word by the exact trend test, or why there is none."""
    if count < 3:
        return "single_point" if count == 1 else "two_points"
    if test.status == "undefined":
        return "constant"
    if test.status == "insufficient" or change is None:
        return "insufficient_points"
    if q is not None and q < parameters.alpha:
        return trend_word(change.value or float(test.s), parameters)
    return "flat" if is_flat(change, parameters) else "inconclusive"


def is_flat(change: FittedChange | None, parameters: Parameters) -> bool:
    """Return whether the whole interval of a change is negligible."""
    margin = parameters.equivalence
    if margin is None or change is None or change.interval is None:
        return False
    return -margin <= change.interval.low <= change.interval.high <= margin


def trend_word(change: float, parameters: Parameters) -> Direction:
    """Rising or falling; `slightly` where the change is below the equivalence margin."""
    slight = parameters.equivalence is not None and abs(change) < parameters.equivalence
    if change > 0:
        return "slightly_increasing" if slight else "increasing"
    return "slightly_decreasing" if slight else "decreasing"


def summaries(curves: Curves, whole: float | None, level: float = 0.95) -> list[Summary]:
    """The summary of each series with increasing x; the interval of a mean of proportions stays within 0 and the
    whole."""
    y, count, several = curves.y, curves.count, curves.count > 1
    squares = np.sum((y - curves.mean[:, None]) ** 2, axis=1)
    area = np.sum((curves.x[:, 1:] - curves.x[:, :-1]) * (y[:, 1:] + y[:, :-1]), axis=1) / 2
    columns = (
        curves.mean,
        np.sqrt(squares / (count - 1)) if several else None,
        y.min(axis=1),
        y.max(axis=1),
        y[:, 0],
        y[:, -1],
        y[:, -1] - y[:, 0],
        area / curves.span if several else None,
    )
    lists = [[None] * len(y) if column is None else column.tolist() for column in columns]
    rows = zip(*lists, mean_intervals(curves, squares, whole, level), strict=True)
    return [Summary(count, *row) for row in rows]


def mean_intervals(curves: Curves, squares: FloatArray, whole: float | None, level: float) -> list[Interval | None]:
    """The interval of the mean of m cells; `None` for a single cell without noise."""
    count, noise = curves.count, curves.noise
    if noise is None and count < 2:
        return [None] * len(curves)
    if noise is None:
        reach = reach_of(level, count - 1.0) * np.sqrt(squares / (count - 1) / count)
    else:
        deviates = np.array([reach_of(level, noise.df_of(row)) for row in range(len(curves))])
        reach = deviates * np.sqrt(np.sum(noise.error**2, axis=1)) / count
    low, high = curves.mean - reach, curves.mean + reach
    if whole is not None:
        low, high = np.maximum(low, 0.0), np.minimum(high, whole)
    return [Interval(level, *ends) for ends in zip(low.tolist(), high.tolist(), strict=True)]


def retained(curves: Curves, level: float) -> list[Retained | None]:
    """The last value of each series over its first one; `None` for a single cell, and where any value is negative or
    the first is 0: a share needs a scale that begins at 0."""
    first, last = curves.y[:, 0], curves.y[:, -1]
    defined = (first > 0) & np.all(curves.y >= 0, axis=1) & (curves.count > 1)
    # Ratios of numbers of very different sizes have no double: such a series has none.
    with np.errstate(all="ignore"):
        share = np.divide(last, first, out=np.zeros(len(curves)), where=defined)
        known = [None] * len(curves) if curves.noise is None else _intervals(curves, curves.noise, level)
    rows = zip((defined & np.isfinite(share)).tolist(), share.tolist(), known, strict=True)
    return [Retained(value, interval) if there else None for there, value, interval in rows]


def _intervals(curves: Curves, noise: RowNoise, level: float) -> list[Interval | None]:
    """The interval of each ratio; `None` where the first value may be 0."""
    (first, low1, high1), (last, low2, high2) = (_end(curves, noise, place, level) for place in (0, -1))
    # In the form without a difference in the numerator, the lower end has no pole at 2 first = high1.
    inside = np.maximum((first * last) ** 2 - low2 * (2 * last - low2) * high1 * (2 * first - high1), 0.0)
    under = first * last + np.sqrt(inside)
    outside = np.maximum((first * last) ** 2 - high2 * (2 * last - high2) * low1 * (2 * first - low1), 0.0)
    over = low1 * (2 * first - low1)
    low = np.divide(low2 * (2 * last - low2), under, out=np.zeros(len(curves)), where=under > 0)
    high = np.divide(first * last + np.sqrt(outside), over, out=np.full(len(curves), np.inf), where=over > 0)
    finite = (low1 > 0) & np.isfinite(low) & np.isfinite(high)
    ends = zip(finite.tolist(), np.maximum(low, 0.0).tolist(), high.tolist(), strict=True)
    return [Interval(level, *at) if bounded else None for bounded, *at in ends]


def _end(curves: Curves, noise: RowNoise, place: int, level: float) -> tuple[FloatArray, FloatArray, FloatArray]:
    """The value of one cell of each series, and the ends of its own interval, at least 0."""
    value = curves.y[:, place]
    if noise.binomial is not None:
        k, n = noise.binomial
        low, high = (end * noise.whole for end in wilson(k[:, place], n[:, place], level))
    else:
        reach = np.array([reach_of(level, noise.df_of(row)) for row in range(len(curves))]) * noise.error[:, place]
        low, high = value - reach, value + reach
    return value, np.minimum(np.maximum(low, 0.0), value), np.maximum(high, value)
