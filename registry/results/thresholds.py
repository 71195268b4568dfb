"""Where the series of a grid cross levels that were asked about."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Literal

from registry.results.courses import Direction, Threshold
from registry.results.grid import PostedMetric
from registry.results.parameters import Parameters
from registry.results.statistics import AxisDocument, MetricDocument
from registry.results.terms import (
    At,
    Count,
    FirstLevel,
    Identifier,
    Instant,
    Interval,
    LastLevel,
    Presence,
    SliceDocument,
    Status,
)


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


@dataclass(frozen=True, slots=True)
class LevelCounts:
    """The measured cells beside a level."""

    level: Annotated[float, "As it was asked about."]
    cells: Annotated[Count, "All of them."]
    above: Annotated[Count, "Those whose value is above it."]
    below: Annotated[Count, "Those whose value is below it."]
    share_above: Annotated[float, "`above` of `cells`, 0 to 1."]
    interval: Annotated[
        Interval | None,
        "How many truly lie above: at least those that surely do, at most those that do not surely lie below. Null "
        "without noise.",
    ] = None


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
    counts: Annotated[
        tuple[LevelCounts, ...],
        "Cells of the whole grid or slice above and below each level.",
        Presence.OPTIONAL,
    ] = ()
    series_left_out: Annotated[Count, "Series beyond the limits, which were not analysed.", Presence.OPTIONAL] = 0
    methods_version: Annotated[
        str | None, "Changes whenever a stored number would come out differently.", Presence.OMITTED
    ] = None
    state: Annotated[Literal["pending", "ready", "failed"], "ready: they are computed."] = "ready"
    computed_at: Annotated[Instant | None, "When they were computed.", Presence.OMITTED] = None
