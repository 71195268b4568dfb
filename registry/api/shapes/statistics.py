"""The shapes of a grid's statistics as a whole."""

from __future__ import annotations

from registry.api.shapes.series import NOISE, P, statistic
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
    PLAIN,
    STATE,
    STATUS,
    TEXT,
    Shape,
    array_of,
    described,
    nullable,
    object_of,
    ref,
)

_BEST = object_of("value at", value=NUMBER, at=array_of(AT), ties=COUNT, gap=NUMBER)
_BY_AXIS = {"type": "object", "additionalProperties": array_of(PLAIN)}
_PARAMETERS = object_of(
    "alpha sharp_change equivalence thresholds power",
    alpha=described(NUMBER, "The rate of error that every word keeps, unless it states another."),
    sharp_change=described(NULLABLE, "5 % of the metric's range; null where the range is open."),
    equivalence=described(NULLABLE, "2 % of the metric's range; null where the range is open."),
    thresholds=array_of(NUMBER),
    power=described(NUMBER, "Of `detectable`: 0.8."),
)
_LEVEL_COVERAGE = object_of(
    "level count first last holes",
    level=LEVEL_VALUE,
    count=COUNT,
    first=nullable(LEVEL_VALUE),
    last=nullable(LEVEL_VALUE),
    holes=described(array_of(LEVEL_VALUE), "Unmeasured levels of the other axis between the first and the last."),
    hole_count=COUNT,
)
_AXIS_COVERAGE = object_of(
    "levels",
    levels=array_of(_LEVEL_COVERAGE),
    levels_left_out=COUNT,
    empty=described(array_of(LEVEL_VALUE), "Declared, and nowhere measured."),
    complete=array_of(LEVEL_VALUE),
    overlap=described(nullable(array_of(array_of(COUNT))), "How many coordinates each pair of levels shares."),
)
_AXIS_SHARE = object_of(
    "share df levels",
    share=NULLABLE,
    df={"type": ["integer", "null"]},
    p=described(NULLABLE, "Of the test that the levels of this axis do not differ."),
    test=described({"enum": ["f", "lr_logit", None]}, "lr_logit: likelihood ratio on the logit scale, with trials."),
    levels=array_of(
        object_of(
            "level",
            level=LEVEL_VALUE,
            raw_mean=NULLABLE,
            interval=described(nullable(ref("Interval")), "Of `raw_mean`, from the noise of its cells."),
            mean=described(NULLABLE, "Adjusted for the other axes."),
            logit_mean=described(
                NULLABLE,
                "Adjusted on the logit scale, so that it stays within the bounds. Null without trials where a value is "
                "at a bound.",
            ),
        )
    ),
)

ASSUMES = described(
    array_of(TEXT),
    "What the tests take for granted, by name: independent_trials (no design_effect was posted), independent_levels "
    "(no noise is known, so a course is judged by its scatter; a curve that drifts slowly looks like a trend), "
    "exchangeable_cells (no noise is known), p(1-p)/questions (the largest variance that counts leave possible).",
)

