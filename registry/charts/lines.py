"""Several names along one axis: a mean at each level, over the slots that they share there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from registry.charts.means import assumes, mean_of
from registry.charts.metrics import common_metric
from registry.charts.protocols import protocol_warnings
from registry.charts.slots import Cells, LevelKey, Placed, Source, all_slots, key_of, placed, shared_slots
from registry.errors import Fault, Invalid
from registry.grids.grid import Axis, Level, Metric
from registry.grids.protocol import Rules
from registry.grids.slices import slice_document
from registry.query import Query
from registry.results.inputs import DerivedGrid, Input, Warning
from registry.results.lines import Line, LineLevel, LinePoint, Lines, Sharing
from registry.storage.rows import metric_document

MOST_LINES = 12


@dataclass(frozen=True, slots=True)
class LinesQuery(Query):
    """Lines of a scope along an axis, "" for the one with the most levels in order; `by` is what has a line."""

    kind: ClassVar[str] = "lines"
    along: str = ""
    by: str = "model"
    missing: Sharing = "matched"


@dataclass(frozen=True, slots=True)
class Shown:
    """The names that are shown, none for all that there are, those left out, and what is known of all."""

    names: Sequence[str] = ()
    left_out: Sequence[str] = ()
    derived: Sequence[DerivedGrid] = ()
    rules: Rules = field(default_factory=Rules)
    """What the experiment declares of protocols."""


def lines_of(query: LinesQuery, sources: Sequence[Source], shown: Shown) -> Lines:
    """The lines of these grids; `Invalid` for an axis that none of them has, or metrics that have no mean."""
    axis, metric = frame_of_lines(query, sources)
    found = placed(sources, query.by, axis.name)
    names = shown.names or _levels_named(found)
    left_out = shown.left_out or sorted(set(found.cells) - set(names), key=list(found.names).index)
    cells = {name: found.cells.get(name, {}) for name in names}
    levels, slots = [_level(level, cells) for level in axis.levels], None
    if query.missing == "matched":
        slots = [sorted(shared_slots(_at(level, cells))) for level in axis.levels]
    lines = tuple(Line(name, tuple(_points(cells[name], axis, slots, metric))) for name in names)
    known = any(line.points for line in lines)
    return Lines(
        experiment=query.experiment,
        metric=metric_document(metric),  # type: ignore[arg-type]
        along=axis.name,
        kind=axis.kind,
        unit=axis.unit,
        scale=axis.scale,
        by=query.by,
        missing=query.missing,
        slice={name: tuple(texts) for name, texts in slice_document(query.at).items()} or None,
        status="ok" if known else "insufficient",
        reason=None if known else _reason(query, cells),
        levels=tuple(levels),
        lines=lines,
        not_shown=tuple(left_out),
        assumes=assumes([one.grid for one in sources]),
        warnings=(*_warnings(query, found, cells, lines), *_doubts(query, sources, shown)),
        derived=tuple(shown.derived),
        inputs=tuple(Input(one.id, one.revision, **one.names) for one in sources),
    )


def frame_of_lines(query: LinesQuery, sources: Sequence[Source]) -> tuple[Axis, Metric]:
    """The axis with the levels of all of these grids, and their metric; `Invalid` as above."""
    axis = _axis(query, [one.grid.axes for one in sources])
    return axis, common_metric((one.grid.metric for one in sources), "/metric")


def _levels_named(found: Placed) -> list[str]:
    """The first levels of the axis that names the lines."""
    return [name for name in found.names if name in found.cells][:MOST_LINES]


def _axis(query: LinesQuery, grids: Sequence[Sequence[Axis]]) -> Axis:
    """The axis with the levels of all grids; without a name, the one in order with the most levels."""
    if query.by == f"axis:{query.along}":
        raise Invalid([Fault("/by", "is the axis that the lines run along; choose another one")])
    by_name = dict[str, list[Axis]]()
    for axes in grids:
        for axis in axes:
            by_name.setdefault(axis.name, []).append(axis)
    usable = {name: axes for name, axes in by_name.items() if f"axis:{name}" != query.by}
    if query.along and query.along not in usable:
        alike = [name for name in usable if name.casefold() == query.along.casefold()]
        meant = f'; did you mean "{alike[0]}"' if alike else ""
        there = f"{meant}; there are {', '.join(sorted(usable))}" if usable else "; they have none"
        raise Invalid([Fault("/along", f'none of these grids has an axis "{query.along}"{there}')])
    if not usable:
        raise Invalid([Fault("/along", "none of these grids has an axis that lines could run along")])
    name = query.along or max(sorted(usable), key=lambda one: (usable[one][0].ordered, len(_merged(usable[one]))))
    longest = max(usable[name], key=lambda axis: len(axis.levels))
    return Axis(name, longest.kind, tuple(_merged(usable[name])), longest.unit, longest.scale)


def _merged(axes: Iterable[Axis]) -> list[Level]:
    """The levels of several axes of one name: in numeric order, else those of the longest axis first."""
    found = dict[LevelKey, Level]()
    for axis in sorted(set(axes), key=lambda one: -len(one.levels)):
        for level in axis.levels:
            found.setdefault(key_of(level), level)
    if all(level.number is not None for level in found.values()):
        return sorted(found.values(), key=lambda level: level.number or 0.0)
    return list(found.values())


Named = Mapping[str, Mapping[LevelKey, Cells]]


def _at(level: Level, cells: Named) -> list[Cells]:
    """The cells of each name at a level."""
    return [one.get(key_of(level), {}) for one in cells.values()]


def _level(level: Level, cells: Named) -> LineLevel:
    here = _at(level, cells)
    shared = len(shared_slots(here))
    return LineLevel(key_of(level), level.label, shared, len(all_slots(here)) - shared)


def _points(
    cells: Mapping[LevelKey, Cells], axis: Axis, shared: Sequence[Sequence[int]] | None, metric: Metric
) -> Iterator[LinePoint]:
    """The means of one name over the shared slots of each level, else over its own; only where there is one."""
    for place, level in enumerate(axis.levels):
        own = cells.get(key_of(level), {})
        slots = sorted(own) if shared is None else shared[place]
        if slots:
            found = mean_of([own[slot] for slot in slots], metric).estimate
            yield LinePoint(key_of(level), found.mean, found.slots, found.stderr, found.interval)


def _reason(query: LinesQuery, cells: Named) -> str:
    if not any(cells.values()):
        return "none of these names has a measured cell here"
    return no_shared_slot({name: sum(map(len, levels.values())) for name, levels in cells.items()})


def no_shared_slot(counts: Mapping[str, int]) -> str:
    """Why there is no mean over shared slots, and which names to leave out first."""
    fewest = sorted(counts, key=lambda name: (counts[name], name))[:3]
    told = ", ".join(f"{name or 'no name'} ({counts[name]})" for name in fewest)
    return (
        f"no slot has a cell of all {len(counts)} names; the fewest cells have {told}. Leave such names out, or ask "
        "for what each has (missing=available)"
    )


def _warnings(query: LinesQuery, found: Placed, cells: Named, lines: Sequence[Line]) -> Iterator[Warning]:
    if found.outside:
        yield Warning("no_axis", f"{len(found.outside)} of the grids have no such axis, and are left out.")
    here = [_sets(cells, key) for key in found.levels]
    shared = {frozenset(set.intersection(*sets)) for sets in here if sets}
    counts = sorted(len(one) for one in shared if one)
    if query.missing == "matched" and len([one for one in shared if one]) > 1:
        span = f"{counts[0]}" if counts[0] == counts[-1] else f"{counts[0]} to {counts[-1]}"
        yield Warning(
            "slots_vary",
            f"The levels share different slots ({span} of them): where a line bends, it may be for the slots.",
        )
    if query.missing == "available" and any(one != sets[0] for sets in here for one in sets):
        yield Warning("different_slots", "The names are shown over different slots: their lines are not comparable.")
    unknown = sum(point.interval is None for line in lines for point in line.points)
    if unknown:
        yield noise_unknown(unknown, sum(len(line.points) for line in lines), "points")


def _doubts(query: LinesQuery, sources: Sequence[Source], shown: Shown) -> Iterator[Warning]:
    """Warnings about protocols, but for lines of levels, which every grid has."""
    return iter(()) if query.by.startswith("axis:") else protocol_warnings(sources, shown.rules)


def _sets(cells: Named, key: LevelKey) -> list[set[int]]:
    return [set(one.get(key, {})) for one in cells.values()]


def noise_unknown(unknown: int, total: int, what: str) -> Warning:
    """The warning that means have no interval."""
    which = "None of them has" if unknown == total else f"{unknown} of the {total} {what} have no"
    rest = " an interval" if unknown == total else " interval"
    return Warning("noise_unknown", f"{which}{rest}: trials, standard errors or repeats of their cells are not known.")
