"""All statistics of one grid."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Literal

from registry.results.courses import Series, Split
from registry.results.grid import PostedAxis, PostedMetric
from registry.results.parameters import Parameters
from registry.results.peaks import Coverage, Peaks, Precision
from registry.results.sensitivity import Sensitivity
from registry.results.terms import Count, Digest, Identifier, Instant, Keyword, Presence, SliceDocument
from registry.results.trend_tests import GridTrend

Assumptions = Annotated[
    tuple[str, ...],
    "What the tests take for granted, by name: independent_trials (no design_effect was posted), "
    "design_effect_of_repeats (repeats vary more than their trials explain, and say by how much), independent_levels "
    "(no noise is known: a slow drift looks like a trend), "
    "exchangeable_cells (no noise is known), independent_items (items are draws of one kind), "
    "p(1-p)/questions (the largest variance that counts leave possible).",
    Presence.OPTIONAL,
]
MetricDocument = Annotated[PostedMetric, Keyword("$ref", "#/components/schemas/Metric"), Presence.OPTIONAL]
AxisDocument = Annotated[PostedAxis, Keyword("$ref", "#/components/schemas/Axis")]


@dataclass(frozen=True, slots=True)
class LostFilter:
    """Series whose last value is worse than the first by more than this; every q is over all of them, as without it."""

    more_than: Annotated[float, "As it was asked for."]
    of: Annotated[Count, "All series."]


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
    grid_split: Annotated[
        Mapping[str, Split] | None,
        "The splits of all series along an axis together, by its name.",
        Presence.OMITTED,
    ] = None
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
    lost: Annotated[LostFilter | None, "Only where `lost` was asked for.", Presence.OMITTED] = None
