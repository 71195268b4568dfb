"""Course of a series: its shape, where it crosses levels, where it rests, and how far it is monotone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from registry.results.terms import Count, FirstLevel, LastLevel, P, Place, Reason, Status

ShapeKind = Literal["constant", "linear", "step", "hinge", "complex"]
Side = Literal["below", "above"]
ShapeCriterion = Literal["chi2", "bic"]


@dataclass(frozen=True, slots=True)
class ShapeModel:
    """One of the models that a shape is chosen from."""

    kind: Annotated[ShapeKind, "The course that the model takes."]
    misfit: Annotated[float, "Chi-squared with known noise, else the residual sum of squares."]
    parameters: Annotated[Count, "How many numbers were fitted; a position counts as one."]
    at: Annotated[Place | None, "The first level after a step, or the level of a hinge."]
    p: P
    bic: Annotated[float | None, "The Bayesian information criterion; null with known noise."]


@dataclass(frozen=True, slots=True)
class SeriesShape:
    """The first of constant, linear, step, hinge that fits within the noise, else complex; without trials by BIC."""

    status: Status
    kind: Annotated[ShapeKind | None, "Null where too few points or no noise forbid an answer."]
    at: Annotated[Place | None, "The first level after a step, or the level of a hinge; null of other shapes."]
    criterion: Annotated[ShapeCriterion | None, "What chose the model: the noise (chi2), or bic where it is unknown."]
    models: Annotated[tuple[ShapeModel, ...], "All that were tried, the simplest first; none with too few points."]
    reason: Reason = None


@dataclass(frozen=True, slots=True)
class Crossing:
    """Where the line through the cells of a series crosses a level."""

    at: Annotated[float, "On the axis, interpolated between the neighbouring points."]
    direction: Annotated[Literal["falling", "rising"], "Which way the series goes there."]


@dataclass(frozen=True, slots=True)
class CrossingInterval:
    """The levels between which a truth that only falls, or only rises, crosses."""

    level: Annotated[float, "The probability with which such an interval holds the crossing."]
    low: Annotated[Place | None, "Null where the crossing may lie before the axis."]
    high: Annotated[Place | None, "Null where the crossing may lie beyond the axis."]


@dataclass(frozen=True, slots=True)
class Threshold:
    """How a series meets a level. A cell fails when it lies on `side` of the level, strictly; else it reaches it."""

    level: Annotated[float, "In the metric's unit."]
    side: Annotated[Side, "The failing side: below where higher is better."]
    crossings: Annotated[tuple[Crossing, ...], "Every place where the line through the cells crosses the level."]
    first_failing: Annotated[Place | None, "The first measured level that fails; null where none does."]
    first_reaching: Annotated[Place | None, "The first measured level that passes; null where none does."]
    sustained_from: Annotated[
        Place | None, "The first level from which every later cell passes; null where the last one fails."
    ]
    sustained_until: Annotated[
        Place | None, "The last level before the first that fails; null where the first one fails or none does."
    ]
    recovers: Annotated[bool, "A cell passes after one that failed."]
    interval: Annotated[
        CrossingInterval | None,
        "The levels between which a truth that only falls, or only rises, crosses; from the cells' noise, "
        "simultaneous. `low` or `high` is null where the crossing may lie beyond the axis; all of it is null without "
        "noise, and where the cells contradict such a truth.",
    ]


@dataclass(frozen=True, slots=True)
class Plateau:
    """The longest run of neighbouring cells that differ by at most the tolerance; the first of equals."""

    tolerance: Annotated[float, "`params.equivalence`, in the metric's unit."]
    start: FirstLevel
    end: LastLevel
    length: Annotated[Count, "The cells of the run."]
    mean: Annotated[float, "Of the cells of the run, in the metric's unit."]


@dataclass(frozen=True, slots=True)
class MonotoneBlock:
    """A run of cells to which a monotone fit gives one value."""

    from_: FirstLevel
    to: LastLevel
    count: Annotated[Count, "The cells of the run."]
    value: Annotated[float, "In the metric's unit."]


@dataclass(frozen=True, slots=True)
class MonotoneFit:
    """A fit that only rises, or only falls."""

    sse: Annotated[float, "The residual sum of squares."]
    blocks: Annotated[tuple[MonotoneBlock, ...], "The first hundred."]
    blocks_left_out: Annotated[Count, "The others."]
    violations: Annotated[Count, "The steps between neighbouring cells that go the other way."]


@dataclass(frozen=True, slots=True)
class Drawdown:
    """The largest loss from the best cell so far."""

    size: Annotated[float, "In the metric's unit, at least 0."]
    from_: FirstLevel
    to: LastLevel


@dataclass(frozen=True, slots=True)
class Monotone:
    """Isotonic fits both ways with their blocks, and the largest fall from an earlier best."""

    increasing: MonotoneFit
    decreasing: MonotoneFit
    drawdown: Drawdown | None
