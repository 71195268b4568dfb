"""Describe every series of a grid, for `describe.py`; each part has a module, such as `trend.py` and `shape.py`.

What a series says by itself is computed first; the series of an axis are then judged together, because every word
counts the looks that were taken: q for trends, heterogeneity and declines, Holm for steps, and none of these is
less than the p at which the axis opens in the report of its grid (`judging.opened`).

One word for where a series goes, from its trend test, the interval of its change, and what it could have shown. The
trend is judged by q, the false-discovery rate among the series of the grid along the axis. It is not gated on the test
of heterogeneity: a trend can be certain where the omnibus test, which spends its power on m - 1 directions, sees
nothing. `flat` is shown, not assumed: any two cells differ by less than the margin of equivalence (Schuirmann 1987,
Journal of Pharmacokinetics and Biopharmaceutics 15, 657-680; Berger 1982, Technometrics 24, 295-300).
What is neither shown to move nor shown to be flat is `inconclusive`.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

import numpy as np
from scipy.special import stdtrit

from registry.grids.grid import Direction as Better
from registry.results.courses import (
    Direction,
    LargestSteps,
    Onset,
    Plateau,
    Retained,
    Series,
    Summary,
    Threshold,
)
from registry.results.parameters import Parameters
from registry.results.terms import Interval
from registry.results.trend_tests import EndChange, FittedChange
from workers.statistics.changes import (
    Decline,
    Listed,
    Sharp,
    declines,
    holm_of_family,
    largest,
    listed,
    onsets,
    sharp_level,
    sharp_reason,
    sharp_steps,
    steps_of,
)
from workers.statistics.curves import Curves, alike
from workers.statistics.judging import adjusted, opened, simes
from workers.statistics.proportions import shares_and_variances, wilson_limits
from workers.statistics.retained import retained
from workers.statistics.shape import plateaus, turns_of
from workers.statistics.slopes import agreeing
from workers.statistics.table import MOST_POINTS, Curve, Table, place_of
from workers.statistics.terms import ROUNDING, FloatArray, reach_of, within
from workers.statistics.thresholds import thresholds
from workers.statistics.trend import Trend, end_changes, levels_within, reaching_0, trends_of

MOST_SERIES = 2_000
"""Series analysed of one grid; what lies beyond, in row-major order of each axis, is only counted."""
SHARES = (0.75, 0.125, 0.125)
"""Of the errors of an axis: for trends, for other variation, and for what all series say together."""
MOVING = ("creasing", "varies", "_then_")
"""Parts of the words of series whose cells are shown to differ."""
SERIES_WEIGH = 3.0
"""An axis with series, of which more is said, among the axes of a report, against one without."""


@dataclass(frozen=True)
class Asked:
    """The series of one grid along one axis, and what is asked of them: a family that is judged together. `beside` are
    the p-values of what is said of the axis as a whole."""

    curves: Sequence[Curve]
    parameters: Parameters
    better: Better | None
    whole: float | None
    beside: tuple[float | None, ...] = ()


@dataclass(frozen=True)
class Judged:
    """The series of a grid, family by family, the p at which its report opens, and those at which the families do."""

    series: tuple[Series, ...]
    opened: float | None
    families: list[float | None]


@dataclass(frozen=True)
class _Alone:
    """Results of a series by itself. `flat` is whether its cells are shown to be alike."""

    trend: Trend
    flat: bool
    ends: EndChange | None
    p: FloatArray | None
    steps: Listed
    decline: Decline | None
    rest: "_Rest"


@dataclass(frozen=True)
class _Rest:
    """The parts of an answer that no other series changes."""

    summary: Summary
    thresholds: tuple[Threshold, ...]
    plateau: Plateau | None
    retained: Retained | None


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


def reports(asked: Sequence[Sequence[Asked]]) -> list[Judged]:
    """The series of each grid, judged together. Series that are asked the same are computed together, whichever grid
    they are of."""
    every = [family for report in asked for family in report]
    groups = [group for members in _asked_alike(every) for group in _groups(every, members)]
    alone: list[dict[int, _Alone]] = [{} for _ in every]
    for group in groups:
        for (family, place), part in zip(group.members, _alone(group.curves, group.asked), strict=True):
            alone[family][place] = part
    families = [_Family.of([parts[i] for i in range(len(parts))], one) for one, parts in zip(every, alone, strict=True)]
    ends = np.cumsum([0, *map(len, asked)]).tolist()
    gates, judgements = [], []
    for start, end in pairwise(ends):
        mine = families[start:end]
        weights = [0.0 if one.p is None else one.weight for one in mine]
        gates.append(opened([one.p for one in mine], weights))
        for one, least, weight in zip(mine, gates[-1][1], weights, strict=True):
            judgements.append(one.judged(least or 0.0, weight / (math.fsum(weights) or 1.0)))
    found: list[dict[int, Series]] = [{} for _ in every]
    for group in groups:
        given = [judgements[family][place] for family, place in group.members]
        most = largest(group.curves, [one.p_holm for one in given], group.asked.parameters.alpha)
        parameters = group.asked.parameters
        levels = [one.sharp_level for one in given]
        sharp = sharp_steps(group.curves, [one.p_holm for one in given], levels, parameters)
        alone_of = [alone[family][place] for family, place in group.members]
        words = directions(group.curves, alone_of, given, parameters)
        rows = zip(group.curves.rows, alone_of, given, words, most, sharp, strict=True)
        for (family, place), row in zip(group.members, rows, strict=True):
            found[family][place] = _series(parameters, *row)
    return [
        Judged(tuple(parts[i] for parts in found[start:end] for i in range(len(parts))), report, axes)
        for (report, axes), (start, end) in zip(gates, pairwise(ends), strict=True)
    ]


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
        thresholds(curves, parameters.thresholds, asked.better, alpha),
        flats,
        retained(curves, 1 - alpha),
        strict=True,
    )
    parts = zip(
        trends_of(curves, alpha),
        levels_within(curves, parameters.equivalence, alpha),
        end_changes(curves, 1 - alpha),
        [steps.p_of(row) for row in range(len(curves))],
        listed(curves, steps, parameters),
        declines(curves, parameters, asked.better),
        (_Rest(*row) for row in rest),
        strict=True,
    )
    return [_Alone(*row) for row in parts]


@dataclass(frozen=True)
class _Judgement:
    """Judgement of a series among the others of its family; `level` is that of its own trend test."""

    q: float | None
    heterogeneity_q: float | None
    p_holm: FloatArray | None
    onset: Onset | None
    level: float
    sharp_level: float


@dataclass(frozen=True)
class _Family:
    """The series of one axis, adjusted over each other but not yet for what else the report says."""

    alone: Sequence[_Alone]
    asked: Asked
    q: list[float | None]
    heterogeneity_q: list[float | None]
    decline_q: list[float | None]
    p_holm: list[FloatArray | None]

    @classmethod
    def of(cls, alone: Sequence[_Alone], asked: Asked) -> "_Family":
        trends = [one.trend for one in alone]
        return cls(
            alone,
            asked,
            adjusted([trend.p for trend in trends], "bh"),
            adjusted([trend.heterogeneity.p if trend.heterogeneity else None for trend in trends], "bh"),
            adjusted([one.decline.of_any if one.decline else None for one in alone], "bh"),
            holm_of_family([one.p for one in alone]),
        )

    @property
    def weight(self) -> float:
        """The weight of the axis in the report."""
        return SERIES_WEIGH if self.alone else 1.0

    @cached_property
    def p(self) -> float | None:
        """The p that nothing differs along the axis: what is said of the trends of its series, of their other
        variation, and of all of them together, each a third of the family."""
        steps = [float(one.min()) for one in self.p_holm if one is not None]
        trends, *others = (
            min((p for p in ps if p is not None), default=None)
            for ps in (self.q, self.heterogeneity_q, steps, self.decline_q)
        )
        return simes([trends, simes(others), simes(self.asked.beside)], SHARES)

    def judged(self, least: float, share: float) -> list[_Judgement]:
        """The judgement of each series, given the p at which the axis opens and its share of the report's errors. A
        trend among flat series opens its axis alone, and is found at the level that the shares leave it."""
        several = sum(p is not None for p in self.q)
        level = self.asked.parameters.alpha * share * SHARES[0] / max(1, several)
        q, differ, declines = (
            [None if p is None else max(p, least) for p in ps] for ps in (self.q, self.heterogeneity_q, self.decline_q)
        )
        places = onsets([one.decline for one in self.alone], declines, self.asked.parameters.alpha)
        steps = [None if one is None else np.maximum(one, least) for one in self.p_holm]
        sharp = sharp_level([np.array(one.steps.sizes) for one in self.alone], steps, self.asked.parameters)
        return [_Judgement(*row, level, sharp) for row in zip(q, differ, steps, places, strict=True)]


def directions(
    curves: Curves, alone: Sequence[_Alone], given: Sequence[_Judgement], parameters: Parameters
) -> list[Direction]:
    """The word of each series, and its turn where it has one and no trend."""
    rows = zip(curves.rows, alone, given, strict=True)
    words = [
        direction_of(curve, one.trend, judgement.q, judgement.heterogeneity_q, parameters, flat=one.flat)
        for curve, one, judgement in rows
    ]
    varied = [row for row, word in enumerate(words) if word == "varies_without_trend"]
    turns = turns_of(curves, varied, parameters.alpha)
    return [turns.get(row, word) for row, word in enumerate(words)]


def _series(
    parameters: Parameters,
    curve: Curve,
    alone: _Alone,
    given: _Judgement,
    word: Direction,
    steps: LargestSteps,
    sharp: Sharp,
) -> Series:
    trend, line, rest = alone.trend, alone.trend.line, alone.rest
    places, single, alpha = curve.places, curve.count == 1, parameters.alpha
    changes = alone.steps.changes(given.p_holm, sharp)
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
        heterogeneity=trend.heterogeneity and replace(trend.heterogeneity, q=given.heterogeneity_q),
        fitted_change=agreeing(straight_change(trend, curve.whole, alpha), given.q, alpha),
        end_change=alone.ends if any(part in word for part in MOVING) else reaching_0(alone.ends),
        detectable=at_most(curve.whole, trend.detectable(given.level)),
        direction=word,
        trend_p=trend.p,
        q=given.q,
        changes=changes,
        changes_left_out=len(alone.steps.sizes) - len(changes),
        sharp_reason=sharp_reason(curve.noise_kind, parameters),
        largest=steps,
        onset=given.onset,
        thresholds=rest.thresholds,
        plateau=rest.plateau,
        reason="a single cell has no course" if single else None,
        retained=rest.retained,
    )


def straight_change(trend: Trend, whole: float | None, alpha: float) -> FittedChange | None:
    """The change along the line, that of a proportion with an interval that goes no further than its scale; `None`
    where the cells miss the line."""
    change, misses = trend.change, trend.lack_of_fit_p
    if misses is not None and misses < alpha:
        return None
    if change is None or change.interval is None or whole is None:
        return change
    return replace(change, interval=within(change.interval, -whole, whole))


def at_most(whole: float | None, size: float | None) -> float | None:
    """The size; `None` where the scale of a proportion has no room for it."""
    return None if size is None or (whole is not None and size > whole) else size


def direction_of(
    curve: Curve, trend: Trend, q: float | None, heterogeneity_q: float | None, parameters: Parameters, *, flat: bool
) -> Direction:
    """Chooses the word by what is known of the noise."""
    test, change, alpha = trend.mann_kendall, trend.change, parameters.alpha
    if curve.noise_kind == "unknown" or curve.count == 1:
        if curve.count < 3:
            return "single_point" if curve.count == 1 else "two_points"
        if test.status == "undefined":
            return "constant"
        if test.status == "insufficient" or change is None:
            return "insufficient_points"
    if q is not None and q < alpha and change is not None and (size := change.value or float(test.s)):
        return trend_word(size, parameters)
    # Of two cells the trend is all there is to find, and Fisher's test the one that decides it.
    if heterogeneity_q is not None and heterogeneity_q < alpha and curve.count > 2:
        return "varies_without_trend"
    return "flat" if flat else "inconclusive"


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
    """The interval of the mean of m cells; `None` without noise for a single cell, and for cells that all agree."""
    count, noise = curves.count, curves.noise
    if noise is None and count < 2:
        return [None] * len(curves)
    if noise is None:
        reach = reach_of(level, count - 1.0) * np.sqrt(squares / (count - 1) / count)
    else:
        error, df = noise.of_sum(np.full(count, 1 / count))
        reach = error * (reach_of(level) if df is None else stdtrit(df, 0.5 + level / 2))
    low, high = curves.mean - reach, curves.mean + reach
    if noise is not None and noise.binomial is not None:
        k, n = noise.binomial
        share, variance = shares_and_variances(k, n)
        middle, variance = share.mean(axis=1), variance.sum(axis=1) / count**2
        ends = wilson_limits(curves.mean / noise.whole, middle, variance, 1 - level, count > 1)
        low, high = (end * noise.whole for end in ends)
    if whole is not None:
        low, high = np.maximum(low, 0.0), np.minimum(high, whole)
    found = zip(low.tolist(), high.tolist(), (low + ROUNDING * curves.magnitude).tolist(), strict=True)
    return [Interval(level, *ends) if ends[1] > least else None for *ends, least in found]
