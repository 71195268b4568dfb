"""The shape of a comparison of two grids."""

from __future__ import annotations

from registry.api.shapes.series import DETECTABLE, statistic
from registry.api.shapes.statistics import ASSUMES
from registry.api.shapes.words import (
    AT,
    COUNT,
    DIGEST,
    ID,
    INSTANT,
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

_INTERVAL = nullable(ref("Interval"))
_NULLABLE_COUNT: Shape = {"type": ["integer", "null"], "minimum": 0}
_RECORD: dict[str, Shape] = {
    "n_common": described(COUNT, "Cells that both grids have."),
    "wins": described(_NULLABLE_COUNT, "Cells where the contender is better; null for a metric without a better end."),
    "ties": _NULLABLE_COUNT,
    "losses": _NULLABLE_COUNT,
    "mean": described(NULLABLE, "Contender less baseline, in the metric's unit; every common cell weighs the same."),
    "median": NULLABLE,
    "test": nullable(ref("GapTest")),
}

COMPARED: dict[str, Shape] = {
    "ComparedGrid": object_of(
        "grid revision digest experiment benchmark model variant metric",
        grid=ID,
        revision=COUNT,
        digest=DIGEST,
        experiment=described(TEXT, "Names are written with aliases replaced by what they stand for."),
        benchmark=TEXT,
        model=TEXT,
        variant=TEXT,
        metric=ref("Metric"),
    ),
    "OnlyIn": object_of(
        "count at", count=COUNT, at=described(array_of(AT), "The first hundred, in the grid's own order.")
    ),
    "GapTest": statistic(
        "name difference interval p",
        "Whether the mean gap differs from 0 for these very cells. With trials Mantel–Haenszel with Sato's variance, "
        "with standard errors z, else the exact sign-flip test.",
        name=NULLABLE_TEXT,
        difference=described(NULLABLE, "The estimate that `interval` and `p` belong to."),
        interval=_INTERVAL,
        stderr=described(NULLABLE, "Of `difference`; null where the test has none."),
        df=described(NULLABLE, "Degrees of freedom of its t law; null where the law is normal or exact."),
        detectable=DETECTABLE,
        p=NULLABLE,
        p_holm=described(NULLABLE, "Holm over the levels of the axis; null for all cells together."),
        min_attainable_p=NULLABLE,
    ),
    "LevelGap": statistic("level n_common mean test", "The gap at one level of an axis.", level=LEVEL_VALUE, **_RECORD),
    "CellGap": object_of(
        "at baseline contender gap better interval p p_holm test",
        at=AT,
        baseline=NUMBER,
        contender=NUMBER,
        gap=NUMBER,
        better={"enum": ["contender", "baseline", "tie", None]},
        interval=described(_INTERVAL, "Newcombe's with trials; z or Welch's t with standard errors."),
        p=NULLABLE,
        p_holm=described(NULLABLE, "Holm over all tested cells."),
        test={"enum": ["fisher", "pooled_z", "z", "welch", None]},
    ),
    "SeriesGap": object_of(
        "at count slope slope_interval mann_kendall",
        at=AT,
        count=COUNT,
        slope=NULLABLE,
        slope_interval=described(_INTERVAL, "Null where no ordering of so few points could be significant."),
        mann_kendall=ref("MannKendall"),
    ),
    "GapTrend": statistic(
        "along x_scale slope slope_interval mann_kendall",
        "How the gap changes along an axis with an order, over all series of two common cells or more.",
        along=TEXT,
        x_scale={"enum": ["linear", "log10"]},
        series_count=COUNT,
        slope=described(NULLABLE, "The median of all slopes within series (Hirsch, Slack and Smith)."),
        slope_interval=described(
            _INTERVAL,
            "Sen's, with the variances of all series (Gilbert); null where no ordering could be significant.",
        ),
        slope_series_used=COUNT,
        mann_kendall=nullable(ref("GridTrend")),
        series=array_of(ref("SeriesGap")),
        series_left_out=COUNT,
    ),
    "OddsRatio": statistic(
        "value interval",
        "Mantel and Haenszel's, with Robins, Breslow and Greenland's interval; undefined where it is 0 or infinite.",
        strata=COUNT,
        value=NULLABLE,
        interval=_INTERVAL,
    ),
    "GapMantelHaenszel": statistic(
        "strata difference odds_ratio",
        "Cells with trials in both grids as strata.",
        strata=COUNT,
        difference=described(NULLABLE, "The risk difference, in the metric's unit."),
        stderr=NULLABLE,
        interval=_INTERVAL,
        p=NULLABLE,
        test=NULLABLE_TEXT,
        odds_ratio=nullable(ref("OddsRatio")),
    ),
    "BreslowDay": statistic(
        "strata chi2 df p",
        "Whether the odds ratio is the same in all cells; with Tarone's correction, and without.",
        strata=COUNT,
        chi2=NULLABLE,
        df=_NULLABLE_COUNT,
        p=NULLABLE,
        chi2_uncorrected=NULLABLE,
        p_uncorrected=NULLABLE,
    ),
    "Comparison": object_of(
        "baseline contender alpha state",
        baseline={"anyOf": [ref("ComparedGrid"), ID], "description": "Only the id where the comparison failed."},
        contender={"anyOf": [ref("ComparedGrid"), ID]},
        axes=array_of(ref("Axis")),
        status=described(
            STATUS,
            "confounded: more than one of model, benchmark, variant, metric differs. not_comparable: no cell in "
            "common. undefined: units, directions or scales differ, so that only coverage and agreement mean anything.",
        ),
        reason=NULLABLE_TEXT,
        alpha=NUMBER,
        assumes=ASSUMES,
        differs=described(array_of(TEXT), "What is not the same in the two grids."),
        only_in_baseline=ref("OnlyIn"),
        only_in_contender=ref("OnlyIn"),
        **_RECORD,
        by=described(
            nullable({"type": "object", "additionalProperties": ref("GapMargin")}), "By the levels of each axis."
        ),
        along=array_of(ref("GapTrend")),
        mantel_haenszel=nullable(ref("GapMantelHaenszel")),
        breslow_day=nullable(ref("BreslowDay")),
        agreement=described(
            nullable(statistic("tau", "Kendall's tau-b over the common cells.", tau=NULLABLE)),
            "Are the same cells hard for both?",
        ),
        cells=array_of(ref("CellGap")),
        cells_left_out=COUNT,
        inputs=array_of(object_of("grid revision digest", grid=ID, revision=COUNT, digest=DIGEST)),
        warnings=array_of(ref("Warning")),
        baseline_revision=COUNT,
        contender_revision=COUNT,
        methods_version=TEXT,
        computed_at=INSTANT,
        state={"enum": ["ready", "failed"]},
        attempts=COUNT,
    ),
    "GapMargin": object_of("levels left_out", levels=array_of(ref("LevelGap")), left_out=COUNT),
}
