"""Types of the tests of one series, and of all series of a grid along an axis together: filled by `workers/statistics/`
(`trend.py`, `common_direction.py`), written by `renderings/trends.py`."""

from dataclasses import dataclass
from typing import Annotated, Literal

from registry.results.terms import Count, Interval, P, PValue, Reason, Status

ExactOrNormal = Literal["exact", "normal"]
ChangeMethod = Literal["logit", "weighted", "repeats", "theil_sen", "least_squares"]
EndMethod = Literal["newcombe", "z", "welch"]
LogitTest = Literal["likelihood_ratio_f", "likelihood_ratio_chi2", "fisher", "monotone_chi2", "firth_likelihood_ratio"]
WeightedTest = Literal["z", "t_satterthwaite"]
HeterogeneityTest = Literal["pearson", "pearson_and_likelihood_ratio", "cochran_q", "brown_forsythe"]


@dataclass(frozen=True, slots=True)
class OrdinaryLeastSquares:
    """An ordinary least-squares line on the axis values, with Student's t; with two points p is null, not 0."""

    status: Status
    slope: Annotated[float | None, "In the metric's unit for one unit of the axis; null for a single point."] = None
    intercept: Annotated[float | None, "In the metric's unit, where the axis value is 0."] = None
    stderr: Annotated[float | None, "The standard error of the slope; null with fewer than three points."] = None
    r2: Annotated[float | None, "The share of the variance that the line explains, 0 to 1."] = None
    p: P = None
    interval: Annotated[Interval | None, "Of the slope."] = None
    reason: Reason = None


@dataclass(frozen=True, slots=True)
class MannKendall:
    """Mann and Kendall's test for a monotone trend: two-sided and exact with ties up to 60 points, else the
    tie-corrected normal tail. insufficient: no ordering of so many values could have been significant."""

    status: Status
    s: Annotated[int, "Kendall's S: rising pairs of values less falling ones."]
    tau: Annotated[float | None, "Kendall's tau-b, -1 to 1; null where no pair of values differs."]
    p: P
    min_attainable_p: Annotated[
        PValue | None, "The smallest p that any ordering of these values could have had; null for a single point."
    ]
    method: Annotated[ExactOrNormal, "How p was computed: by the exact null law, or by the normal tail."]
    reason: Reason = None


@dataclass(frozen=True, slots=True)
class FittedChange:
    """The change from the first to the last level of a series along the line of a model: not that of the end cells,
    which is `end_change`."""

    value: Annotated[float, "From the first to the last level of the series, in the metric's unit."]
    interval: Annotated[Interval | None, "Null where it cannot be given; `reason` says why."]
    method: Annotated[
        ChangeMethod,
        "logit: trials. weighted: standard errors. repeats: repeats, each cell with the variance of its own. "
        "theil_sen: noise unknown. least_squares: many pairs of values tie (ordinal or two-valued scores).",
    ]
    reason: Reason = None


@dataclass(frozen=True, slots=True)
class EndChange:
    """The last cell of a series less its first one, by the noise of these two cells alone."""

    value: Annotated[float, "In the metric's unit."]
    interval: Annotated[
        Interval | None,
        "It reaches to 0 where the tests of the series found no change. Null where the repeats of both cells agree, "
        "which says nothing of their noise.",
    ]
    method: Annotated[EndMethod, "newcombe: trials. z: standard errors. welch: repeats."]


