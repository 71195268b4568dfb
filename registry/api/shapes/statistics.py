"""The shapes of a grid's statistics as a whole."""

from __future__ import annotations

from registry.api.shapes.series import P, statistic
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
    "alpha sharp_change equivalence thresholds",
    alpha=NUMBER,
    sharp_change=described(NULLABLE, "5 % of the metric's range; null where the range is open."),
    equivalence=described(NULLABLE, "2 % of the metric's range; null where the range is open."),
    thresholds=array_of(NUMBER),
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
    levels=array_of(
        object_of(
            "level",
            level=LEVEL_VALUE,
            raw_mean=NULLABLE,
            mean=described(NULLABLE, "Adjusted for the other axes."),
            logit_mean=described(NULLABLE, "Adjusted on the logit scale, so that it stays within the bounds."),
        )
    ),
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
        noise_status=STATUS,
        noise_reason=NULLABLE_TEXT,
        expected_max_if_equal=described(
            NULLABLE, "The best of as many cells if all were equal: the floor that a peak must pass."
        ),
        probability_best=described(
            nullable(array_of(object_of("at value probability", at=AT, value=NUMBER, probability=NUMBER))),
            "The probability that a cell is the best, from Jeffreys–Beta or normal posteriors by quadrature.",
        ),
        best_set=described(
            nullable(object_of("level size at", level=NUMBER, size=COUNT, tied_out=COUNT, at=array_of(AT))),
            "The smallest set that holds the best cell with this probability.",
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
            nullable(object_of("share", share=NULLABLE, df={"type": ["integer", "null"]}, over_noise=NULLABLE, p=P)),
            "What no axis explains, and how many times the known noise that is.",
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
