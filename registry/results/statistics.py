"""Types of all statistics of one grid, and of where its series cross levels that were asked about. Workers fill them in
`describe.py`; `registry/api/statistics.py` cuts them into parts, which `renderings/statistics.py` writes."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Literal

from registry.results.courses import Direction, Series, Threshold
from registry.results.grid import PostedAxis, PostedMetric
from registry.results.parameters import Parameters
from registry.results.peaks import Peaks
from registry.results.sensitivity import Sensitivity
from registry.results.terms import (
    At,
    Count,
    Digest,
    FirstLevel,
    Identifier,
    Instant,
    Keyword,
    LastLevel,
    LevelName,
    Noise,
    Place,
    Presence,
    PValue,
    Reason,
    SliceDocument,
    Status,
)
from registry.results.trend_tests import GridTrend

Assumptions = Annotated[
    tuple[str, ...],
    "What the tests take for granted, by name: independent_trials (no design_effect was posted), "
    "weighed_by_trials (cells of a benchmark have unequal trials and weigh by them, as Mantel and Haenszel have it: "
    "where they differ by unequal amounts, the difference is not that of the means), "
    "design_effect_of_repeats (repeats vary more than their trials explain, or so few may: errors are as large as they "
    "say), independent_cells "
    "(of repeats: no run moves several of its cells at once, and few are hardly noisier in one cell than in others; "
    "where half of the variance is a run's own in all of its cells, a third of the answers err, and up to 12 % where "
    "one cell of two or three repeats is ten times as noisy), rounded_values (values look printed more coarsely than "
    "one trial, and errors are larger by what that adds), nearest_counts (values are no whole counts out of their "
    "trials, and stand for the "
    "nearest ones), independent_levels (no noise is known: a slow drift looks like a trend), "
    "equal_noise (of repeats: sets of best cells, steps of three cells and more, thresholds, axes and interactions "
    "pool their variance over the cells; trends take that of each, which few repeats hardly know; where one cell, row "
    "or column is five to ten times as noisy, up to 20-35 % of reports err), "
    "exact_errors (posted standard errors are not estimates; of few or skewed results they are), "
    "equal_scatter (no noise is known: what the axes leave scatters alike in all cells), "
    "rows_share_nothing (no shock, as of one bad checkpoint, is common to the cells of a level), "
    "exchangeable_cells (no noise is known), independent_items (items are draws of one kind), "
    "p(1-p)/questions (the largest variance that counts leave possible).",
    Presence.OPTIONAL,
]
MetricDocument = Annotated[PostedMetric, Keyword("$ref", "#/components/schemas/Metric"), Presence.OPTIONAL]
AxisDocument = Annotated[PostedAxis, Keyword("$ref", "#/components/schemas/Axis")]


@dataclass(frozen=True, slots=True)
class LevelCoverage:
    """How much of one level was measured. `first`, `last` and `holes` are levels of the other axis of a grid of two
    axes; on other grids they are null and empty."""

    level: LevelName
    count: Annotated[Count, "Its measured cells."]
    first: Annotated[Place | None, "The first measured level of the other axis; null where there is none."]
    last: Annotated[Place | None, "The last measured level of the other axis; null where there is none."]
    holes: Annotated[
        tuple[Place, ...],
        "Unmeasured levels of the other axis between the first and the last, at most a hundred.",
    ]
    hole_count: Annotated[Count, "All of them."]


@dataclass(frozen=True, slots=True)
class AxisCoverage:
    """The levels of an axis: each one's coverage, those without a cell, those without a gap."""

    levels: Annotated[tuple[LevelCoverage, ...], "The first thousand, in the order of the axis."]
    levels_left_out: Annotated[Count, "The others."]
    empty: Annotated[tuple[Place, ...], "Declared, and nowhere measured."]
    complete: Annotated[tuple[Place, ...], "Measured at every combination of the other axes."]


@dataclass(frozen=True, slots=True)
class Coverage:
    """The measured cells among those that were declared. Levels that share a cell are connected; effects of unconnected
    levels cannot be told apart."""

    status: Status
    cells: Annotated[Count, "Measured."]
    possible: Annotated[Count, "Declared: the product of the numbers of levels."]
    fraction: Annotated[float | None, "`cells` of `possible`, 0 to 1; null where no cell is possible."]
    by: Annotated[Mapping[str, AxisCoverage], "By the name of the axis."]
    component_count: Annotated[Count, "The parts of the grid that share no level with each other."]
    components: Annotated[
        tuple[Mapping[str, tuple[Place, ...]], ...] | None,
        "Parts of the grid that share no level with each other: the levels of each, by axis, the largest part first; "
        "null above a thousand levels.",
    ]
    reason: Reason = None


@dataclass(frozen=True, slots=True)
class OffLattice:
    """A value that no whole number of successes of its trials rounds to."""

    at: At
    value: Annotated[float, "As it was posted, in the metric's unit."]


@dataclass(frozen=True, slots=True)
class Precision:
    """The printed decimals, and the trials that they imply. Implied trials are reported, never adopted."""

    status: Status
    decimals: Annotated[
        int | None, "Of the values as they were posted; negative beyond 10^12, null where no cell was measured."
    ]
    implied_trials: Annotated[
        int | None,
        "The smallest number of trials, below the printed resolution, that explains every value of a proportion; null "
        "where there is none.",
    ] = None
    candidates: Annotated[tuple[Count, ...], "The five smallest such numbers."] = ()
    chance: Annotated[
        float | None, "The probability that a random printed value lies on the lattice of `implied_trials`, 0 to 1."
    ] = None
    off_lattice_count: Annotated[
        int | None, "How many values contradict the given trials; null where none are given."
    ] = None
    off_lattice: Annotated[tuple[OffLattice, ...] | None, "The first hundred of them."] = None
    reason: Reason = None


