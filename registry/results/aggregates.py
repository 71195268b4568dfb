"""Types of a table of cells of many grids: means, bests or counts for each combination of some dimensions.
`workers/statistics/aggregates.py` fills them; `renderings/aggregates.py` and the page of tables write them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Literal

from registry.grids.grid import Direction, Kind, Scale
from registry.results.ranking import Checksum
from registry.results.statistics import Assumptions
from registry.results.terms import (
    About,
    Adjusted,
    Count,
    DerivedGrid,
    Input,
    Instant,
    Interval,
    LeftOutByProtocol,
    Place,
    Presence,
    Reason,
    Reduction,
    SetAside,
    SliceDocument,
    SlotPolicy,
    Status,
    Warning,
)

AtEntry = Annotated[
    Mapping[str, Place],
    "A level for each dimension of `group_by`, under the name that it has there: `model`, `axis:Ratio`.",
]


@dataclass(frozen=True, slots=True)
class DimensionLevels:
    """The levels of one dimension of the table, in order."""

    dimension: Annotated[str, "`benchmark`, `model`, `variant` or `axis:<name>`."]
    levels: Annotated[
        tuple[Place, ...], "In the order of the axis, or of the alphabet; those of the first dimension by `sort`."
    ]
    labels: Annotated[
        tuple[str, ...] | None,
        "The levels as they were posted, where a label differs from its number.",
        Presence.OMITTED,
    ] = None
    kind: Annotated[Kind | None, "Of an axis. The levels of a nominal one have no order.", Presence.OMITTED] = None
    unit: Annotated[str | None, "Of an axis.", Presence.OMITTED] = None
    scale: Annotated[Scale | None, "Of an axis, as it was posted.", Presence.OMITTED] = None


@dataclass(frozen=True, slots=True)
class Spread:
    """How far the levels that an entry is averaged over differ."""

    sd: Annotated[float, "Standard deviation over the levels (ddof 1), in the metric's unit."]
    low: Annotated[float, "The smallest of them."]
    high: Annotated[float, "The largest of them."]


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of the table. An entry without a cell has no value: null, never 0."""

    at: AtEntry
    value: Annotated[
        float | None,
        "The mean over the levels of `over`, each with the same weight, of the mean, the best or the number of the "
        "cells there. In the metric's unit; a number of cells for `count`.",
    ]
    n: Annotated[Count, "Slots that the value is made of."]
    cells: Annotated[Count, "Its measured cells; those beyond `n` are in slots that were left out."]
    over: Annotated[Count, "Levels of `over` that it is averaged over; 1 where nothing is named there."]
    interval: Annotated[
        Interval | None,
        "About `rerun`: these cells measured again. For `best` about the best true value of the candidates: it need "
        "not surround `value`, which luck raises. Null without noise.",
    ] = None
    interval_reason: Annotated[str | None, "Why there is no interval.", Presence.OMITTED] = None
    new_benchmarks: Annotated[
        Interval | None,
        "About other benchmarks of the same kind: Student's t over the benchmarks. Only for means over two benchmarks "
        "or more.",
        Presence.OMITTED,
    ] = None
    spread: Annotated[Spread | None, "For two levels of `over` or more.", Presence.OMITTED] = None
    stderr: Annotated[
        float | None, "The standard error of a mean, by the noise of its cells, where that is known.", Presence.OMITTED
    ] = None
    df: Annotated[
        float | None, "Its degrees of freedom, where errors were estimated from repeats.", Presence.OMITTED
    ] = None


@dataclass(frozen=True, slots=True)
class RowMean:
    """How good one row of a table is: the mean over its columns."""

    level: Annotated[Place, "The level of the first dimension."]
    mean: Annotated[
        float | None,
        "That of a ranking of the same selection: over the benchmarks, each with the same weight, of the slots there "
        "that all rows have that have any and are not set aside (with `available`: of its own that another row has "
        "too). Null of a row that lacks too much of what most others have.",
    ]
    columns: Annotated[Count, "Columns of its own that count in it."]
    mean_interval: Annotated[
        Interval | None, "About `rerun`, where the noise of all its cells is known; only of `value=mean`."
    ] = None
    adjusted: Adjusted = None


