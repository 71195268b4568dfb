"""Several names along one axis, for the charts of `api/lines.py`: a table of the names by the levels of the axis."""

from collections.abc import Iterator, Mapping, Sequence

from registry.results.aggregates import Aggregates, DimensionLevels, Entry
from registry.results.lines import HUES, Line, LineLevel, LinePoint, Lines
from registry.results.terms import NO_SPREAD, Place, Warning, is_apart

MOST_LINES = 12


def lines_of(table: Aggregates, not_shown: Sequence[str] = (), order: Sequence[str] = ()) -> Lines:
    """The lines of a table by two dimensions, of which the second is the axis; `not_shown` are the names that there was
    no room for, and `order` is that in which all names get their looks."""
    by, along = table.group_by
    known = {one.dimension: one for one in table.dimensions}
    axis = known.get(along, DimensionLevels(along, ()))
    points: dict[Place, list[LinePoint]] = {name: [] for name in known[by].levels} if by in known else {}
    for one in table.entries:
        if one.value is not None:
            point = LinePoint(one.at[along], one.value, one.n, one.stderr, one.interval)
            points[one.at[by]].append(point)
    labels = _labels(known[by]) if by in known else {}
    looks = looks_of([labels[name] for name in points], order)
    lines = tuple(Line(labels[name], tuple(found), looks[labels[name]]) for name, found in points.items())
    levels = _labels(axis)
    whole = table.slots.shared, table.slots.total - table.slots.shared
    slots = {one.at[along]: (one.shared, one.total - one.shared) for one in table.columns}
    return Lines(
        experiment=table.experiment,
        metric={
            "name": table.metric,
            "unit": table.unit,
            "direction": table.direction,
            "lower": table.lower,
            "upper": table.upper,
        },
        along=along.removeprefix("axis:"),
        kind=axis.kind or "numeric",
        unit=axis.unit,
        scale=axis.scale or "linear",
        by=by,
        missing=table.missing,
        suite=table.suite,
        slice=table.slice,
        status=table.status,
        reason=table.reason,
        levels=tuple(LineLevel(level, label, *slots.get(level, whole)) for level, label in levels.items()),
        lines=lines,
        not_shown=tuple(not_shown),
        assumes=table.assumes,
        warnings=(*table.warnings, *_doubts(table)),
        incomparable=table.incomparable,
        derived=table.derived,
        inputs=table.inputs,
        selection=table.selection,
        inputs_left_out=table.inputs_left_out,
        methods_version=table.methods_version,
        computed_at=table.computed_at,
    )


def looks_of(names: Sequence[str], order: Sequence[str]) -> Mapping[str, int]:
    """The look of each name, all different up to `2 * HUES` names: below `HUES` while there is one left.

    It is the place of the name in the order; where that is taken, the next that is free. Names are served in their
    order, so that no later one takes the look of an earlier one.
    """
    places = {name: place for place, name in enumerate(order)}
    found = dict[str, int]()
    for name in sorted(names, key=lambda one: (places.get(one, len(places)), one)):
        first = HUES * (len(found) // HUES % 2)
        place, taken = places.get(name, len(places)) % HUES, set(found.values())
        free = (first + (place + step) % HUES for step in range(HUES))
        found[name] = next((one for one in free if one not in taken), first + place)
    return found


def _labels(dimension: DimensionLevels) -> Mapping[Place, str]:
    return dict(zip(dimension.levels, dimension.labels or map(str, dimension.levels), strict=True))


def _doubts(table: Aggregates) -> Iterator[Warning]:
    if table.left_out.grids:
        yield Warning("no_axis", f"{table.left_out.grids} of the grids have no such axis, and are left out.")
    counts = sorted({one.set: one.shared for one in table.columns if one.shared}.values())
    if table.missing == "matched" and len(counts) > 1 and not is_apart(table.warnings):
        span = f"{counts[0]}" if counts[0] == counts[-1] else f"{counts[0]} to {counts[-1]}"
        told = f"The levels share different slots ({span} of them): where a line bends, it may be for the slots."
        yield Warning("slots_vary", told)
    yield from noise_unknown([one for one in table.entries if one.value is not None], "points")


def noise_unknown(means: Sequence[Entry], what: str) -> Iterator[Warning]:
    """The warnings that some of these means have no interval, one for each reason."""
    agree = [one.interval_reason == NO_SPREAD for one in means if one.interval is None]
    unknown = "some cells have neither trials, a standard error above 0 nor repeats"
    for count, why in ((agree.count(False), unknown), (agree.count(True), NO_SPREAD)):
        have = "has" if count == 1 else "have"
        which = "No mean has an" if count == len(means) else f"{count} of the {len(means)} {what} {have} no"
        yield from [Warning("noise_unknown", f"{which} interval: {why}.")] if count else []
