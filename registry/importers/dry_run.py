"""Description of a grid for a dry run: its names, axes, number of cells and warnings. Nothing is sent."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from registry.errors import Fault, Invalid, Malformed
from registry.grids.intake import Limits, read_submission
from registry.importers.reading import Item, Message, missing_names

_LEVELS = 8
_DOUBTS = 3


def shown(one: Item) -> list[str]:
    """Lines of a dry run; raises `Invalid` for a grid that the registry would refuse."""
    sent = one.found.submission
    if missing := missing_names(sent):
        raise Invalid([Fault("", missing)])
    try:
        submission = read_submission({"variant": "", "axes": [], **sent}, Limits())
    except (TypeError, ValueError, AttributeError, LookupError):
        raise Malformed("This is not the JSON of a grid: a member is of another type than it must be.") from None
    grid, names = submission.grid, submission.names
    title = " · ".join(part for part in (names.experiment, names.benchmark, names.model, names.variant) if part)
    lines = [f"{one.source}: {title} — {_metric(sent['metric'])}"]
    for axis in grid.axes:
        lines.append(
            f"  {axis.name}, {axis.kind}, {len(axis.levels)} levels: {_some([level.label for level in axis.levels])}"
        )
    values = [value for value in grid.values if value is not None]
    extent = f", from {min(values):g} to {max(values):g}" if values else ""
    carried = [name for name in ("trials", "stderr") if getattr(grid, name) is not None]
    lines.append(
        f"  {grid.cell_count} of {len(grid.values)} cells{extent}" + (f"; with {', '.join(carried)}" if carried else "")
    )
    doubts = [(note.code, _within(one, told)) for note, told in zip(one.found.notes, one.warnings(), strict=True)]
    doubts += [(told.code, f"{one.at(told.pointer).lstrip(':')} {told.detail}") for told in submission.warnings]
    lines += [f"  warning: {doubt}" for doubt in _first_of_each_kind(doubts)]
    return lines


def _first_of_each_kind(doubts: Sequence[tuple[str, str]]) -> Iterator[str]:
    """At most a few doubts of each code; the last of them has the number of the others."""
    met: Counter[str] = Counter()
    every = Counter(code for code, _ in doubts)
    for code, doubt in doubts:
        met[code] += 1
        if met[code] <= _DOUBTS:
            more = every[code] - _DOUBTS if met[code] == _DOUBTS else 0
            yield f"{doubt} (and {more} more like this)" if more > 0 else doubt


def _within(one: Item, message: Message) -> str:
    place = message.place.removeprefix(one.source).lstrip(":")
    return f"{place}: {message.detail}" if place else message.detail


def _metric(metric: Mapping[str, Any]) -> str:
    unit = f" ({metric['unit']})" if metric.get("unit") else ""
    better = f", {metric['direction']} is better" if metric.get("direction") else ", neither end is better"
    lower, upper = metric.get("lower"), metric.get("upper")
    bounds = "" if lower is None and upper is None else f", {_bound(lower)} … {_bound(upper)}"
    return f"{metric['name']}{unit}{better}{bounds}"


def _bound(value: float | None) -> str:
    return "" if value is None else f"{value:g}"


def _some(labels: Sequence[str]) -> str:
    return ", ".join(labels[:_LEVELS]) + (" …" if len(labels) > _LEVELS else "") if labels else "none"