@dataclass(frozen=True, slots=True)
class Logit:
    """Trials known: binomial regression on the axis values."""

    status: Status
    test: Annotated[
        LogitTest | None,
        "likelihood_ratio_f: over max(1, dispersion), F(1, m - 2). fisher: two cells, and likelihood_ratio_chi2 with a "
        "design effect. monotone_chi2: a monotone course fits, the larger p of homogeneity and of the likelihood ratio "
        "without dispersion. firth_likelihood_ratio: the successes are separated, so the ordinary fit is infinite; no "
        "less than the p of homogeneity.",
    ] = None
    p: P = None
    slope: Annotated[float | None, "In log-odds for one unit of the axis."] = None
    intercept: Annotated[float | None, "In log-odds, where the axis value is 0."] = None
    stderr: Annotated[float | None, "The standard error of the slope."] = None
    effect: Annotated[float | None, "The average marginal effect, in points for one unit of the axis."] = None
    lr: Annotated[float | None, "The likelihood-ratio statistic of the slope."] = None
    deviance: Annotated[float | None, "Twice the log-likelihood that the line leaves to the cells' own shares."] = None
    dispersion: Annotated[
        float | None, "Pearson's; above 1 the cells vary by more than binomial noise about the line."
    ] = None
    lack_of_fit_p: Annotated[
        PValue | None, "Whether the line misses the cells by more than their noise; null below 3."
    ] = None
    reason: Reason = None


@dataclass(frozen=True, slots=True)
class Weighted:
    """Standard errors or repeats known: inverse-variance weighted slope."""

    status: Status
    test: Annotated[
        WeightedTest | None,
        "t_satterthwaite: each cell has the variance of its own repeats, and the law is t with `df`.",
    ] = None
    slope: Annotated[float | None, "In the metric's unit for one unit of the axis."] = None
    intercept: Annotated[float | None, "In the metric's unit, where the axis value is 0."] = None
    stderr: Annotated[float | None, "The standard error of the slope."] = None
    z: Annotated[float | None, "The slope over its standard error."] = None
    df: Annotated[float | None, "Degrees of freedom, Satterthwaite's; null for z."] = None
    p: P = None
    interval: Annotated[Interval | None, "Of the slope."] = None
    lack_of_fit_p: Annotated[
        PValue | None, "Whether the line misses the cells by more than their noise; null below 3."
    ] = None
    reason: Reason = None


@dataclass(frozen=True, slots=True)
class Heterogeneity:
    """Do the points differ at all? Pearson's chi-squared with trials, Cochran's Q with standard errors, Brown and
    Forsythe's F with repeats."""

    status: Status
    test: Annotated[
        HeterogeneityTest,
        "pearson_and_likelihood_ratio: where a cell expects fewer than five of one outcome, the larger of both p.",
    ]
    chi2: Annotated[float | None, "The statistic; over `df` it is F where `df_error` is given."] = None
    df: Annotated[
        float | None, "Its degrees of freedom: the cells less one, of brown_forsythe estimated, from 1 to that."
    ] = None
    p: P = None
    df_error: Annotated[float | None, "brown_forsythe: degrees of freedom of the errors."] = None
    q: Annotated[
        PValue | None, "Benjamini–Hochberg over the series of this grid along this axis, and no less than `opened`'s p."
    ] = None
    reason: Reason = None


@dataclass(frozen=True, slots=True)
class GridTrend:
    """All series along an axis together: the sum of Kendall's S with its exact null law, by convolution. Exact up to
    4,000 untied pairs in rows of up to 60 cells, else the normal tail."""

    status: Status
    s: Annotated[int, "The sum of Kendall's S over the series."]
    rows: Annotated[Count, "Series with two or more cells."]
    p: P
    min_attainable_p: Annotated[
        PValue | None, "The smallest p that any orderings of these series could have had; null where there is none."
    ]
    method: Annotated[ExactOrNormal, "How p was computed: by the exact null law, or by the normal tail."]
    reason: Reason = None
    over: Annotated[
        Literal["series", "columns"],
        "columns: the levels share more than a line (`shared_p` below alpha), as by one bad checkpoint; S is then of "
        "the sums over the series.",
    ] = "series"
    shared_p: Annotated[
        PValue | None,
        "Whether the means of the levels, over the series that have them all, miss a line by more than noise; null "
        "below two such series or three levels.",
    ] = None
