"""Types of a trade-off: two quantities of several names, and which of the names nobody beats in both.
`registry/views/trade_offs.py` makes them; `renderings/trade_off.py` and `charts/trade_off.py` write them."""

from dataclasses import dataclass
from typing import Annotated, Literal

from registry.grids.grid import Direction
from registry.results.lines import (
    Derived,
    Estimate,
    Inputs,
    LeftOutNames,
    MissingRule,
    Suite,
    Warnings,
)
from registry.results.statistics import Assumptions
from registry.results.terms import About, Count, LeftOutByProtocol, Reason, SliceDocument, Status

FrontPlace = Annotated[
    Literal["front", "open", "untested", "behind"],
    "front: no other mean is at least as good in both and better in one. open: another is, within noise. untested: "
    "another is, and no test of them was possible, for noise is not known or each mean is over slots of its own. "
    "behind: one other is better in both, by one-sided tests, at alpha over all ordered pairs of the picture together.",
]


@dataclass(frozen=True, slots=True)
class Quantity:
    """One of the two quantities."""

    source: Annotated[Literal["metric", "label"], "Whether it is measured, or a numeric label of the grids."]
    name: Annotated[str, "The name of the metric, or the key of the label."]
    direction: Annotated[Direction, "Its better end."]
    unit: Annotated[str | None, "Of the metric."] = None
    lower: Annotated[float | None, "The metric's lower bound."] = None
    upper: Annotated[float | None, "The metric's upper bound."] = None
    slice: SliceDocument = None
    shared: Annotated[Count | None, "Slots that every name has a cell in that has any; null for a label."] = None


@dataclass(frozen=True, slots=True)
class TradeOffPoint:
    """One name: both of its means, and its place by the front."""

    name: Annotated[str, "The model or variant."]
    x: Estimate
    y: Estimate
    place: FrontPlace = "front"


@dataclass(frozen=True, slots=True)
class NameWithout:
    """A name that has no point, and why."""

    name: Annotated[str, "The model or variant."]
    reason: Annotated[str, "Why, in words."]


@dataclass(frozen=True, slots=True)
class TradeOff:
    """Two quantities of the names of an experiment, a point a name."""

    experiment: Annotated[str, "The experiment."]
    x: Quantity
    y: Quantity
    by: Annotated[str, "What has a point: `model` or `variant`."] = "model"
    missing: MissingRule = "matched"
    alpha: Annotated[float, "The level of the tests; intervals have the level 1 - alpha."] = 0.05
    suite: Suite = None
    status: Status = "ok"
    reason: Reason = None
    points: Annotated[tuple[TradeOffPoint, ...], "In the order of x, and of their names."] = ()
    front: Annotated[tuple[str, ...], "The names on the front, in the order of x."] = ()
    without: Annotated[tuple[NameWithout, ...], "Names that one of the quantities is not known of."] = ()
    not_shown: LeftOutNames = ()
    assumes: Assumptions = ()
    warnings: Warnings = ()
    incomparable: LeftOutByProtocol = None
    derived: Derived = ()
    inputs: Inputs = ()
    selection: About = None
    state: Annotated[Literal["ready"], "The tables that it is from are computed."] = "ready"
