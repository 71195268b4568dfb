"""Two quantities of several names: a mean of each over the slots that all of them share, and the front."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from registry.charts.front import Standing, places_of
from registry.charts.lines import Shown, no_shared_slot, noise_unknown
from registry.charts.means import Mean, assumes, mean_of
from registry.charts.metrics import common_metric
from registry.charts.protocols import protocol_warnings
from registry.charts.slots import Cells, Source, placed, shared_slots
from registry.errors import Fault, Invalid
from registry.grids.grid import Direction, Metric
from registry.grids.intake.levels import read_number
from registry.grids.slices import Slice, slice_document, slice_of, with_slice
from registry.results.inputs import Input, Warning
from registry.results.lines import Estimate, Sharing
from registry.results.trade_offs import NameWithout, Quantity, TradeOff, TradeOffPoint

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
class Measured:
    """A side with the grids that it is read from; those of the other side for a label."""

    side: Side
    sources: Sequence[Source]


@dataclass(frozen=True, slots=True)
class _Known:
    """A side of all names: its description, and the mean of each name that has one."""

    quantity: Quantity
    means: Mapping[str, Mean]
    why: Mapping[str, str]
    """Why the others have none."""


def trade_off_of(experiment: str, by: str, missing: Sharing, x: Measured, y: Measured, shown: Shown) -> TradeOff:
    """The trade-off of these names; `Invalid` where a metric says no better end and none is given."""
    names = _named(by, x, y, shown.names)
    both = [_side(one, by, missing, names) for one in (x, y)]
    drawn = [name for name in names if all(name in one.means for one in both)]
    if missing == "matched" and set(drawn) != set(names):
        # Once more without those that have none: what they lack is no reason to leave out what the others share.
        again = [_side(one, by, missing, drawn) for one in (x, y)]
        left = [replace(new, why=old.why) for new, old in zip(again, both, strict=True)]
        both, drawn = left, [name for name in drawn if all(name in one.means for one in left)]
    points = _points(drawn, both, tested=missing == "matched")
    sources = {one.id: one for one in (*x.sources, *y.sources)}
    return TradeOff(
        experiment=experiment,
        x=both[0].quantity,
        y=both[1].quantity,
        by=by,
        missing=missing,
        status="ok" if points else "insufficient",
        reason=None if points else _reason(names, both),
        points=tuple(points),
        front=tuple(point.name for point in points if point.place == "front"),
        without=tuple(NameWithout(name, _why(name, both)) for name in names if name not in drawn),
        not_shown=tuple(shown.left_out),
        assumes=assumes([one.grid for one in sources.values()]),
        warnings=(*_warnings(missing, both, points), *protocol_warnings(list(sources.values()), shown.rules)),
        derived=tuple(shown.derived),
        inputs=tuple(Input(one.id, one.revision, **one.names) for one in sources.values()),
    )


def directed(measured: Measured) -> tuple[Metric, Direction]:
    """The metric of a side and its better end; `Invalid` as above."""
    side = measured.side
    metric = common_metric((one.grid.metric for one in measured.sources), f"/{side.axis}")
    direction = metric.direction or side.better
    if direction is None:
        told = f"the metric {side.name} says no better end; give {side.axis}_better=higher or lower"
        raise Invalid([Fault(f"/{side.axis}", told)])
    return metric, direction


def _named(by: str, x: Measured, y: Measured, chosen: Sequence[str]) -> list[str]:
    return sorted(chosen or {one.names[by] for side in (x, y) for one in side.sources})


def _side(measured: Measured, by: str, missing: Sharing, names: Sequence[str]) -> _Known:
    side = measured.side
    if side.source == "label":
        return _of_label(measured, by, names)
    metric, direction = directed(measured)
    cells = {name: levels.get("", {}) for name, levels in placed(measured.sources, by, None).cells.items()}
    there = {name: cells[name] for name in names if cells.get(name)}
    shared = shared_slots(there.values())
    means = {
        name: _mean(own, sorted(shared) if missing == "matched" else sorted(own), metric) for name, own in there.items()
    }
    what = with_slice(side.name, side.at)
    why = {name: f"has no cell of {what}" for name in names if name not in there}
    if there and not shared and missing == "matched":
        means, why = {}, why | dict.fromkeys(there, no_shared_slot({name: len(own) for name, own in there.items()}))
    quantity = Quantity(
        "metric", metric.name, direction, metric.unit, metric.lower, metric.upper, _document(side.at), len(shared)
    )
    return _Known(quantity, means, why)


def _mean(own: Cells, slots: Sequence[int], metric: Metric) -> Mean:
    return mean_of([own[slot] for slot in slots], metric) if slots else Mean(0.0, 0)


def _document(at: Slice) -> dict[str, tuple[str, ...]] | None:
    return {name: tuple(texts) for name, texts in slice_document(at).items()} or None


def _of_label(measured: Measured, by: str, names: Sequence[str]) -> _Known:
    """The number that the grids of each name have as a label; lower is better unless another end is given."""
    side = measured.side
    texts: dict[str, set[str]] = {name: set() for name in names}
    for one in measured.sources:
        if (text := one.grid.labels.get(side.name)) is not None:
            texts.setdefault(one.names[by], set()).add(text)
    means, why = dict[str, Mean](), dict[str, str]()
    for name in names:
        numbers = {read_number(text) for text in texts[name]}
        if len(numbers) == 1 and None not in numbers:
            means[name] = Mean(next(iter(numbers)) or 0.0, 0)
        elif not numbers:
            why[name] = f"has no label {side.name}"
        else:
            said = ", ".join(sorted(texts[name])[:3])
            why[name] = f"its label {side.name} is not one number: {said}"
    quantity = Quantity("label", side.name, side.better or "lower", slice=None)
    return _Known(quantity, means, why)


def _points(names: Sequence[str], both: Sequence[_Known], *, tested: bool) -> list[TradeOffPoint]:
    standings = [(_standing(both[0], name), _standing(both[1], name)) for name in names]
    places = places_of(standings, tested=tested)
    found = [
        TradeOffPoint(name, _estimate(both[0], name), _estimate(both[1], name), place)
        for name, place in zip(names, places, strict=True)
    ]
    return sorted(found, key=lambda point: (point.x.mean, point.name))


def _estimate(known: _Known, name: str) -> Estimate:
    return known.means[name].estimate


def _standing(known: _Known, name: str) -> Standing:
    mean = known.means[name]
    sign = -1.0 if known.quantity.direction == "lower" else 1.0
    return Standing(sign * mean.value, mean.stderr, mean.df, known.quantity.source == "label")


def _reason(names: Sequence[str], both: Sequence[_Known]) -> str:
    if not names:
        return "no name has a measured cell here"
    return next((why for one in both for why in one.why.values()), "no name has both quantities")


def _why(name: str, both: Sequence[_Known]) -> str:
    return "; ".join(one.why[name] for one in both if name in one.why) or "has not both"


def _warnings(missing: Sharing, both: Sequence[_Known], points: Sequence[TradeOffPoint]) -> Iterator[Warning]:
    for place, known in enumerate(both):
        if known.quantity.source == "metric":
            unknown = sum((point.x, point.y)[place].interval is None for point in points)
            if unknown:
                warning = noise_unknown(unknown, len(points), f"means of {known.quantity.name}")
                what = with_slice(known.quantity.name, slice_of(known.quantity.slice or {}))
                yield replace(warning, detail=f"{what}: {warning.detail}")
    if missing == "available":
        yield Warning(
            "different_slots",
            "The names may be shown over different slots: nothing is tested, and none is called behind.",
        )
