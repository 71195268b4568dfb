"""How far one grid is from another."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Literal

from registry.results.gaps import CellGap, Contrast, GapMargin, GapTrend
from registry.results.grid import PostedMetric
from registry.results.inputs import Warning
from registry.results.odds import BreslowDay, GapMantelHaenszel
from registry.results.protocols import DifferingKeys
from registry.results.statistics import Assumptions, AxisDocument
from registry.results.terms import (
    At,
    Count,
    Digest,
    Identifier,
    Instant,
    Keyword,
    Presence,
    Reason,
    SliceDocument,
    Status,
)


@dataclass(frozen=True, slots=True)
class ComparedRevision:
    """A revision of a grid that a comparison is made from."""

    grid: Annotated[Identifier, "The grid's id."] = ""
    revision: Annotated[Count, "The revision that was compared."] = 0
    digest: Annotated[Digest, "Of that revision's content."] = ""


@dataclass(frozen=True, slots=True)
class ComparedGrid(ComparedRevision):
    """A grid of a comparison."""

    experiment: Annotated[str, "Aliases are replaced by what they stand for."] = ""
    benchmark: Annotated[str, "What was measured."] = ""
    model: Annotated[str, "What it was measured on."] = ""
    variant: Annotated[str, "The method or condition."] = ""
    metric: Annotated[PostedMetric, Keyword("$ref", "#/components/schemas/Metric")] = field(
        default_factory=PostedMetric
    )


@dataclass(frozen=True, slots=True)
class OnlyIn:
    """Cells that only one of the grids has."""

    count: Annotated[Count, "How many cells."] = 0
    at: Annotated[tuple[At, ...], "The first hundred, in the grid's own order."] = ()


@dataclass(frozen=True, slots=True)
class Agreement:
    """Kendall's tau-b over the common cells."""

    status: Status
    tau: Annotated[float | None, "From -1 to 1."] = None
    reason: Reason = None


@dataclass(frozen=True, slots=True)
class Gap(Contrast):
    """The gap between two grids: null and empty fields where the numbers would have no meaning."""

    status: Annotated[
        Status,
        "confounded: more than one of model, benchmark, variant, metric differs. not_comparable: no cell in common, "
        "or protocols that differ in a binding key. undefined: units, directions or scales differ, so that only "
        "coverage and agreement mean anything.",
    ]
    alpha: Annotated[float, "The level of tests and intervals."] = 0.05
    differs: Annotated[tuple[str, ...], "What is not the same in the two grids."] = ()
    protocol: DifferingKeys = None
    only_in_baseline: OnlyIn = OnlyIn()
    only_in_contender: OnlyIn = OnlyIn()
    by: Annotated[Mapping[str, GapMargin] | None, "By the levels of each axis."] = None
    along: Annotated[tuple[GapTrend, ...], "How the gap changes along each axis with an order."] = ()
    mantel_haenszel: GapMantelHaenszel | None = None
    breslow_day: BreslowDay | None = None
    agreement: Annotated[Agreement | None, "Are the same cells hard for both?"] = None
    assumes: Assumptions = ()
    cells: Annotated[tuple[CellGap, ...], "The common cells, in row-major order."] = ()
    cells_left_out: Annotated[Count, "Common cells beyond the limit, which are not listed."] = 0


@dataclass(frozen=True, slots=True)
class Comparison(Gap):
    """How far one grid is from another."""

    baseline: ComparedGrid = ComparedGrid()
    contender: ComparedGrid = ComparedGrid()
    axes: Annotated[tuple[AxisDocument, ...], "The axes that both grids have, with the levels of both."] = ()
    slice: SliceDocument = None
    inputs: Annotated[tuple[ComparedRevision, ...], "Both grids, the baseline first."] = ()
    warnings: Annotated[tuple[Warning, ...], "Doubts about the inputs."] = ()
    methods_version: Annotated[
        str | None, "Changes whenever a stored number would come out differently.", Presence.OMITTED
    ] = None
    computed_at: Annotated[Instant | None, "When it was computed.", Presence.OMITTED] = None
    state: Annotated[Literal["ready"], "It is computed."] = "ready"
