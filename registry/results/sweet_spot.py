"""One coordinate for several grids of an experiment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Literal

from registry.results.blocks import Friedman
from registry.results.inputs import DerivedGrid, Input, Warning
from registry.results.selected import About
from registry.results.terms import At, Count, Instant, LevelName, Presence, Reason, SliceDocument, Status


@dataclass(frozen=True, slots=True)
class Favourite:
    """The best value of one criterion, and the cells that have it."""

    value: Annotated[float, "Of the criterion."]
    at: Annotated[tuple[At, ...], "At most a hundred."]


@dataclass(frozen=True, slots=True)
class SharedPeak:
    """The cells that are a peak in most grids."""

    grids: Annotated[Count, "In so many grids they are a peak."]
    at: Annotated[tuple[At, ...], "At most a hundred."]
    p: Annotated[
        float, "A bound on the probability that any cell is a peak in so many by chance; exact beyond half of them."
    ]


@dataclass(frozen=True, slots=True)
class SweetSpotMargin:
    """One axis: how its levels rank over the grids, by the mean over the other axes."""

    levels: Annotated[tuple[LevelName, ...], "Those that every grid has."]
    best_count: Annotated[tuple[Count, ...], "In how many grids each of the levels is the best."]
    friedman: Friedman


@dataclass(frozen=True, slots=True)
class Compromise:
    """The favourites of several grids, on the cells that all of them have. A criterion is null where there is none."""

    status: Status
    grids: Annotated[Count, "How many there are.", Presence.OPTIONAL] = 0
    common_cells: Annotated[Count, "Cells that all grids have.", Presence.OPTIONAL] = 0
    mean_rank: Annotated[Favourite | None, "By the mean of the ranks; 1 is the best.", Presence.OPTIONAL] = None
    best_rank_p: Annotated[
        float | None,
        "A bound on the probability that any cell had so low a mean rank by chance.",
        Presence.OPTIONAL,
    ] = None
    mean_z: Annotated[
        Favourite | None, "By the mean of the values, each grid standardised (ddof 1).", Presence.OPTIONAL
    ] = None
    mean_regret: Annotated[
        Favourite | None, "By the mean distance from the best of each grid, in the metric's unit.", Presence.OPTIONAL
    ] = None
    mean_normalised_regret: Annotated[
        Favourite | None, "The same, each distance divided by the range of its grid.", Presence.OPTIONAL
    ] = None
    minimax_normalised_regret: Annotated[Favourite | None, "By the largest of these distances.", Presence.OPTIONAL] = (
        None
    )
    pareto: Annotated[
        tuple[At, ...],
        "The cells that no other matches everywhere and beats somewhere, at most a hundred.",
        Presence.OPTIONAL,
    ] = ()
    pareto_count: Annotated[Count, "All of them.", Presence.OPTIONAL] = 0
    agreement: Annotated[SharedPeak | None, "Whether the grids share a peak.", Presence.OPTIONAL] = None
    friedman: Annotated[
        Friedman | None, "Whether the cells differ over the grids, which are the blocks.", Presence.OPTIONAL
    ] = None
    axes: Annotated[Mapping[str, SweetSpotMargin] | None, "By the name of the axis.", Presence.OPTIONAL] = None
    reason: Reason = None


@dataclass(frozen=True, slots=True)
class SweetSpot(Compromise):
    """One coordinate for the grids of an experiment, and whether they agree."""

    experiment: Annotated[str, "The experiment."] = ""
    metric: Annotated[str, "The name of the metric."] = ""
    slice: SliceDocument = None
    state: Annotated[Literal["ready", "failed"], "failed: `reason` says why."] = "ready"
    inputs: Annotated[tuple[Input, ...], "The grids, and which revision of each.", Presence.OPTIONAL] = ()
    derived: Annotated[
        tuple[DerivedGrid, ...],
        "Grids made of others, such as an average: not counted.",
        Presence.OPTIONAL,
    ] = ()
    warnings: Annotated[
        tuple[Warning, ...],
        "Doubts about grids of one benchmark that were measured in different ways; absent without any.",
        Presence.OPTIONAL,
    ] = ()
    selection: About = None
    methods_version: Annotated[
        str | None, "Changes whenever a stored number would come out differently.", Presence.OMITTED
    ] = None
    computed_at: Annotated[Instant | None, "When it was computed.", Presence.OMITTED] = None
    attempts: Annotated[Count, "How often it was tried in vain.", Presence.OPTIONAL] = 0
