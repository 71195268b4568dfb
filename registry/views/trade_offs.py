"""Two quantities of several names, each a table of means or a label, and which of the names nobody beats in both."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from registry.errors import Fault, Invalid
from registry.grids.grid import Direction
from registry.grids.intake.levels import read_number
from registry.grids.slices import Slice, slice_of, with_slice
from registry.results.aggregates import Aggregates
from registry.results.inputs import Warning
from registry.results.lines import Estimate
from registry.results.policies import SlotPolicy
from registry.results.set_aside import lacking_text
from registry.results.trade_offs import NameWithout, Quantity, TradeOff, TradeOffPoint
from registry.views.front import Standing, places_of
from registry.views.lines import noise_unknown

MOST_POINTS = 100


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two quantities as it is asked for. `better`: its better end where the metric says none."""

    axis: Literal["x", "y"]
    source: Literal["metric", "label"]
    name: str
    at: Slice = ()
    better: Direction | None = None


@dataclass(frozen=True, slots=True)
class Known:
    """A side of all names: its description, where each name that has it stands, and why the others have none."""

    quantity: Quantity
    means: Mapping[str, tuple[Estimate, Standing]]
    why: Mapping[str, str]
    table: Aggregates | None = None


def of_table(side: Side, table: Aggregates, names: Sequence[str]) -> Known:
    """A quantity from a table by one dimension; `Invalid` for grids on several scales, and for a metric that says no
    better end where none is given."""
    if table.status == "not_comparable":
        raise Invalid([Fault(f"/{side.axis}", str(table.reason))])
    direction = table.direction or side.better
    if direction is None:
        told = f"the metric {side.name} says no better end; give {side.axis}_better"
        raise Invalid([Fault(f"/{side.axis}", told)])
    sign, [by] = -1.0 if direction == "lower" else 1.0, table.group_by
    means = {
        str(one.at[by]): (
            Estimate(one.value, one.n, one.stderr, one.interval),
            Standing(sign * one.value, one.stderr, one.df),
        )
        for one in table.entries
        if one.value is not None
    }
    what = with_slice(side.name, side.at)
    lacks = dict.fromkeys(names, f"has no cell of {what}")
    lacks |= {getattr(one, by): "its protocol differs in keys that bind" for one in table.incomparable or ()}
    lacks |= {str(one.at[by]): f"shares no slot of {what}" for one in table.entries if one.cells}
    lacks |= {one.name: f"set aside: {lacking_text(one)}" for one in table.set_aside}
    why = {name: lacks[name] for name in names if name not in means}
    bounds = table.unit, table.lower, table.upper
    quantity = Quantity("metric", side.name, direction, *bounds, table.slice, table.slots.shared)
    return Known(quantity, means, why, table)


def of_label(side: Side, texts: Mapping[str, Sequence[str]], names: Sequence[str]) -> Known:
    """The number that the grids of each name have as a label; lower is better unless another end is given."""
    quantity = Quantity("label", side.name, side.better or "lower", slice=None)
    sign = -1.0 if quantity.direction == "lower" else 1.0
    means, why = dict[str, tuple[Estimate, Standing]](), dict[str, str]()
    for name in names:
        numbers = {read_number(text) for text in texts.get(name, ())}
        number = next(iter(numbers)) if len(numbers) == 1 else None
        if number is not None:
            means[name] = Estimate(number, 0), Standing(sign * number, exact=True)
        elif not numbers:
            why[name] = f"has no label {side.name}"
        else:
            why[name] = f"its label {side.name} is not one number: {', '.join(sorted(texts[name])[:3])}"
    return Known(quantity, means, why)


def trade_off_of(
    experiment: str,
    by: str,
    missing: SlotPolicy,
    both: tuple[Known, Known],
    without: Mapping[str, str],
    not_shown: Sequence[str],
) -> TradeOff:
    """The trade-off of the names that have both; `without` says why others have not both."""
    why = dict(without)
    for name in {*both[0].why, *both[1].why} - {*why}:
        why[name] = "; ".join(dict.fromkeys(one.why[name] for one in both if name in one.why))
    points = _points(sorted(both[0].means.keys() & both[1].means.keys()), both, tested=missing == "matched")
    tables = [one.table for one in both if one.table is not None]
    reason = next((one.reason for one in tables if one.reason), "no name has both quantities")
    return TradeOff(
        experiment=experiment,
        x=both[0].quantity,
        y=both[1].quantity,
        by=by,
        missing=missing,
        suite=tables[0].suite,
        status="ok" if points else "insufficient",
        reason=None if points else reason,
        points=tuple(points),
        front=tuple(point.name for point in points if point.place == "front"),
        without=tuple(NameWithout(name, why[name]) for name in sorted(why)),
        not_shown=tuple(not_shown),
        assumes=tuple(dict.fromkeys(name for one in tables for name in one.assumes)),
        warnings=(*dict.fromkeys(one for table in tables for one in table.warnings), *_warnings(both, points)),
        incomparable=tuple(dict.fromkeys(one for table in tables for one in table.incomparable or ())) or None,
        derived=tuple(dict.fromkeys(one for table in tables for one in table.derived)),
        inputs=tuple(dict.fromkeys(one for table in tables for one in table.inputs)),
    )


def _points(names: Sequence[str], both: tuple[Known, Known], *, tested: bool) -> list[TradeOffPoint]:
    standings = [(both[0].means[name][1], both[1].means[name][1]) for name in names]
    found = [
        TradeOffPoint(name, both[0].means[name][0], both[1].means[name][0], place)
        for name, place in zip(names, places_of(standings, tested=tested), strict=True)
    ]
    return sorted(found, key=lambda point: (point.x.mean, point.name))


def _warnings(both: tuple[Known, Known], points: Sequence[TradeOffPoint]) -> Iterator[Warning]:
    for place, known in enumerate(both):
        unknown = sum((point.x, point.y)[place].interval is None for point in points)
        if known.quantity.source == "metric" and unknown:
            warning = noise_unknown(unknown, len(points), f"means of {known.quantity.name}")
            what = with_slice(known.quantity.name, slice_of(known.quantity.slice or {}))
            yield replace(warning, detail=f"{what}: {warning.detail}")
