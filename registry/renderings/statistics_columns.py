"""Columns of the statistics of a grid, and what each means: those of its tables and of the feeds."""

from registry.renderings.rows import Field, Kind


def _fields(kind: Kind, **about: str) -> tuple[Field, ...]:
    """Columns of one kind."""
    return tuple(Field(name.rstrip("_"), kind, text) for name, text in about.items())


def _level(name: str, about: str) -> tuple[Field, ...]:
    return (Field(name, "level", about), Field(f"{name}_num", "number", "Its number; null where it has none."))


_TRENDS = (
    *_fields("text", along="The axis of the series; null without one."),
    *_fields("whole", count="Its measured cells."),
    *_level("from", "The first measured level."),
    *_level("to", "The last measured level."),
    *_fields(
        "number",
        first="The value at the first measured level.",
        last="The value at the last measured level.",
        slope="Theil–Sen, per unit of the axis or factor of ten (`x_scale`).",
        slope_low="The lower end of its 95 % interval.",
        slope_high="The upper end.",
        change="The change from the first level to the last along a line; null where the cells miss one.",
        change_low="The lower end of its 95 % interval.",
        change_high="The upper end.",
        end_change="The last cell less the first, by the noise of both; null without.",
        end_change_low="The lower end of its 95 % interval.",
        end_change_high="The upper end.",
        retained="The last value over the first; null where one is negative or the first is 0.",
        retained_low="The lower end of its 95 % interval.",
        retained_high="The upper end.",
        detectable="The change along a line that would have been found with probability 80 %.",
    ),
    *_fields("text", noise="What the tests rest on: trials, stderr, repeats or unknown."),
    *_fields("whole", mann_kendall_s="Kendall's S."),
    *_fields(
        "number",
        mann_kendall_p="Of Mann and Kendall's test.",
        min_attainable_p="The smallest p that so many values can have.",
    ),
    *_fields("text", mann_kendall_status="ok, or insufficient: too few values."),
    *_fields(
        "number",
        trend_p="Of the test for a trend that fits the noise.",
        q="`trend_p` after Benjamini and Hochberg along this axis, no less than the p at which the report opens it.",
    ),
    *_fields(
        "text",
        direction="increasing, decreasing, flat, inconclusive and so on, as in `getStatistics`.",
    ),
    *_level("onset_until", "The last level up to which no decline by more than the margin is shown; null without one."),
    *_level("onset_by", "From which on every cell is shown to be worse than the first by more than the margin."),
    *_fields("text", x_scale="linear, or log10: slopes are per factor of ten of the axis."),
    *_fields("whole", series_left_out="Series of this grid beyond the limits, which have no row."),
)
_PEAKS = (
    *_fields(
        "number",
        value="The best value of the grid; null where it has none.",
        ci_low="The lower end of this cell's own 95 % interval, not widened for its being the best.",
        ci_high="Its upper end.",
    ),
    *_fields("whole", ties="Cells that have the best value; each has a row, up to a hundred."),
    *_fields(
        "number",
        runner_up="The next best distinct value.",
        gap="How far the best is from it, at least 0.",
        probability_best="That this cell is the best, after shrinkage.",
        if_unrelated="The same without shrinkage.",
    ),
    *_fields("whole", best_set_size="Cells that may be the best, with confidence `best_set_level`."),
    *_fields(
        "number",
        best_set_level="That confidence; this cell is always in the set.",
        shrunken="The best cell's value, shrunken towards the random-effects mean.",
        expected_max_if_equal="The best of as many cells if all were equal.",
        plausible_max_if_equal="What that does not surpass, with that confidence.",
    ),
    *_fields("text", noise="What this rests on: trials, stderr, repeats or unknown."),
)
_COVERAGE = (
    *_fields("whole", cells="Measured cells.", possible="Declared cells: the product of the numbers of levels."),
    *_fields("number", fraction="`cells` of `possible`, 0 to 1; null where no cell is possible."),
    *_fields(
        "whole",
        component_count="Parts of the grid that share no level with each other.",
        empty_levels="Declared levels that were nowhere measured.",
    ),
)
MEASURED: dict[str, tuple[Field, ...]] = {"trends": _TRENDS, "peaks": _PEAKS, "coverage": _COVERAGE}
"""What each statistic says, in the order of its columns."""
STANDING = (
    Field("state", "text", "ready, pending or failed: without ready the statistic's columns are empty.", False),
    *_fields(
        "text",
        reason="Why the computation failed, or why numbers are missing.",
        methods_version="By which methods; null where nothing is computed yet.",
    ),
    Field("updated_at", "instant", "When the revision was published.", False),
)
"""How the computation stands; the last columns but those of the names that were posted."""
_OF_CELLS = {
    "grid": "The grid's id.",
    "revision": "The number of its current revision.",
    "metric": "The metric's name.",
    "unit": "The metric's unit; null where it has none.",
}


def said_of_cells(name: str) -> str:
    """What a column means that the feed of cells has too."""
    sent = name.removesuffix("_as_sent")
    return _OF_CELLS.get(name) or (f"The {sent}." if sent == name else f"The {sent} as it was posted.")
