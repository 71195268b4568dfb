"""The shape of a comparison of two grids."""

from __future__ import annotations

from registry.api.shapes.words import (
    ASSUMES,
    AT,
    COUNT,
    DETECTABLE,
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
    described_object,
    nullable,
    object_of,
    ref,
    statistic,
)

_INTERVAL = nullable(ref("Interval"))
_NULLABLE_COUNT: Shape = {"type": ["integer", "null"], "minimum": 0}
_RECORD: dict[str, Shape] = {
    "n_common": described(COUNT, "Cells that both grids have."),
    "wins": described(_NULLABLE_COUNT, "Cells where the contender is better; null for a metric without a better end."),
    "ties": described(_NULLABLE_COUNT, "Cells where both are as good."),
    "losses": described(_NULLABLE_COUNT, "Cells where the baseline is better."),
    "mean": described(NULLABLE, "Contender less baseline, in the metric's unit; every common cell weighs the same."),
    "median": described(NULLABLE, "The median of the gaps, in the metric's unit."),
    "test": nullable(ref("GapTest")),
}

COMPARED: dict[str, Shape] = {
    "ComparedGrid": described_object(
        "A grid of a comparison.",
        "grid revision digest experiment benchmark model variant metric",
        grid=described(ID, "The grid's id."),
        revision=described(COUNT, "The revision that was compared."),
        digest=described(DIGEST, "Of that revision's content."),
        experiment=described(TEXT, "Names are written with aliases replaced by what they stand for."),
        benchmark=described(TEXT, "What was measured."),
        model=described(TEXT, "What it was measured on."),
        variant=described(TEXT, "The method or condition."),
        metric=ref("Metric"),
    ),
    "OnlyIn": described_object(
        "Cells that only one of the grids has.",
        "count at",
        count=described(COUNT, "How many cells."),
        at=described(array_of(AT), "The first hundred, in the grid's own order."),
    ),
    "GapTest": statistic(
        "name difference interval p",
        "Whether the mean gap differs from 0 for these very cells. With trials Mantel–Haenszel with Sato's variance, "
        "with standard errors z, else the exact sign-flip test.",
        name=described(NULLABLE_TEXT, "The test that was used; null: none."),
        difference=described(NULLABLE, "The estimate that `interval` and `p` belong to."),
        interval=_INTERVAL,
        stderr=described(NULLABLE, "Of `difference`; null where the test has none."),
        df=described(NULLABLE, "Degrees of freedom of its t law; null where the law is normal or exact."),
        detectable=DETECTABLE,
        p=described(NULLABLE, "The p-value; null where there is none."),
        p_holm=described(NULLABLE, "Holm over the levels of the axis; null for all cells together."),
        min_attainable_p=described(NULLABLE, "The smallest p that so many cells can give."),
    ),
    "LevelGap": statistic(
        "level n_common mean test",
        "The gap at one level of an axis.",
        level=described(LEVEL_VALUE, "The level."),
        **_RECORD,
    ),
    "CellGap": described_object(
        "The gap in one cell.",
        "at baseline contender gap better interval p p_holm test",
        at=AT,
        baseline=described(NUMBER, "The baseline's value, in the metric's unit."),
        contender=described(NUMBER, "The contender's value, in the metric's unit."),
        gap=described(NUMBER, "Contender less baseline, in the metric's unit."),
        better=described(
            {"enum": ["contender", "baseline", "tie", None]}, "Which is better; null for a metric without a better end."
        ),
        interval=described(_INTERVAL, "Newcombe's with trials; z or Welch's t with standard errors."),
        p=described(NULLABLE, "The p-value of the cell; null without noise."),
        p_holm=described(NULLABLE, "Holm over all tested cells."),
        test=described({"enum": ["fisher", "pooled_z", "z", "welch", None]}, "The test that was used; null: none."),
    ),
    "SeriesGap": described_object(
        "The gap along one series.",
        "at count slope slope_interval mann_kendall",
        at=AT,
        count=described(COUNT, "How many cells of the series both have."),
        slope=described(NULLABLE, "Theil-Sen of the gap on the axis values; null below two cells."),
        slope_interval=described(_INTERVAL, "Null where no ordering of so few points could be significant."),
        mann_kendall=ref("MannKendall"),
    ),
    "GapTrend": statistic(
        "along x_scale slope slope_interval mann_kendall",
        "How the gap changes along an axis with an order, over all series of two common cells or more.",
        along=described(TEXT, "The axis."),
        x_scale=described({"enum": ["linear", "log10"]}, "log10: slopes are per factor of ten of the axis."),
        series_count=described(COUNT, "How many series there are."),
        slope=described(NULLABLE, "The median of all slopes within series (Hirsch, Slack and Smith)."),
        slope_interval=described(
            _INTERVAL,
            "Sen's, with the variances of all series (Gilbert); null where no ordering could be significant.",
        ),
        slope_series_used=described(COUNT, "How many of them the slope comes from."),
        mann_kendall=nullable(ref("GridTrend")),
        series=described(array_of(ref("SeriesGap")), "The gap along each series."),
        series_left_out=described(COUNT, "Series beyond the limits, which are not listed."),
    ),
    "OddsRatio": statistic(
        "value interval",
        "Mantel and Haenszel's, with Robins, Breslow and Greenland's interval; undefined where it is 0 or infinite.",
        strata=described(COUNT, "How many cells."),
        value=described(NULLABLE, "The common odds ratio; null where it is 0 or infinite."),
        interval=_INTERVAL,
    ),
    "GapMantelHaenszel": statistic(
        "strata difference odds_ratio",
        "Cells with trials in both grids as strata.",
        strata=described(COUNT, "How many cells."),
        difference=described(NULLABLE, "The risk difference, in the metric's unit."),
        stderr=described(NULLABLE, "Of `difference`."),
        interval=described(_INTERVAL, "Of `difference`."),
        p=described(NULLABLE, "The p-value; null where there is none."),
        test=described(NULLABLE_TEXT, "The test that was used; null: none."),
        odds_ratio=nullable(ref("OddsRatio")),
    ),
    "BreslowDay": statistic(
        "strata chi2 df p",
        "Whether the odds ratio is the same in all cells; with Tarone's correction, and without.",
        strata=described(COUNT, "How many cells."),
        chi2=described(NULLABLE, "With Tarone's correction."),
        df=described(_NULLABLE_COUNT, "Degrees of freedom."),
        p=described(NULLABLE, "The p-value of chi2."),
        chi2_uncorrected=described(NULLABLE, "Without the correction."),
        p_uncorrected=described(NULLABLE, "Its p-value."),
    ),
    "Comparison": described_object(
        "How far one grid is from another.",
        "baseline contender alpha state",
        baseline={"anyOf": [ref("ComparedGrid"), ID], "description": "Only the id where the comparison failed."},
        contender={"anyOf": [ref("ComparedGrid"), ID], "description": "Only the id where the comparison failed."},
        axes=described(array_of(ref("Axis")), "The axes that both grids have, with the levels of both."),
        status=described(
            STATUS,
            "confounded: more than one of model, benchmark, variant, metric differs. not_comparable: no cell in "
            "common. undefined: units, directions or scales differ, so that only coverage and agreement mean anything.",
        ),
        reason=described(NULLABLE_TEXT, "Why `status` is not ok; left out where it is."),
        alpha=described(NUMBER, "The level of tests and intervals."),
        assumes=ASSUMES,
        differs=described(array_of(TEXT), "What is not the same in the two grids."),
        only_in_baseline=ref("OnlyIn"),
        only_in_contender=ref("OnlyIn"),
        **_RECORD,
        by=described(
            nullable({"type": "object", "additionalProperties": ref("GapMargin")}), "By the levels of each axis."
        ),
        along=described(array_of(ref("GapTrend")), "How the gap changes along each axis with an order."),
        mantel_haenszel=nullable(ref("GapMantelHaenszel")),
        breslow_day=nullable(ref("BreslowDay")),
        agreement=described(
            nullable(
                statistic("tau", "Kendall's tau-b over the common cells.", tau=described(NULLABLE, "From -1 to 1."))
            ),
            "Are the same cells hard for both?",
        ),
        cells=described(array_of(ref("CellGap")), "The common cells, in row-major order."),
        cells_left_out=described(COUNT, "Common cells beyond the limit, which are not listed."),
        inputs=described(
            array_of(
                object_of(
                    "grid revision digest",
                    grid=described(ID, "The grid's id."),
                    revision=described(COUNT, "The revision that was read."),
                    digest=described(DIGEST, "Of that revision's content."),
                )
            ),
            "Both grids, the baseline first.",
        ),
        warnings=described(array_of(ref("Warning")), "Doubts about the inputs."),
        baseline_revision=described(COUNT, "The baseline's revision, where the comparison failed."),
        contender_revision=described(COUNT, "The contender's revision, where the comparison failed."),
        methods_version=described(TEXT, "Changes whenever a stored number would come out differently."),
        computed_at=described(INSTANT, "When it was computed."),
        state={"enum": ["ready", "failed"]},
        attempts=COUNT,
    ),
    "GapMargin": described_object(
        "The gap at the levels of one axis.",
        "levels left_out",
        levels=described(array_of(ref("LevelGap")), "One for each level that both grids have."),
        left_out=described(COUNT, "Levels beyond the limit, which are not listed."),
    ),
}
