"""How much a value varies when it is measured again, by benchmark."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from registry.results.terms import About, Count, Input, Instant, Presence, Reason, SliceDocument, Status


@dataclass(frozen=True, slots=True)
class RepeatSpread:
    """A standard deviation of one repeat of a cell, or a ratio of variances."""

    value: Annotated[float, "It."]
    low: Annotated[float, "The interval."]
    high: Annotated[float, "Its end."]
    df: Annotated[float, "Degrees of freedom."]
    cells: Annotated[Count, "From so many."]


@dataclass(frozen=True, slots=True)
class BenchmarkNoise:
    """The noise on one benchmark."""

    benchmark: Annotated[str, "Its name."]
    status: Status
    sentence: Annotated[str, "The same in words."]
    cells: Annotated[Count, "All."] = 0
    between: Annotated[RepeatSpread | None, "As repeats of a cell came out."] = None
    within: Annotated[RepeatSpread | None, "As the trials of one repeat explain it."] = None
    ratio: Annotated[RepeatSpread | None, "Of the variances."] = None
    excess: Annotated[Literal["more", "less", "not_shown"] | None, "By the ratio."] = None


@dataclass(frozen=True, slots=True)
class RepeatNoise:
    """What values vary by of themselves."""

    status: Status
    experiment: Annotated[str, "The experiment."] = ""
    metric: Annotated[str, "The metric."] = ""
    unit: Annotated[str | None, "Its unit."] = None
    alpha: Annotated[float, "Intervals have the level 1 - alpha."] = 0.05
    benchmarks: Annotated[tuple[BenchmarkNoise, ...], "By name."] = ()
    reason: Reason = None
    slice: SliceDocument = None
    inputs: Annotated[tuple[Input, ...], "The grids."] = ()
    selection: About = None
    methods_version: Annotated[str | None, "Of the statistics.", Presence.OMITTED] = None
    computed_at: Annotated[Instant | None, "When it was computed.", Presence.OMITTED] = None
    state: Annotated[Literal["ready"], "It is computed."] = "ready"
