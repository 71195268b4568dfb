"""Statistics along one axis of a grid."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from registry.grids.grid import Direction as Better
from registry.results.courses import Monotone, Plateau, SeriesShape, Threshold
from registry.results.splits import Split
from registry.results.steps import Change, LargestSteps, Onset, SharpReason
from registry.results.terms import At, Count, Detectable, Interval, Noise, P, Place, Presence, Reason, Status
from registry.results.trend_tests import (
    FittedChange,
    Heterogeneity,
    Logit,
    MannKendall,
    OrdinaryLeastSquares,
    Weighted,
)

XScale = Literal["linear", "log10"]
Direction = Literal[
    "increasing",
    "decreasing",
    "slightly_increasing",
    "slightly_decreasing",
    "flat",
    "varies_without_trend",
    "inconclusive",
    "constant",
    "single_point",
    "two_points",
    "insufficient_points",
]


@dataclass(frozen=True, slots=True)
class Summary:
    """The moments, ends and area of the values of a series, in the metric's unit."""

    count: Annotated[Count, "The measured cells."]
    mean: Annotated[float, "Of the measured values."]
    sd: Annotated[float | None, "With ddof 1; null for a single cell."]
    min: Annotated[float, "The lowest value."]
    max: Annotated[float, "The highest value."]
    first: Annotated[float, "The value at the first measured level."]
    last: Annotated[float, "The value at the last measured level."]
    net_change: Annotated[float, "The last value less the first."]
    normalised_area: Annotated[
        float | None, "The area under the curve divided by the length of the axis; null for a single cell."
    ]
    mean_interval: Annotated[
        Interval | None,
        "Of the mean: of these very cells, from their noise where it is known, else Student's, as if the cells were a "
        "sample; null for a single cell without noise.",
    ]


@dataclass(frozen=True, slots=True)
class Retained:
    """What is left of the first value at the end of a series."""

    value: Annotated[float, "The last value over the first."]
    interval: Annotated[Interval | None, "From the noise of both; null without, or where the first may be 0."] = None


@dataclass(frozen=True, slots=True)
class Series:
    """The statistics of one series: the cells along one axis at fixed levels of the others."""

    along: Annotated[str, "The name of the axis."]
    at: At
    x_scale: Annotated[XScale, "log10: slopes are per factor of ten of the axis."]
    status: Status
    noise: Noise
    count: Annotated[Count, "The measured cells."]
    from_: Annotated[Place, "The first measured level."]
    to: Annotated[Place, "The last measured level."]
    first: Annotated[float, "The value at the first measured level."]
    last: Annotated[float, "The value at the last measured level."]
    summary: Summary
    slope: Annotated[
        float | None,
        "Theil–Sen on the axis values: metric units for one unit of the axis (see `x_scale`); null for a single cell.",
    ]
    slope_intercept: Annotated[float | None, "Of the same line, where the axis value is 0; null for a single cell."]
    slope_interval: Annotated[
        Interval | None, "Sen's; null below five untied points, where it could not hold its level."
    ]
    slope_interval_reason: Annotated[str | None, "Why there is no interval."]
    slope_points_used: Annotated[Count, "Below `count` where a long series was thinned for the slope."]
    ols: OrdinaryLeastSquares
    mann_kendall: MannKendall
    logit: Annotated[Logit | None, "Null without trials."]
    weighted: Annotated[Weighted | None, "Null without standard errors or repeats."]
    heterogeneity: Annotated[Heterogeneity | None, "Null without noise."]
    fitted_change: Annotated[
        FittedChange | None, "What changed from one end to the other; null where nothing could be fitted."
    ]
    detectable: Detectable
    direction: Annotated[
        Direction,
        "increasing and decreasing: `q` below alpha; slightly: and the fitted change is smaller than the margin of "
        "equivalence. flat: the interval of `fitted_change` lies within the margin. varies_without_trend: the "
        "cells differ by more than noise, no trend is shown. inconclusive: nothing is shown; `detectable` says "
        "what would have been.",
    ]
    trend_p: Annotated[P, "Of the test for a trend that fits the noise; null where no p could have been significant."]
    q: Annotated[
        float | None,
        "`trend_p` after Benjamini and Hochberg over the series of this grid along this axis: the direction "
        "follows from it.",
    ]
    changes: Annotated[
        tuple[Change, ...], "The steps between neighbouring measured cells; the hundred largest of a long series."
    ]
    changes_left_out: Annotated[Count, "The steps that `changes` does not list."]
    sharp_reason: Annotated[SharpReason | None, "Why `sharp` is null in every change of this series."]
    largest: Annotated[LargestSteps, "The largest fall and the largest rise, whatever noise says of them."]
    onset: Annotated[Onset | None, "Where the decline begins; null without noise."]
    shape: SeriesShape
    thresholds: Annotated[tuple[Threshold, ...], "One for each level of `params.thresholds`."]
    plateau: Annotated[Plateau | None, "Null without a margin of equivalence."]
    monotone: Monotone
    reason: Reason = None
    retained: Annotated[
        Retained | None, "Null for a single cell, where a value is negative, and where the first one is 0."
    ] = None
    split: Annotated[Split | None, "Only where `split` was asked for, and both parts have cells.", Presence.OMITTED] = (
        None
    )


def losing(series: Sequence[Mapping[str, Any]], better: Better | None, lost: float) -> list[Mapping[str, Any]]:
    """Documents of the series whose last value is worse than the first by more than `lost`; none without a better
    end."""
    sign = {"higher": 1.0, "lower": -1.0, None: 0.0}[better]
    # Of decimals a difference has rounding errors: 99.7 less 89.7 is no more than 10.
    return [one for one in series if round(sign * (one["first"] - one["last"]), 9) > lost] if sign else []
