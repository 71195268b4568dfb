"""The shapes of what is computed along one axis of a grid."""

from __future__ import annotations

from registry.api.shapes.words import (
    AT,
    COUNT,
    FLAG,
    LEVEL_VALUE,
    NULLABLE,
    NULLABLE_TEXT,
    NUMBER,
    STATUS,
    TEXT,
    Shape,
    array_of,
    described,
    nullable,
    object_of,
    ref,
)

P = described(NULLABLE, "A p-value; null where there is none, and `status` says why.")
NOISE = described(
    {"enum": ["trials", "stderr", "repeats", "unknown"]},
    "What the tests rest on. A posted standard error goes before trials; repeats are runs whose spread is known.",
)
DETECTABLE = described(
    NULLABLE,
    "The smallest true value that would have been found significant with probability `params.power` (80 %): "
    "(z of 1 - alpha/2 + z of 0.8) standard errors, in the metric's unit; null without noise.",
)
DIRECTIONS = (
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
)


def statistic(required: str, about: str, **properties: Shape) -> Shape:
    """A statistic in its envelope: a status, and a reason when it is not ok."""
    shape = object_of(f"status {required}".strip(), status=STATUS, reason=NULLABLE_TEXT, **properties)
    return shape | {"description": about}


def _step(required: str = "", **properties: Shape) -> Shape:
    return object_of(f"from to {required}".strip(), **{"from": LEVEL_VALUE, "to": LEVEL_VALUE}, **properties)


_EXTREME = object_of(
    "size at",
    size=NUMBER,
    at=described(array_of(_step()), "Every step of this size."),
    p_holm=NULLABLE,
    interval=described(
        nullable(ref("Interval")),
        "At the level that picking the largest asks for (Bonferroni over the steps of the series); null without noise.",
    ),
)
_CROSSING = object_of(
    "at direction",
    at=described(NUMBER, "On the axis, interpolated between the neighbouring points."),
    direction={"enum": ["falling", "rising"]},
)
_FIT = object_of(
    "sse blocks violations",
    sse=NUMBER,
    blocks=array_of(_step("count value", count=COUNT, value=NUMBER)),
    blocks_left_out=COUNT,
    violations=COUNT,
)
_MODEL = object_of(
    "kind misfit parameters", kind=TEXT, misfit=NUMBER, parameters=COUNT, at=nullable(LEVEL_VALUE), p=P, bic=NULLABLE
)

