"""Types of the course of a metric along an axis: series, steps and breaks. They are a part of `statistics.py`, filled
by `workers/statistics/series.py` and written by `renderings/trends.py` and `changes.py`."""

from dataclasses import dataclass
from typing import Annotated, Literal

from registry.results.terms import (
    At,
    Count,
    Detectable,
    FirstLevel,
    Interval,
    LastLevel,
    Noise,
    P,
    Place,
    Presence,
    PValue,
    Reason,
    Status,
)
from registry.results.trend_tests import (
    EndChange,
    FittedChange,
    Heterogeneity,
    Logit,
    MannKendall,
    OrdinaryLeastSquares,
    Weighted,
)

Side = Literal["below", "above"]
Turn = Literal["falls_then_rises", "rises_then_falls"]


@dataclass(frozen=True, slots=True)
class Crossing:
    """Where the line through the cells of a series crosses a level."""

    at: Annotated[float, "On the axis, interpolated between the neighbouring points; names count as 0, 1, 2."]
    direction: Annotated[Literal["falling", "rising"], "Which way the series goes there."]
    holes: Annotated[
        Count | None, "Levels between the two points without a cell; absent where there are none.", Presence.OMITTED
    ] = None


@dataclass(frozen=True, slots=True)
class CrossingInterval:
    """The levels between which a truth that only falls, or only rises, crosses: what both leave where the slope of the
    cells does not show which."""

    level: Annotated[float, "The probability with which such an interval holds the crossing."]
    low: Annotated[Place | None, "Null where the crossing may lie before the axis."]
    high: Annotated[Place | None, "Null where the crossing may lie beyond the axis."]


@dataclass(frozen=True, slots=True)
class Threshold:
    """How a series meets a level. A cell fails when it lies on `side` of the level, strictly; else it reaches it."""

    level: Annotated[float, "In the metric's unit."]
    side: Annotated[Side, "The failing side: below where higher is better."]
    crossings: Annotated[tuple[Crossing, ...], "Every place where the line through the cells crosses the level."]
    first_failing: Annotated[Place | None, "The first measured level that fails; null where none does."]
    first_reaching: Annotated[Place | None, "The first measured level that passes; null where none does."]
    sustained_from: Annotated[
        Place | None, "The first level from which every later cell passes; null where the last one fails."
    ]
    sustained_until: Annotated[
        Place | None, "The last level before the first that fails; null where the first one fails or none does."
    ]
    recovers: Annotated[bool, "A cell passes after one that failed."]
    interval: Annotated[
        CrossingInterval | None,
        "The levels between which a truth that only falls, or only rises, crosses; from the cells' noise, "
        "simultaneous. Where they do not show which, it spans what both leave. `low` or `high` is null where the "
        "crossing may lie beyond the axis; all of it is null without noise, and where the cells contradict such a "
        "truth.",
    ]


@dataclass(frozen=True, slots=True)
class Plateau:
    """The longest run of neighbouring cells that differ by at most the tolerance; the first of equals."""

    tolerance: Annotated[float, "`params.equivalence`, in the metric's unit."]
    start: FirstLevel
    end: LastLevel
    length: Annotated[Count, "The cells of the run."]
    mean: Annotated[float, "Of the cells of the run, in the metric's unit."]