@dataclass(frozen=True, slots=True)
class Opened:
    """The tests that open a report: of grids in which nothing differs, at most alpha of all reports say anything. No
    adjusted p (`q`, `p_holm`, of an axis, of a common direction, of an interaction) is less than that of its axis
    here."""

    p: Annotated[PValue | None, "That all cells are equal: Simes over the axes; null where nothing is tested."]
    axes: Annotated[
        Mapping[str, PValue | None],
        "That nothing differs along an axis: Simes over what is tested along it (trends; variation, steps, onsets; the "
        "common direction, the axis as a whole), and no less than `p`; null where nothing is.",
    ]


PICTURED = ("revision", "peaks")
"""The parts of the statistics that a picture of a grid needs."""


@dataclass(frozen=True, slots=True)
class GridStatistics:
    """Everything that is computed of the cells of a grid; a part of the document has some of it."""

    params: Annotated[Parameters, Presence.OPTIONAL] = field(default_factory=Parameters)
    design_effect: Annotated[
        float | None,
        "As it was posted: how many times the binomial variance the results of a cell have; null where it was not.",
        Presence.OPTIONAL,
    ] = None
    assumes: Assumptions = ()
    opened: Annotated[Opened | None, Presence.OMITTED] = None
    coverage: Annotated[Coverage | None, Presence.OMITTED] = None
    series: Annotated[
        tuple[Series, ...],
        "Along each axis that has an order, one for each measured combination of the other axes' levels.",
        Presence.OPTIONAL,
    ] = ()
    series_left_out: Annotated[Count, "Series beyond the limits, which were not analysed.", Presence.OPTIONAL] = 0
    series_reason: Annotated[
        str | None, "Why no series was analysed although there are cells; null otherwise.", Presence.OPTIONAL
    ] = None
    peaks: Annotated[Peaks | None, Presence.OMITTED] = None
    sensitivity: Annotated[Sensitivity | None, Presence.OMITTED] = None
    precision: Annotated[Precision | None, Presence.OMITTED] = None
    grid_trend: Annotated[
        Mapping[str, GridTrend],
        "All series along an axis together, by the name of the axis.",
        Presence.OPTIONAL,
    ] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Statistics(GridStatistics):
    """The statistics of a grid, a part of them, or why they failed."""

    grid: Annotated[Identifier, "The grid that they are about."] = ""
    revision: Annotated[Count | None, "The revision that they are about.", Presence.OMITTED] = None
    digest: Annotated[Digest | None, "Of that revision's content.", Presence.OMITTED] = None
    state: Annotated[Literal["ready", "failed"], "failed: `reason` says why."] = "ready"
    reason: Annotated[str | None, "Why they failed.", Presence.OPTIONAL] = None
    attempts: Annotated[Count, "How often they were tried in vain.", Presence.OPTIONAL] = 0
    methods_version: Annotated[
        str | None, "Changes whenever a stored number would come out differently.", Presence.OMITTED
    ] = None
    computed_at: Annotated[Instant | None, "When they were computed.", Presence.OMITTED] = None
    metric: MetricDocument = field(default_factory=PostedMetric)
    axes: Annotated[tuple[AxisDocument, ...], "Of the grid, as they were posted.", Presence.OPTIONAL] = ()
    slice: SliceDocument = None


@dataclass(frozen=True, slots=True)
class SeriesThresholds:
    """How one series meets the levels."""

    along: Annotated[str, "The name of the axis."]
    at: At
    status: Status
    count: Annotated[Count, "The measured cells."]
    from_: FirstLevel
    to: LastLevel
    first: Annotated[float, "The value at the first measured level."]
    last: Annotated[float, "The value at the last measured level."]
    direction: Annotated[Direction, "Where the series goes, as in its statistics."]
    thresholds: Annotated[tuple[Threshold, ...], "One for each level that was asked about."]
    noise: Noise = "unknown"


@dataclass(frozen=True, slots=True)
class Thresholds:
    """Where the series of a grid cross the levels that were asked about."""

    grid: Annotated[Identifier, "The grid that they are about."]
    revision: Annotated[Count, "The revision that they are about."]
    metric: MetricDocument = field(default_factory=PostedMetric)
    axes: Annotated[tuple[AxisDocument, ...], "Of the grid, as they were posted.", Presence.OPTIONAL] = ()
    slice: SliceDocument = None
    params: Annotated[Parameters, Presence.OPTIONAL] = field(default_factory=Parameters)
    thresholds: Annotated[tuple[float, ...], "The levels that were asked about, in the metric's unit."] = ()
    series: Annotated[tuple[SeriesThresholds, ...], "Along each axis, or along the one that was asked for."] = ()
    series_left_out: Annotated[Count, "Series beyond the limits, which were not analysed.", Presence.OPTIONAL] = 0
    methods_version: Annotated[
        str | None, "Changes whenever a stored number would come out differently.", Presence.OMITTED
    ] = None
    state: Annotated[Literal["pending", "ready", "failed"], "ready: they are computed."] = "ready"
    computed_at: Annotated[Instant | None, "When they were computed.", Presence.OMITTED] = None