STATISTICS: dict[str, Shape] = {
    "Coverage": statistic(
        "cells possible fraction",
        "What was measured of what was declared.",
        cells=COUNT,
        possible=COUNT,
        fraction=NULLABLE,
        by={"type": "object", "additionalProperties": _AXIS_COVERAGE},
        component_count=COUNT,
        components=described(array_of(PLAIN), "Parts of the grid that share no level with each other."),
    ),
    "Peaks": statistic(
        "",
        "The best cells by the metric's direction, all ties included, and what noise leaves of them.",
        best=nullable(_BEST),
        runner_up=nullable(_BEST),
        by=nullable(_BY_AXIS),
        noise=NOISE,
        noise_status=STATUS,
        noise_reason=NULLABLE_TEXT,
        expected_max_if_equal=described(
            NULLABLE,
            "The best of as many cells if all were equal: the floor that a peak must pass. By the binomial law where "
            "trials are known, so that it never leaves the bounds. Null for a single cell.",
        ),
        plausible_max_if_equal=described(
            NULLABLE,
            "What the best of as many equal cells does not surpass, at the level of the best set: a peak beyond it is "
            "more than the luck of the best of so many.",
        ),
        probability_best=described(
            nullable(
                array_of(
                    object_of(
                        "at value probability if_unrelated",
                        at=AT,
                        value=NUMBER,
                        probability=described(NUMBER, "After shrinking the cells towards each other."),
                        if_unrelated=described(NULLABLE, "If the cells had nothing in common: too sure of the peak."),
                    )
                )
            ),
            "The probability that a cell is the best. Cells are shrunken by the spread between them (DerSimonian and "
            "Laird) first; neither number guarantees a rate of error, `best_set` does.",
        ),
        best_set=described(
            nullable(
                object_of(
                    "level size at method",
                    level=described(NUMBER, "The best cell is in the set with at least this confidence."),
                    size=COUNT,
                    at=described(array_of(AT), "Best value first, at most a hundred."),
                    method={"enum": ["gupta"]},
                )
            ),
            "Gupta's subset (1965): every cell that noise may hide the best one in. Equal cells are in or out "
            "together.",
        ),
        shrunken=described(
            nullable(object_of("value", value=NUMBER, at=array_of(AT), mean=NUMBER, tau2=NUMBER, i2=NUMBER)),
            "The best cell after shrinking every cell towards the mean.",
        ),
        prominence=described(
            nullable(
                array_of(
                    object_of("at neighbours", at=AT, neighbours=COUNT, neighbour_mean=NULLABLE, prominence=NULLABLE)
                )
            ),
            "The best cells over their neighbours on numeric axes.",
        ),
    ),
    "Sensitivity": statistic(
        "",
        "The share of the variance that each axis explains: functional ANOVA on full grids, Shapley's average else.",
        method=NULLABLE_TEXT,
        axes=nullable({"type": "object", "additionalProperties": _AXIS_SHARE}),
        interactions=array_of(PLAIN),
        residual=described(
            nullable(
                object_of(
                    "share",
                    share=NULLABLE,
                    df={"type": ["integer", "null"]},
                    over_noise=NULLABLE,
                    p=described(P, "On the metric's own scale."),
                    logit=described(
                        nullable(object_of("chi2 df over_noise p", chi2=NULLABLE, df=COUNT, over_noise=NULLABLE, p=P)),
                        "Proportions with trials: the same on the logit scale, where a ceiling makes no interaction.",
                    ),
                )
            ),
            "What no axis explains alone, and how many times the known noise that is.",
        ),
    ),
    "Precision": statistic(
        "",
        "What the printed decimals say of the trials behind them. Implied trials are reported, never adopted.",
        decimals={"type": ["integer", "null"]},
        implied_trials={"type": ["integer", "null"]},
        candidates=array_of(COUNT),
        chance=NULLABLE,
        off_lattice_count={"type": ["integer", "null"]},
        off_lattice=nullable(array_of(PLAIN)),
    ),
    "GridTrend": statistic(
        "p",
        "All series along an axis together: the sum of Kendall's S with its exact null law, by convolution.",
        s={"type": ["integer", "null"]},
        rows=COUNT,
        p=P,
        min_attainable_p=NULLABLE,
        method=NULLABLE_TEXT,
    ),
    "Statistics": object_of(
        "grid state",
        grid=ID,
        revision=COUNT,
        digest=DIGEST,
        state={"enum": ["ready", "failed"]},
        reason=NULLABLE_TEXT,
        attempts=COUNT,
        methods_version=TEXT,
        params=_PARAMETERS,
        computed_at=INSTANT,
        metric=ref("Metric"),
        axes=array_of(ref("Axis")),
        coverage=ref("Coverage"),
        series=array_of(ref("Series")),
        series_left_out=COUNT,
        series_reason=NULLABLE_TEXT,
        peaks=ref("Peaks"),
        sensitivity=nullable(ref("Sensitivity")),
        precision=nullable(ref("Precision")),
        assumes=ASSUMES,
        design_effect=described(
            NULLABLE, "As it was posted: how many times the binomial variance the results of a cell have."
        ),
        grid_trend=nullable({"type": "object", "additionalProperties": ref("GridTrend")}),
    ),
    "Thresholds": object_of(
        "grid revision thresholds series state",
        grid=ID,
        revision=COUNT,
        metric=ref("Metric"),
        axes=array_of(ref("Axis")),
        thresholds=array_of(NUMBER),
        series=array_of(object_of("along at thresholds", along=TEXT, at=AT, thresholds=array_of(ref("Threshold")))),
        series_left_out=COUNT,
        methods_version=TEXT,
        computed_at=INSTANT,
        state=STATE,
    ),
}
