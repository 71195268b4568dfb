"""Two quantities of several names, each a table of means or a label, and which of the names nobody beats in both.

Which of several points nobody beats in both quantities, and which of the others noise cannot tell from those. A point
is on the front when no other mean is at least as good in both and better in one (Pareto). It is behind when one other
point is better in both: for each quantity a one-sided test, the larger p of the two deciding, which keeps the level
whatever the truth (intersection-union test: Berger 1982, Technometrics 24, 295-300), at 5 % divided by the number of
other points (Bonferroni). A quantity without noise, as a label is, needs to be at least as good. What is neither is
open: another point looks better, but it may be noise.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from registry.errors import Fault, Invalid
from registry.grids.grid import Direction
from registry.grids.intake.levels import read_number
from registry.grids.slices import Slice, slice_of, with_slice
from registry.plans.closed_forms import quantile
from registry.plans.means import t_quantile
from registry.results.aggregates import Aggregates
from registry.results.lines import Estimate
from registry.results.terms import SlotPolicy, Warning, lacking_text
from registry.results.trade_offs import FrontPlace, NameWithout, Quantity, TradeOff, TradeOffPoint
from registry.views.lines import noise_unknown

ALPHA = 0.05
MOST_POINTS = 100


@dataclass(frozen=True, slots=True)
class Standing:
    """One quantity of a point, turned so that more is better. `exact`: it has no noise. `stderr` None otherwise: its
    noise is unknown. `df`: of an estimated error."""

    value: float
    stderr: float | None = None
    df: float | None = None
    exact: bool = False


Pair = tuple[Standing, Standing]


def places_of(points: Sequence[Pair], *, tested: bool = True) -> list[FrontPlace]:
    """The place of each point by the front; without tests none is behind."""
    share = 1 - ALPHA / max(1, len(points) - 1)
    found: list[FrontPlace] = []
    for point in points:
        better = [other for other in points if dominates(other, point)]
        if not better:
            found.append("front")
        elif tested and any(all(_better(a, b, share) for a, b in zip(other, point, strict=True)) for other in better):
            found.append("behind")
        else:
            found.append("open")
    return found


def dominates(one: Pair, other: Pair) -> bool:
    """Return whether one point is at least as good in both, and better in one."""
    pairs = [(a.value, b.value) for a, b in zip(one, other, strict=True)]
    return all(a >= b for a, b in pairs) and any(a > b for a, b in pairs)


def _better(one: Standing, other: Standing, share: float) -> bool:
    """Return whether the difference is beyond the noise; an exact quantity is not tested."""
    if one.exact and other.exact:
        return one.value >= other.value
    if one.stderr is None or other.stderr is None:
        return False
    error = math.hypot(one.stderr, other.stderr)
    if error == 0.0 or math.isinf(one.value - other.value):
        return False
    return (one.value - other.value) / error > _critical(one, other, error, share)


def _critical(one: Standing, other: Standing, error: float, share: float) -> float:
    """The quantile of the normal law, or of Student's with Welch's degrees of freedom where errors are estimated."""
    estimated = [(each.stderr or 0.0, each.df) for each in (one, other) if each.df]
    if not estimated:
        return quantile(share)
    return t_quantile(share, max(1, math.floor(1 / sum((each / error) ** 4 / df for each, df in estimated))))


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