@dataclass(frozen=True, slots=True)
class SharedSlots:
    """A slot is a combination of levels of the dimensions that are not grouped by, in one column."""

    total: Annotated[Count, "Slots in which any entry was measured."]
    shared: Annotated[
        Count, "Slots in which every entry was measured that has any cell, in the column where the rows are names."
    ]


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a table: the same levels of all dimensions but the first."""

    at: Annotated[Mapping[str, Place], "A level for each dimension of `group_by` but the first."]
    total: Annotated[Count, "Slots in which any entry of the column was measured."]
    shared: Annotated[Count, "Slots in which every entry of the column was measured that has any."]
    set: Annotated[Count, "Columns with the same number share the same slots."]


@dataclass(frozen=True, slots=True)
class Remedy:
    """The smallest set of entries without which any slot is shared; of several, one that leaves the most."""

    without: Annotated[tuple[AtEntry, ...], "The entries to leave out, a hundred at most."]
    count: Annotated[Count, "How many they are."]
    shared: Annotated[Count, "The slots that the others share."]


@dataclass(frozen=True, slots=True)
class LeftOut:
    """What the values are not made of."""

    slots: Annotated[Count, "Slots that not every entry has; none for missing=available."] = 0
    cells: Annotated[Count, "Measured cells in them."] = 0
    empty: Annotated[Count, "Entries without any cell."] = 0
    grids: Annotated[Count, "Grids without an axis that `group_by` or `over` names."] = 0


@dataclass(frozen=True, slots=True)
class Aggregation:
    """The numbers of a table."""

    status: Status
    dimensions: Annotated[tuple[DimensionLevels, ...], "Those of `group_by`, with their levels."] = ()
    entries: Annotated[tuple[Entry, ...], "Every combination of the levels, the last dimension fastest."] = ()
    rows: Annotated[
        tuple[RowMean, ...], "Of a table of names by one other dimension: each row, in order.", Presence.OPTIONAL
    ] = ()
    reduced: Annotated[
        tuple[str, ...],
        "Dimensions of several levels that are neither grouped by nor averaged over: `value` reduces them first.",
    ] = ()
    slots: Annotated[SharedSlots, Presence.OPTIONAL] = SharedSlots(0, 0)
    left_out: Annotated[LeftOut, Presence.OPTIONAL] = LeftOut()
    columns: Annotated[
        tuple[Column, ...], "Of a table of names by something else: what is compared in each column.", Presence.OPTIONAL
    ] = ()
    set_aside: Annotated[
        tuple[SetAside, ...],
        "Names without a value, for they cost the others of their column slots.",
        Presence.OPTIONAL,
    ] = ()
    remedy: Annotated[Remedy | None, "Only where no slot is shared.", Presence.OMITTED] = None
    assumes: Assumptions = ()
    warnings: Annotated[
        tuple[Warning, ...], "Doubts about the inputs, and about comparing the entries.", Presence.OPTIONAL
    ] = ()
    reason: Reason = None


@dataclass(frozen=True, slots=True)
class Aggregates(Aggregation):
    """A table of means, bests or counts over the grids of an experiment."""

    experiment: Annotated[str, "The experiment."] = ""
    metric: Annotated[str, "The name of the metric."] = ""
    unit: Annotated[str | None, "Of the values and intervals, as far as the grids agree."] = None
    direction: Annotated[Direction | None, "Which end is better; null where neither is."] = None
    lower: Annotated[float | None, "Lower bound of the values, where they have one.", Presence.OMITTED] = None
    upper: Annotated[float | None, "Upper bound of the values, where they have one.", Presence.OMITTED] = None
    group_by: Annotated[tuple[str, ...], "The dimensions of the table.", Presence.OPTIONAL] = ()
    over: Annotated[tuple[str, ...], "The dimensions whose levels each entry is averaged over.", Presence.OPTIONAL] = ()
    value: Annotated[Reduction, "How the cells of one level of `over` become a number."] = "mean"
    missing: Annotated[
        SlotPolicy,
        "matched: only slots that every entry has, or, where the rows are names, every one of its column; "
        "each its own where no two names share any, which a warning says. available: "
        "each entry over its own slots; entries are then not comparable.",
    ] = "matched"
    alpha: Annotated[float, "Intervals have the level 1 - alpha."] = 0.05
    sort: Annotated[str, "What the rows are in the order of: `name`, `mean`, or the column of this name."] = "name"
    suite: Annotated[str | None, "The suite that the benchmarks are from.", Presence.OMITTED] = None
    slice: SliceDocument = None
    inputs: Annotated[
        tuple[Input, ...], "The grids, and which revision of each; a thousand at most.", Presence.OPTIONAL
    ] = ()
    inputs_left_out: Annotated[
        Checksum | None,
        "In place of `inputs` of more than a thousand grids: how many, and a checksum of their ids and revisions.",
        Presence.OMITTED,
    ] = None
    derived: Annotated[
        tuple[DerivedGrid, ...],
        "Grids that were declared to be made of others, such as an average: not counted.",
        Presence.OPTIONAL,
    ] = ()
    incomparable: LeftOutByProtocol = None
    selection: About = None
    methods_version: Annotated[
        str | None, "Changes whenever a stored number would come out differently.", Presence.OMITTED
    ] = None
    state: Annotated[Literal["ready", "failed"], "failed: `reason` says why."] = "ready"
    computed_at: Annotated[Instant | None, "When it was computed.", Presence.OMITTED] = None
    attempts: Annotated[Count | None, "How often it was tried in vain.", Presence.OMITTED] = None
