"""Types of lines: means of several names along one axis, as a chart shows them. `registry/views/lines.py` makes them of
a table; `renderings/lines.py` and `charts/lines.py` write them."""

from dataclasses import dataclass, field
from typing import Annotated, Literal

from registry.grids.grid import Kind, Scale
from registry.results.grid import PostedMetric
from registry.results.ranking import Checksum
from registry.results.statistics import Assumptions, MetricDocument
from registry.results.terms import (
    About,
    Count,
    DerivedGrid,
    Input,
    Instant,
    Interval,
    LeftOutByProtocol,
    LevelName,
    Presence,
    Reason,
    SliceDocument,
    SlotPolicy,
    Status,
    Warning,
)

MissingRule = Annotated[
    SlotPolicy,
    "`matched`: a mean is over the slots that all names share that have any; where no two share any, over its own, "
    "which a warning says. `available`: over those that the name has, so that two means may be over different slots.",
]
Suite = Annotated[str | None, "The suite that the benchmarks are from.", Presence.OMITTED]
ShownSlots = Annotated[Count, "Slots that the mean is over."]
StandardError = Annotated[
    float | None,
    "The standard error of the mean, from the noise of its cells; null where the noise of one is unknown.",
]
MeanInterval = Annotated[
    Interval | None,
    "Where the mean would lie if these cells were run again, by their noise; null where the noise of one is unknown.",
]
LeftOutNames = Annotated[tuple[str, ...], "Names that the chart has no room for."]
Inputs = Annotated[tuple[Input, ...], "The grids that were read, at the revisions that were read."]
Derived = Annotated[tuple[DerivedGrid, ...], "Grids made of others, which count in no mean."]
Warnings = Annotated[tuple[Warning, ...], "What a reader should know before believing the picture."]


_MEAN = (
    "The mean over the benchmarks, each with the same weight, of the means of the cells in these slots: the number of "
    "the table, in the metric's unit."
)


@dataclass(frozen=True, slots=True)
class Estimate:
    """The mean of some slots with its noise."""

    mean: Annotated[float, _MEAN]
    slots: ShownSlots
    stderr: StandardError = None
    interval: MeanInterval = None


@dataclass(frozen=True, slots=True)
class LinePoint:
    """The mean of one name at one level. A level at which the name has no mean has no point."""

    level: LevelName
    mean: Annotated[float, _MEAN]
    slots: ShownSlots
    stderr: StandardError = None
    interval: MeanInterval = None


HUES = 8
"""Colours of lines; each is there once more with dashes."""


@dataclass(frozen=True, slots=True)
class Line:
    """The means of one name along the axis, in the order of the levels."""

    name: Annotated[str, "The model, variant, benchmark or level."]
    points: Annotated[tuple[LinePoint, ...], "At the levels that it has a mean at, in their order."]
    look: Annotated[
        Count,
        "Its look in pictures: one of eight colours, from 8 on dashed. It follows when the name was first published in "
        "the experiment, so that names keep theirs.",
    ]


@dataclass(frozen=True, slots=True)
class LineLevel:
    """One level of the axis, and how many slots its means may be over."""

    level: LevelName
    label: Annotated[str, "The level as it was posted."]
    shared: Annotated[Count, "Slots at this level that every name has a cell in that has any there."]
    left_out: Annotated[Count, "Slots that some but not all of them have, at this level."]


@dataclass(frozen=True, slots=True)
class Lines:
    """Several names along one axis of an experiment, a line each."""

    experiment: Annotated[str, "The experiment."]
    metric: MetricDocument = field(default_factory=PostedMetric)
    along: Annotated[str, "The name of the axis."] = ""
    kind: Annotated[Kind, "Of the axis. The levels of a nominal axis have no order, and are not joined."] = "numeric"
    unit: Annotated[str | None, "Of the axis."] = None
    scale: Annotated[Scale, "Of the axis, as it was posted."] = "linear"
    by: Annotated[str, "What has a line: `model`, `variant`, `benchmark` or `axis:<name>`."] = "model"
    missing: MissingRule = "matched"
    suite: Suite = None
    slice: SliceDocument = None
    status: Status = "ok"
    reason: Reason = None
    levels: Annotated[tuple[LineLevel, ...], "Those that any grid read has, in order."] = ()
    lines: Annotated[tuple[Line, ...], "One for each name shown, in the order of the names or levels."] = ()
    not_shown: LeftOutNames = ()
    assumes: Assumptions = ()
    warnings: Warnings = ()
    incomparable: LeftOutByProtocol = None
    derived: Derived = ()
    inputs: Inputs = ()
    inputs_left_out: Annotated[
        Checksum | None,
        "In place of `inputs` of more than a thousand grids: how many, and a checksum of their ids and revisions.",
        Presence.OMITTED,
    ] = None
    selection: About = None
    methods_version: Annotated[
        str | None, "Changes whenever a stored number would come out differently.", Presence.OMITTED
    ] = None
    state: Annotated[Literal["ready"], "The table that the lines are from is computed."] = "ready"
    computed_at: Annotated[Instant | None, "When it was computed.", Presence.OMITTED] = None