XScale = Literal["linear", "log10"]
Direction = Literal[
    "increasing",
    "decreasing",
    "slightly_increasing",
    "slightly_decreasing",
    "flat",
    "falls_then_rises",
    "rises_then_falls",
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
        "Of the mean: of these very cells, from their noise where it is known (Wilson's with trials, as in tables), "
        "else Student's, as if the cells were a sample; null without noise for a single cell, and for cells that all "
        "agree.",
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
        Interval | None,
        "Sen's; null below five untied points, where a third of all pairs tie, and where its ends are one number: "
        "`slope_interval_reason` says why.",
    ]
    slope_interval_reason: Annotated[str | None, "Why there is no interval."]
    slope_points_used: Annotated[Count, "Below `count` where a long series was thinned for the slope."]
    ols: OrdinaryLeastSquares
    mann_kendall: MannKendall
    logit: Annotated[Logit | None, "Null without trials."]
    weighted: Annotated[Weighted | None, "Null without standard errors or repeats."]
    heterogeneity: Annotated[Heterogeneity | None, "Null without noise."]
    fitted_change: Annotated[
        FittedChange | None,
        "What changed from one end to the other along a line; null where nothing could be fitted, and where the cells "
        "miss a line by more than their noise (`lack_of_fit_p` below alpha). Its interval agrees with `q` about 0, "
        "which may be its end.",
    ]
    end_change: Annotated[
        EndChange | None,
        "The last cell less the first, whatever lies between; null without noise or a second cell. Its interval holds "
        "0 where neither a trend nor a variation is shown.",
    ]
    detectable: Annotated[
        float | None,
        "The change along a line about the mean that is called a trend with probability 80 %, if the other series of "
        "the axis are flat, in the metric's unit; null without noise, and where no change could be.",
    ]
    direction: Annotated[
        Direction,
        "increasing and decreasing: `q` below alpha; slightly: and the change of the fitted line, as measured, is "
        "below the margin of equivalence. flat: any two cells are shown to differ by less. varies_without_trend: "
        "the cells differ by more than noise, no trend is shown; falls_then_rises, rises_then_falls: and that they "
        "only fall or only rise is refuted, and one such turn accounts for them, which shows no number of turns: some "
        "zigzags in noise pass for one turn. inconclusive: nothing is shown; "
        "`detectable` says what would have been.",
    ]
    trend_p: Annotated[
        P,
        "Of the test for a trend that fits the noise; null where no p could have been significant. With standard "
        "errors or repeats, where the cells miss a line by more than their noise and no monotone course fits, no less "
        "than that of `ols`: levels that scatter are no trend.",
    ]
    q: Annotated[
        PValue | None,
        "`trend_p` after Benjamini and Hochberg over the series of this grid along this axis, and no less than "
        "`opened` has for the axis: the direction follows from it.",
    ]
    changes: Annotated[
        tuple["Change", ...],
        "The steps between neighbouring measured cells that are sharp, and the largest fall and rise. With "
        "`detail=full` all, of a long series the hundred largest.",
    ]
    changes_left_out: Annotated[Count, "The steps that `changes` does not list."]
    sharp_reason: Annotated["SharpReason | None", "Why `sharp` is null in every change of this series."]
    largest: Annotated["LargestSteps", "The largest fall and the largest rise, whatever noise says of them."]
    onset: Annotated[
        "Onset | None",
        "Where a lasting decline begins; null without noise, below three cells, and where neither end of the metric is "
        "better.",
    ]
    thresholds: Annotated[
        tuple[Threshold, ...], "One for each level of `params.thresholds`: there are none unless asked for."
    ]
    plateau: Annotated[Plateau | None, "Null without a margin of equivalence."]
    reason: Reason = None
    retained: Annotated[
        Retained | None, "Null for a single cell, where a value is negative, and where the first one is 0."
    ] = None


SharpReason = Literal["noise_unknown", "no_margin"]


@dataclass(frozen=True, slots=True)
class Change:
    """A step between neighbouring measured cells. All but its size are null without noise."""

    from_: FirstLevel
    to: LastLevel
    size: Annotated[float, "The later value less the earlier one, in the metric's unit."]
    sharp: Annotated[
        bool | None,
        "Posted as `params.sharp_change` or more, and shown not to be 0: `p_holm` below alpha. The true step may be "
        "smaller, as far as `interval` reaches. Null where the noise is unknown or no margin is set: size alone makes "
        "no step sharp.",
    ]
    p: P
    p_holm: Annotated[PValue | None, "Holm over all steps of the grid along this axis."]
    interval: Annotated[
        Interval | None,
        "Newcombe's with trials, z or t with errors, Welch's where a series has two repeated cells; null without. Of a "
        "sharp step at level 1 - R alpha / m, where R of the m steps of the grid along this axis are sharp (Benjamini "
        "and Yekutieli 2005).",
    ]
    detectable: Detectable


@dataclass(frozen=True, slots=True)
class LevelSpan:
    """From one level to the next measured one."""

    from_: FirstLevel
    to: LastLevel


@dataclass(frozen=True, slots=True)
class LargestStep:
    """The largest step of one sign, and every place where it happens."""

    size: Annotated[float, "In the metric's unit."]
    at: Annotated[tuple[LevelSpan, ...], "Every step of this size."]
    p_holm: Annotated[
        PValue | None,
        "Holm over all steps of the grid along this axis; of several places the largest. Null without noise.",
    ]
    interval: Annotated[
        Interval | None,
        "At the level that picking the largest asks for (Bonferroni over the steps of the series); of several "
        "places it reaches as far as that of any. Null without noise.",
    ]


@dataclass(frozen=True, slots=True)
class LargestSteps:
    """The largest fall and the largest rise of a series; null where there is none."""

    drop: LargestStep | None
    rise: LargestStep | None


@dataclass(frozen=True, slots=True)
class Onset:
    """Between which levels a lasting decline begins: the first level from which on every cell is worse than the first
    one by more than a margin. With probability `level` it lies beyond `until`, and at `by` at the latest."""

    goes: Annotated[Literal["falls", "rises"], "Which way is worse."]
    margin: Annotated[float, "`params.equivalence` in the metric's unit; 0 where none is set."]
    p: Annotated[
        PValue, "Of the test that one of the last two cells is not worse than the first by more than the margin."
    ]
    q: Annotated[PValue, "Benjamini and Hochberg over the series of this grid along this axis."]
    until: Annotated[
        Place | None,
        "Up to this level every cell is shown to be worse than the first by the margin at most. Null, as `by` and "
        "`level` are, where `q` is not below alpha: no decline is shown.",
    ] = None
    by: Annotated[Place | None, "From this level on every cell is shown to be worse by more than the margin."] = None
    level: Annotated[float | None, "1 - R alpha / S: R of the S series along this axis are shown to decline."] = None
