"""Types of a grid's sensitivity, each axis's share of the variance, and of the odds ratios of comparisons;
`sensitivity.py` and `proportions.py` in `workers/statistics/` fill them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Literal

from registry.results.terms import Count, Interval, LevelName, P, PValue, Reason, Status

AxisTest = Literal["f", "lr_logit"]


@dataclass(frozen=True, slots=True)
class LevelMean:
    """The mean of the cells of a level, as measured and as if the level had a cell everywhere."""

    level: LevelName
    raw_mean: Annotated[float, "Of its measured cells, in the metric's unit."]
    interval: Annotated[
        Interval | None,
        "Of `raw_mean`: from the noise of its cells where it is known, else Student's, as if they were a sample; null "
        "without noise for one cell, and for cells that all agree.",
    ]
    mean: Annotated[
        float | None,
        "Adjusted for the other axes by the additive model; it may leave the metric's bounds (`out_of_bounds`). Null "
        "where the effects of the axes cannot be told apart.",
    ]
    logit_mean: Annotated[
        float | None,
        "Adjusted on the logit scale, so that it stays within the bounds. Null without trials where a value is "
        "at a bound.",
    ]
    out_of_bounds: Annotated[
        bool,
        "Whether `mean` lies outside the metric's bounds, as no mean of the level can: the model extrapolates to cells "
        "that were never measured. `logit_mean` does not.",
    ] = False


@dataclass(frozen=True, slots=True)
class AxisShare:
    """The share of the variance of the values that an axis explains."""

    share: Annotated[float, "Of the variance; all shares and the residual's sum to 1."]
    df: Annotated[int, "Degrees of freedom: its measured levels less one; fewer where cells fall apart into blocks."]
    levels: Annotated[tuple[LevelMean, ...], "The first thousand measured levels."]
    p: Annotated[PValue | None, "Of the test that the levels of this axis do not differ."] = None
    test: Annotated[
        AxisTest | None,
        "f: F against the residual. lr_logit: likelihood ratio on the logit scale, with trials; of rare outcomes the "
        "larger p of it and of the score.",
    ] = None


@dataclass(frozen=True, slots=True)
class Interaction:
    """The share that two axes explain together beyond their own shares, on full grids of three or more axes."""

    axes: Annotated[tuple[str, ...], "The names of the two axes."]
    share: Annotated[float, "Of the variance."]


@dataclass(frozen=True, slots=True)
class LogitInteraction:
    """Whether the axes act together on the logit scale, where a ceiling makes no interaction."""

    chi2: Annotated[float, "Pearson's statistic of the additive fit."]
    df: Annotated[Count, "Its degrees of freedom."]
    over_noise: Annotated[float, "Chi-squared over its degrees of freedom: about 1 where the rest is noise."]
    p: Annotated[
        PValue,
        "Of the test that there is no interaction: by chi2; of rare outcomes the larger of that and of the likelihood "
        "ratio's.",
    ]


@dataclass(frozen=True, slots=True)
class Residual:
    """The share that no axis explains alone, and how many times the known noise that is."""

    share: Annotated[float, "Of the variance."]
    df: Annotated[int, "Degrees of freedom."]
    over_noise: Annotated[
        float | None,
        "Its mean square over the known variance, weighted by unequal errors: about 1 where the rest is noise; null "
        "without noise, or where errors differ on over 600 levels.",
    ]
    p: Annotated[P, "On the metric's own scale."]
    logit: Annotated[
        LogitInteraction | None,
        "Proportions with trials: the same on the logit scale, where a ceiling makes no interaction.",
    ] = None


@dataclass(frozen=True, slots=True)
class Sensitivity:
    """The share of the variance that each axis explains: functional ANOVA on full grids, Shapley's average else."""

    status: Status
    method: Annotated[Literal["functional_anova", "shapley"] | None, "Null where there are no shares."] = None
    axes: Annotated[Mapping[str, AxisShare] | None, "By the name of the axis; null where there are no shares."] = None
    interactions: Annotated[
        tuple[Interaction, ...], "Pairs of axes of a full grid of three or more; of two axes it is the residual."
    ] = ()
    residual: Residual | None = None
    reason: Reason = None


Strata = Annotated[Count, "How many cells."]


@dataclass(frozen=True, slots=True)
class OddsRatio:
    """Mantel and Haenszel's, with Robins, Breslow and Greenland's interval; undefined where it is 0 or infinite."""

    status: Status
    strata: Strata
    value: Annotated[float | None, "The common odds ratio; null where it is 0 or infinite."] = None
    interval: Interval | None = None
    reason: Reason = None


@dataclass(frozen=True, slots=True)
class BreslowDay:
    """Whether the odds ratio is the same in all cells; with Tarone's correction, and without."""

    status: Status
    strata: Strata
    chi2: Annotated[float | None, "With Tarone's correction."] = None
    df: Annotated[int | None, "Degrees of freedom."] = None
    p: Annotated[PValue | None, "The p-value of chi2."] = None
    chi2_uncorrected: Annotated[float | None, "Without the correction."] = None
    p_uncorrected: Annotated[PValue | None, "Its p-value."] = None
    reason: Reason = None
