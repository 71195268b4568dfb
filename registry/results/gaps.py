"""How far one grid is from another: on some cells, in one cell, at a level of an axis, along a series."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from registry.results.items import CellItems, ItemPairs
from registry.results.series import XScale
from registry.results.terms import At, Count, Detectable, Interval, LevelName, P, Presence, Reason, Status
from registry.results.trend_tests import GridTrend, MannKendall

Better = Literal["contender", "baseline", "tie"]
CellTest = Literal["fisher", "pooled_z", "z", "welch", "mcnemar", "paired_t"]


@dataclass(frozen=True, slots=True)
class GapTest:
    """Whether the mean gap differs from 0 for these very cells. With outcomes of the same items by their differences,
    with trials Mantel–Haenszel with Sato's variance, with standard errors z, else the exact sign-flip test."""

    status: Status
    name: Annotated[str | None, "The test that was used; null: none."] = None
    difference: Annotated[float | None, "The estimate that `interval` and `p` belong to."] = None
    interval: Interval | None = None
    stderr: Annotated[float | None, "Of `difference`; null where the test has none."] = None
    df: Annotated[float | None, "Degrees of freedom of its t law; null where the law is normal or exact."] = None
    p: P = None
    p_holm: Annotated[float | None, "Holm over the levels of the axis; null for all cells together."] = None
    detectable: Detectable = None
    min_attainable_p: Annotated[float | None, "The smallest p that so many cells can give."] = None
    reason: Reason = None


@dataclass(frozen=True, slots=True)
class Contrast:
    """Some cells: who wins more of them, the mean gap and its test; not_comparable without a common cell."""

    status: Status
    n_common: Annotated[Count, "Cells that both grids have."] = 0
    wins: Annotated[int | None, "Cells where the contender is better; null for a metric without a better end."] = None
    ties: Annotated[int | None, "Cells where both are as good."] = None
    losses: Annotated[int | None, "Cells where the baseline is better."] = None
    mean: Annotated[
        float | None, "Contender less baseline, in the metric's unit; every common cell weighs the same."
    ] = None
    median: Annotated[float | None, "The median of the gaps, in the metric's unit."] = None
    test: GapTest | None = None
    reason: Reason = None
    items: Annotated[ItemPairs | None, Presence.OMITTED] = None


@dataclass(frozen=True, slots=True)
class LevelGap(Contrast):
    """The gap at one level of an axis."""

    level: LevelName = ""


@dataclass(frozen=True, slots=True)
class GapMargin:
    """The gap at the levels of one axis."""

    levels: Annotated[tuple[LevelGap, ...], "One for each level that both grids have."]
    left_out: Annotated[Count, "Levels beyond the limit, which are not listed."]


@dataclass(frozen=True, slots=True)
class CellGap:
    """The gap in one cell."""

    at: At
    baseline: Annotated[float, "The baseline's value, in the metric's unit."]
    contender: Annotated[float, "The contender's value, in the metric's unit."]
    gap: Annotated[float, "Contender less baseline, in the metric's unit."]
    better: Annotated[Better | None, "Which is better; null for a metric without a better end."]
    interval: Annotated[
        Interval | None,
        "Newcombe's with trials; z or Welch's t with standard errors; Bonett and Price's or t by items.",
    ]
    p: Annotated[float | None, "The p-value of the cell; null without noise."]
    p_holm: Annotated[float | None, "Holm over all tested cells."]
    test: Annotated[CellTest | None, "The test that was used; null: none."]
    items: Annotated[CellItems | None, "Where the cell was compared item by item.", Presence.OMITTED] = None


@dataclass(frozen=True, slots=True)
class SeriesGap:
    """The gap along one series."""

    at: At
    count: Annotated[Count, "How many cells of the series both have."]
    slope: Annotated[float | None, "Theil-Sen of the gap on the axis values; null below two cells."]
    slope_interval: Annotated[Interval | None, "Null where no ordering of so few points could be significant."]
    mann_kendall: MannKendall


@dataclass(frozen=True, slots=True)
class GapTrend:
    """How the gap changes along an axis with an order, over all series of two common cells or more."""

    along: Annotated[str, "The axis."]
    x_scale: Annotated[XScale, "log10: slopes are per factor of ten of the axis."]
    status: Status
    series_count: Annotated[Count, "How many series there are."]
    slope: Annotated[float | None, "The median of all slopes within series (Hirsch, Slack and Smith)."] = None
    slope_interval: Annotated[
        Interval | None,
        "Sen's, with the variances of all series (Gilbert); null where no ordering could be significant.",
    ] = None
    slope_series_used: Annotated[Count, "How many of them the slope comes from."] = 0
    mann_kendall: GridTrend | None = None
    series: Annotated[tuple[SeriesGap, ...], "The gap along each series."] = ()
    series_left_out: Annotated[Count, "Series beyond the limits, which are not listed."] = 0
    reason: Reason = None
