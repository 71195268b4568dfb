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
DIRECTIONS = (
    "increasing",
    "decreasing",
    "slightly_increasing",
    "slightly_decreasing",
    "varies_without_trend",
    "flat_within_noise",
    "flat",
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


_EXTREME = object_of("size at", size=NUMBER, at=array_of(_step()), p_holm=NULLABLE, interval=nullable(ref("Interval")))
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
    "Interval": object_of("level low high", level=NUMBER, low=NULLABLE, high=NULLABLE),
    "Summary": object_of(
        "count mean sd min max first last net_change normalised_area",
        count=COUNT,
        mean=NULLABLE,
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
    "Logit": statistic(
        "p",
        "Trials known: binomial regression on the axis values; likelihood ratio over max(1, dispersion) ~ F(1, m - 2).",
        test=NULLABLE_TEXT,
        p=P,
        slope=NULLABLE,
        intercept=NULLABLE,
        stderr=NULLABLE,
        effect=described(NULLABLE, "The average marginal effect, in points for one unit of the axis."),
        fitted_change=described(NULLABLE, "From the first to the last point, in points."),
        lr=NULLABLE,
        deviance=NULLABLE,
        dispersion=NULLABLE,
    ),
    "Weighted": statistic(
        "", "Standard errors known: inverse-variance weighted slope with its z-interval.", slope=NULLABLE, p=P
    ),
    "Heterogeneity": statistic(
        "p",
        "Do the points differ at all? Pearson's chi-squared with trials, Cochran's Q with standard errors.",
        test=NULLABLE_TEXT,
        chi2=NULLABLE,
        df={"type": ["integer", "null"]},
        p=P,
    ),
    "Change": _step(
        "size sharp",
        size=NUMBER,
        sharp=described(
            {"type": ["boolean", "null"]}, "At least `params.sharp_change`, and significant where noise is known."
        ),
        p=P,
        p_holm=described(NULLABLE, "Fisher's exact test, Holm over the series; where trials are known."),
        interval=described(nullable(ref("Interval")), "Newcombe's, where trials are known."),
    ),
    "Onset": statistic("", "Where the decline begins; not where it is sharpest.", level=nullable(LEVEL_VALUE)),
    "SeriesShape": statistic(
        "kind at",
        "The first of constant, linear, step, hinge that fits within the noise, else complex; without trials by BIC.",
        kind=NULLABLE_TEXT,
        at=nullable(LEVEL_VALUE),
        criterion=NULLABLE_TEXT,
        models=array_of(_MODEL),
    ),
    "Threshold": object_of(
        "level side first_below crossing sustained_until recovers",
        level=NUMBER,
        side=described({"enum": ["below", "above"]}, "The failing side: below where higher is better."),
        first_below=nullable(LEVEL_VALUE),
        crossing=described(NULLABLE, "Interpolated between the neighbouring points."),
        sustained_until=nullable(LEVEL_VALUE),
        recovers=FLAG,
        isotonic_first_below=nullable(LEVEL_VALUE),
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
        "along at count first last slope slope_interval ols mann_kendall logit direction q changes shape",
        along=TEXT,
        at=AT,
        x_scale=described({"enum": ["linear", "log10"]}, "log10: slopes are per factor of ten of the axis."),
        status=STATUS,
        reason=NULLABLE_TEXT,
        count=COUNT,
        first=NULLABLE,
        last=NULLABLE,
        summary=ref("Summary"),
        slope=described(NULLABLE, "Theil–Sen on the axis values: metric units for one unit of the axis."),
        slope_interval=described(nullable(ref("Interval")), "Sen's."),
        slope_intercept=NULLABLE,
        slope_points_used=COUNT,
        ols=nullable(ref("OrdinaryLeastSquares")),
        mann_kendall=nullable(ref("MannKendall")),
        logit=nullable(ref("Logit")),
        weighted=nullable(ref("Weighted")),
        heterogeneity=nullable(ref("Heterogeneity")),
        direction={"enum": list(DIRECTIONS)},
        trend_p=described(P, "The p-value that the direction follows from."),
        q=described(NULLABLE, "Benjamini–Hochberg over the series of this grid along this axis."),
        changes=array_of(ref("Change")),
        changes_left_out=COUNT,
        sharpest=nullable(object_of("", drop=nullable(_EXTREME), rise=nullable(_EXTREME))),
        onset=nullable(ref("Onset")),
        shape=nullable(ref("SeriesShape")),
        thresholds=array_of(ref("Threshold")),
        plateau=nullable(ref("Plateau")),
        monotone=nullable(ref("Monotone")),
        **{"from": nullable(LEVEL_VALUE), "to": nullable(LEVEL_VALUE)},
    ),
}