SERIES: dict[str, Shape] = {
    "Interval": object_of(
        "level low high",
        level=described(NUMBER, "The probability with which such an interval holds the truth, 0.95 or what is said."),
        low=NULLABLE,
        high=NULLABLE,
    ),
    "Summary": object_of(
        "count mean sd min max first last net_change normalised_area",
        count=COUNT,
        mean=NULLABLE,
        mean_interval=described(
            nullable(ref("Interval")), "Of the mean of these very cells, from their noise; null where it is unknown."
        ),
        sd=described(NULLABLE, "With ddof 1."),
        min=NULLABLE,
        max=NULLABLE,
        first=NULLABLE,
        last=NULLABLE,
        net_change=NULLABLE,
        normalised_area=described(NULLABLE, "The area under the curve divided by the length of the axis."),
    ),
    "OrdinaryLeastSquares": statistic(
        "slope intercept stderr r2 p interval",
        "On the axis values; with two points p is null, not 0.",
        slope=NULLABLE,
        intercept=NULLABLE,
        stderr=NULLABLE,
        r2=NULLABLE,
        p=P,
        interval=nullable(ref("Interval")),
    ),
    "MannKendall": statistic(
        "s p min_attainable_p method",
        "Two-sided and exact with ties up to 60 points, else the tie-corrected normal tail. insufficient: no "
        "ordering of so many values could have been significant.",
        s={"type": ["integer", "null"]},
        tau=NULLABLE,
        p=P,
        min_attainable_p=NULLABLE,
        method={"enum": ["exact", "normal"]},
    ),
    "FittedChange": object_of(
        "value interval method",
        value=described(NUMBER, "From the first to the last level of the series, in the metric's unit."),
        interval=described(nullable(ref("Interval")), "Null where it cannot be given; `reason` says why."),
        method=described(
            {"enum": ["logit", "weighted", "pooled_repeats", "theil_sen", "least_squares"]},
            "logit: trials. weighted: standard errors. pooled_repeats: repeats, their variance pooled over the series. "
            "theil_sen: noise unknown. least_squares: most pairs of values tie (ordinal or two-valued scores).",
        ),
        reason=NULLABLE_TEXT,
    ),
    "Logit": statistic(
        "p",
        "Trials known: binomial regression on the axis values.",
        test=described(
            {"enum": ["likelihood_ratio_f", "likelihood_ratio_chi2", "monotone_chi2", "firth_likelihood_ratio", None]},
            "likelihood_ratio_f: over max(1, dispersion), F(1, m - 2). likelihood_ratio_chi2: two cells. "
            "monotone_chi2: three to five cells that a monotone course fits, the larger p of homogeneity and of the "
            "likelihood ratio without dispersion. firth_likelihood_ratio: the "
            "successes are separated, so that the ordinary fit is infinite.",
        ),
        p=P,
        slope=NULLABLE,
        intercept=NULLABLE,
        stderr=NULLABLE,
        effect=described(NULLABLE, "The average marginal effect, in points for one unit of the axis."),
        lr=NULLABLE,
        deviance=NULLABLE,
        dispersion=described(NULLABLE, "Pearson's; above 1 the cells vary by more than binomial noise about the line."),
        lack_of_fit_p=described(NULLABLE, "Whether the line misses the cells by more than their noise; null below 3."),
    ),
    "Weighted": statistic(
        "",
        "Standard errors or repeats known: inverse-variance weighted slope.",
        slope=NULLABLE,
        p=P,
        test=described(
            {"enum": ["z", "t_pooled_repeats", None]},
            "t_pooled_repeats: the variance comes from the repeats of all cells, and the law is t with `df`.",
        ),
        df=described(NULLABLE, "Degrees of freedom, the repeats less the cells; null for z."),
    ),
    "Heterogeneity": statistic(
        "p",
        "Do the points differ at all? Pearson's chi-squared with trials, Cochran's Q with standard errors, F with "
        "repeats.",
        test={"enum": ["pearson", "pearson_and_likelihood_ratio", "cochran_q", "f_repeats", None]},
        chi2=NULLABLE,
        df={"type": ["integer", "null"]},
        df_error=described(NULLABLE, "f_repeats: degrees of freedom of the pooled variance."),
        p=P,
        q=described(NULLABLE, "Benjamini–Hochberg over the series of this grid along this axis."),
    ),
    "Change": _step(
        "size sharp",
        size=NUMBER,
        sharp=described(
            {"type": ["boolean", "null"]},
            "At least `params.sharp_change`, and `p_holm` below alpha. Null where the noise is unknown or no margin is "
            "set: size alone makes no step sharp.",
        ),
        p=P,
        p_holm=described(NULLABLE, "Holm over all steps of the grid along this axis."),
        interval=described(
            nullable(ref("Interval")), "Of this one step: Newcombe's with trials, z or t with errors; null without."
        ),
        detectable=DETECTABLE,
    ),
    "Onset": statistic(
        "level",
        "Where the decline begins, tested as a change is; null without noise.",
        level=described(nullable(LEVEL_VALUE), "Only where `p_holm` is below alpha."),
        candidate=described(nullable(LEVEL_VALUE), "The most likely place, whether it is significant or not."),
        size=described(NULLABLE, "The mean from there on less the mean before."),
        p=described(NULLABLE, "Bonferroni over the possible places."),
        p_holm=described(NULLABLE, "Holm over the series along the axis."),
    ),
    "SeriesShape": statistic(
        "kind at",
        "The first of constant, linear, step, hinge that fits within the noise, else complex; without trials by BIC.",
        kind=NULLABLE_TEXT,
        at=nullable(LEVEL_VALUE),
        criterion=NULLABLE_TEXT,
        models=array_of(_MODEL),
    ),
    "Threshold": object_of(
        "level side crossings first_failing first_reaching sustained_from sustained_until recovers interval",
        level=NUMBER,
        side=described({"enum": ["below", "above"]}, "The failing side: below where higher is better."),
        crossings=described(array_of(_CROSSING), "Every place where the line through the cells crosses the level."),
        first_failing=described(nullable(LEVEL_VALUE), "The first measured level that fails."),
        first_reaching=described(nullable(LEVEL_VALUE), "The first measured level that passes."),
        sustained_from=described(
            nullable(LEVEL_VALUE), "The first level from which every later cell passes; null where the last one fails."
        ),
        sustained_until=described(nullable(LEVEL_VALUE), "The last level before the first that fails."),
        recovers=described(FLAG, "A cell passes after one that failed."),
        interval=described(
            nullable(ref("Interval")),
            "The levels between which a truth that only falls, or only rises, crosses; from the cells' noise, "
            "simultaneous. `low` or `high` is null where the crossing may lie beyond the axis.",
        ),
    ),
    "Plateau": object_of(
        "tolerance start end length mean",
        tolerance=NUMBER,
        start=LEVEL_VALUE,
        end=LEVEL_VALUE,
        length=COUNT,
        mean=NUMBER,
    ),
    "Monotone": object_of(
        "increasing decreasing drawdown",
        increasing=nullable(_FIT),
        decreasing=nullable(_FIT),
        drawdown=nullable(object_of("size", size=NUMBER)),
    )
    | {"description": "Isotonic fits both ways with their blocks, and the largest fall from an earlier best."},
    "Series": object_of(
        "along at count noise first last slope slope_interval fitted_change detectable ols mann_kendall logit "
        "direction q changes shape",
        along=TEXT,
        at=AT,
        x_scale=described({"enum": ["linear", "log10"]}, "log10: slopes are per factor of ten of the axis."),
        status=STATUS,
        reason=NULLABLE_TEXT,
        count=COUNT,
        noise=NOISE,
        first=NULLABLE,
        last=NULLABLE,
        summary=ref("Summary"),
        fitted_change=described(nullable(ref("FittedChange")), "What changed from one end to the other."),
        detectable=DETECTABLE,
        slope=described(NULLABLE, "Theil–Sen on the axis values: metric units for one unit of the axis."),
        slope_interval=described(
            nullable(ref("Interval")), "Sen's; null below five untied points, where it could not hold its level."
        ),
        slope_interval_reason=described(NULLABLE_TEXT, "Why there is no interval."),
        slope_intercept=NULLABLE,
        slope_points_used=COUNT,
        ols=nullable(ref("OrdinaryLeastSquares")),
        mann_kendall=nullable(ref("MannKendall")),
        logit=nullable(ref("Logit")),
        weighted=nullable(ref("Weighted")),
        heterogeneity=nullable(ref("Heterogeneity")),
        direction=described(
            {"enum": list(DIRECTIONS)},
            "increasing and decreasing: `q` below alpha; slightly: and the fitted change is smaller than the margin of "
            "equivalence. flat: the interval of `fitted_change` lies within the margin. varies_without_trend: the "
            "cells differ by more than noise, no trend is shown. inconclusive: nothing is shown; `detectable` says "
            "what would have been.",
        ),
        trend_p=described(P, "Of the test for a trend that fits the noise."),
        q=described(
            NULLABLE,
            "`trend_p` after Benjamini and Hochberg over the series of this grid along this axis: the direction "
            "follows from it.",
        ),
        changes=array_of(ref("Change")),
        changes_left_out=COUNT,
        sharp_reason=described(
            {"enum": ["noise_unknown", "no_margin", None]}, "Why `sharp` is null in every change of this series."
        ),
        largest=described(
            nullable(object_of("", drop=nullable(_EXTREME), rise=nullable(_EXTREME))),
            "The largest fall and the largest rise, whatever noise says of them.",
        ),
        onset=nullable(ref("Onset")),
        shape=nullable(ref("SeriesShape")),
        thresholds=array_of(ref("Threshold")),
        plateau=nullable(ref("Plateau")),
        monotone=nullable(ref("Monotone")),
        **{"from": nullable(LEVEL_VALUE), "to": nullable(LEVEL_VALUE)},
    ),
}
