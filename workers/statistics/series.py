"""Everything about one series, and about all series of a grid along one axis.

What a series says by itself is computed first; the series of an axis are then judged together, because every word
counts the looks that were taken: q for trends and for heterogeneity, Holm for steps and onsets.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from registry.grids.grid import Direction as Better
from registry.results.courses import Monotone, Plateau, SeriesShape, Threshold
from registry.results.parameters import Parameters
from registry.results.series import Direction, Retained, Series, Summary
from registry.results.splits import Split
from registry.results.steps import LargestSteps, Onset
from workers.statistics.changes import Listed, holm_of_family, largest, listed, sharp_reason, steps_of
from workers.statistics.curves import Curves, alike
from workers.statistics.direction import direction_with_noise, direction_without_noise
from workers.statistics.monotone import monotones
from workers.statistics.multiplicity import adjusted
from workers.statistics.onset import judged, onsets
from workers.statistics.plateau import plateaus
from workers.statistics.retained import retained
from workers.statistics.shape import shapes
from workers.statistics.splits import splits
from workers.statistics.summary import summaries
from workers.statistics.table import Curve, Table, place_of
from workers.statistics.terms import FloatArray
from workers.statistics.thresholds import thresholds
from workers.statistics.trend import Trend, trends_of

MOST_SERIES = 2_000
MOST_POINTS = 100_000
"""Series and points analysed of one grid; what lies beyond, in row-major order of each axis, is only counted."""


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
    """Results of each of these series by itself."""
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
    """One series among those of its axis."""
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
        heterogeneity=trend.heterogeneity_with(judgement.heterogeneity_q),
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
