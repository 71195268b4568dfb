"""Tables of means, bests and counts over any dimensions of many grids, honest about missing cells;
`workers/answers/aggregates.py` brings the cells.

An entry is a combination of levels of the dimensions that are grouped by. Its cells are first reduced within each level
of `over` (their mean, best or number), and these are averaged, each level with the same weight. Entries are comparable
over the slots that all of them have (`matched`), who has none at all aside: a slot is a combination of levels of all
other dimensions. Where the rows, which are the levels of the first dimension, are names, this holds within each column;
where no two of them share a slot in any, there is nothing to compare, and each entry is over its own slots.
"""

import itertools
import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from registry.results.aggregates import (
    Aggregation,
    Column,
    DimensionLevels,
    Entry,
    LeftOut,
    RowMean,
    SharedSlots,
    Spread,
)
from registry.results.terms import (
    NOBODY,
    Place,
    Reduction,
    SetAside,
    SlotPolicy,
    Warning,
    apart_warning,
    set_aside_warnings,
)
from workers.statistics.means import (
    OF_COLUMNS,
    Found,
    Groups,
    OwnCells,
    best_intervals,
    in_order,
    mean_errors,
    mean_intervals,
    means_by_name,
    t_interval,
)
from workers.statistics.set_aside import (
    MOST_NAMED,
    CellTable,
    Sharing,
    SortedCells,
    code_of,
    of_entries,
    remedy_of,
    sorted_cells,
    told_of_entries,
)
from workers.statistics.terms import FloatArray, IntArray, computable

MOST_ENTRIES = 50_000
"""Entries that a table may have."""
NOT_SHARED = "no slot was measured for every entry"


@dataclass(frozen=True)
class Question:
    """Question of a table: 1 to 3 dimensions to group by, those to average over, and how."""

    group_by: tuple[str, ...]
    over: tuple[str, ...]
    value: Reduction = "mean"
    missing: SlotPolicy = "matched"
    alpha: float = 0.05
    sort: str = "name"
    set_aside: tuple[str, ...] = NOBODY

    @property
    def columns(self) -> tuple[str, ...]:
        """The dimensions within which slots are shared: where the rows are names, all others. A table whose rows are
        levels of an axis is read as a whole."""
        return () if self.group_by[0].startswith("axis:") else self.group_by[1:]


Places = Mapping[int, Mapping[str, Place]]
"""The coordinates of entries by their numbers."""


def aggregate(table: CellTable, question: Question) -> Aggregation:
    """The table of a question; `insufficient` where no cell was measured or no slot is shared, `undefined` for the best
    of a metric without a better end. Cells must have a level of every dimension that the question names."""
    rest = tuple(name for name in table.levels if name not in (*question.group_by, *question.over))
    reduced = tuple(name for name in rest if len(table.levels[name]) > 1)
    empty = Aggregation("insufficient", reduced=reduced, reason="no cell was measured")
    if question.value == "best" and table.direction is None:
        return replace(empty, status="undefined", reason="the metric has no better end, so nothing is best")
    if table.values.size == 0:
        return empty
    size = int(np.prod([len(table.levels[name]) for name in question.group_by], dtype=object))
    if size > MOST_ENTRIES:
        few = "limit it to some benchmarks or models, or to a slice"
        reason = f"the table has {size:,} entries, more than {MOST_ENTRIES:,}; {few}"
        return replace(empty, status="undefined", reason=reason)
    if not computable(table.values):
        return replace(empty, status="undefined", reason="the values are too large or too small to be averaged")
    # With the column in it, a slot is of one column.
    found = sorted_cells(table, question.group_by, question.over, (*rest, *question.columns))
    return _tabulated(table, found, question, empty, rest)


def _tabulated(
    table: CellTable, found: SortedCells, question: Question, empty: Aggregation, rest: Sequence[str]
) -> Aggregation:
    measured, places = found.counts.tolist(), _places(found.cells, question.group_by)
    sharing = Sharing.of(found, math.prod(len(found.cells.levels[name]) for name in question.columns))
    others, matched = (*question.over, *empty.reduced), question.missing == "matched"
    aside, told = np.zeros(found.entries, dtype=np.bool_), tuple[SetAside, ...]()
    if matched and not question.group_by[0].startswith("axis:"):
        aside = of_entries(
            sharing, question.set_aside, [str(name) for name in found.cells.levels[question.group_by[0]]]
        )
    if aside.any():
        told = tuple(told_of_entries(sharing, aside, places, others))
        # As if these had not been measured: slots that nobody else has are gone too.
        rest_of = found.kept(~aside[found.entry])
        there, slot = np.unique(rest_of.slot, return_inverse=True)
        found = replace(rest_of, slot=slot, slots=int(there.size))
        sharing = Sharing.of(found, sharing.columns)
    shared = int(np.count_nonzero(sharing.shared))
    apart = matched and bool(question.columns) and not sharing.meets
    kept = found.kept(sharing.shared[found.slot]) if matched and not apart else found
    left = found.cells.values.size - kept.cells.values.size
    known = replace(
        empty,
        dimensions=tuple(DimensionLevels(name, tuple(found.cells.levels[name])) for name in question.group_by),
        slots=SharedSlots(found.slots, shared),
        left_out=LeftOut(found.slots - shared if matched and not apart else 0, left, measured.count(0)),
        set_aside=told,
        columns=tuple(_columns(sharing, question, rest)),
    )
    entries = tuple(_entries(kept, question, places, measured))
    if len(question.group_by) == OF_COLUMNS and question.columns and question.value != "count":
        known = replace(known, rows=tuple(_rows(table, question, entries)))
    if matched and not shared and not apart:
        doubts = set_aside_warnings(told)
        return replace(known, entries=entries, reason=NOT_SHARED, remedy=remedy_of(sharing, places), warnings=doubts)
    assumes = kept.cells.assumes if question.value != "count" else ()
    warnings = (
        *set_aside_warnings(told),
        *([apart_warning(question.group_by[0])] if apart else ()),
        *_nothing_left(entries, question, {one.name for one in told}),
        *(() if matched or question.value == "count" else _own_slots(found, sharing, places)),
    )
    whole = replace(known, status="ok", reason=None, entries=entries, assumes=assumes, warnings=warnings)
    return in_order(whole, question.sort, None if question.value == "count" else found.cells.direction)


def _rows(table: CellTable, question: Question, entries: Sequence[Entry]) -> Iterator[RowMean]:
    """The means of the rows: those of a ranking of them."""
    down, across = question.group_by
    over = "model" if down == "benchmark" else "benchmark"
    found = sorted_cells(table, (down, over), (), [name for name in table.levels if name != down])
    sharing, width = Sharing.of(found, len(table.levels[over])), len(table.levels[across])
    matched = question.missing == "matched"
    if matched:
        aside = of_entries(sharing, question.set_aside, [str(name) for name in table.levels[down]])
        sharing = Sharing.of(found.kept(~aside[found.entry]), sharing.columns)
        sharing = replace(sharing, held=np.where(sharing.shared, sharing.held, 0))
    cells = sharing.found.kept(sharing.held[sharing.found.slot] > 1).cells
    size, row = len(table.levels[down]), cells.codes[down].astype(np.int64)
    counted = np.bincount(row * width + cells.codes[across], minlength=size * width).reshape(size, width) > 0
    if question.value == "mean":
        own = OwnCells(cells.values, cells.variance, cells.df, cells.n, cells.k)
        column = cells.codes[over].astype(np.int64)
    else:
        best = np.array([math.nan if one.value is None else one.value for one in entries]).reshape(size, width)
        counted &= np.isfinite(best)
        row, column = np.nonzero(counted)
        unknown, none = np.full(row.size, math.nan), np.zeros(row.size)
        own = OwnCells(best[counted], unknown, unknown, none, none)
    ends = cells.lower, cells.upper, cells.whole
    means = means_by_name(row, column, own, question.alpha, ends, fill=matched)
    for i, level in enumerate(table.levels[down]):
        one, columns = means.get(i), int(np.count_nonzero(counted[i]))
        yield RowMean(level, one.mean, columns, one.interval, one.adjusted) if one else RowMean(level, None, columns)


def _columns(sharing: Sharing, question: Question, rest: Sequence[str]) -> Iterator[Column]:
    """The columns of a table of several dimensions."""
    if not question.columns:
        return
    cells = sharing.found.cells
    # The same slots of another column have the same numbers here.
    first = np.unique(sharing.found.slot, return_index=True)[1]
    _, alike = np.unique(code_of(cells.taken(first), (*question.over, *rest)), return_inverse=True)
    sets: dict[bytes, int] = {}
    order = np.lexsort([alike, sharing.column])
    bounds = np.searchsorted(sharing.column[order], np.arange(1, sharing.columns))
    places = _places(cells, question.columns)
    for column, slots in enumerate(np.split(order, bounds)):
        own = slots[sharing.shared[slots]]
        number = sets.setdefault(alike[own].tobytes(), len(sets))
        yield Column(places[column], int(slots.size), int(own.size), number)


def _nothing_left(entries: Sequence[Entry], question: Question, told: Collection[str]) -> Iterator[Warning]:
    """Names of which no entry has a value, and who is left to be compared; `told` are names that are set aside."""
    for kind in question.group_by:
        if kind.startswith("axis:"):
            continue
        valued = {one.at[kind]: False for one in entries}
        for one in entries:
            valued[one.at[kind]] |= one.value is not None or one.at[kind] in told
        dropped, left = (
            [str(name) or "(none)" for name, has in valued.items() if has == kept] for kept in (False, True)
        )
        if dropped:
            more = f" and {len(dropped) - MOST_NAMED} more" if len(dropped) > MOST_NAMED else ""
            has = "has" if len(dropped) == 1 else "have"
            rest = f"only {left[0]} is left" if len(left) == 1 else f"{len(left)} {kind}s are left"
            yield Warning("dropped", f"{', '.join(dropped[:MOST_NAMED])}{more} {has} no counted cell here: {rest}.")


def _places(table: CellTable, group_by: Sequence[str]) -> Places:
    combinations = itertools.product(*(table.levels[name] for name in group_by))
    return {i: dict(zip(group_by, levels, strict=True)) for i, levels in enumerate(combinations)}


def _own_slots(found: SortedCells, sharing: Sharing, places: Places) -> tuple[Warning, ...]:
    """The warning that entries over their own slots are not comparable, with the names of those that lack some."""
    counts, missing = found.counts, sharing.missing
    lacking = [one for one in sharing.measured.tolist() if missing[one]]
    if not lacking:
        return ()
    named = "; ".join(
        f"{', '.join(str(level) for level in places[one].values())} ({counts[one]} of {counts[one] + missing[one]})"
        for one in lacking[:MOST_NAMED]
    )
    more = f"; and {len(lacking) - MOST_NAMED} more" if len(lacking) > MOST_NAMED else ""
    detail = f"Each entry is averaged over its own slots, so they are not comparable. Lacking some: {named}{more}."
    return (Warning("not_comparable", detail),)


def _entries(kept: SortedCells, question: Question, places: Places, measured: Sequence[int]) -> list[Entry]:
    """Every entry, in order; those without a counted cell have no value."""
    filled = np.flatnonzero(kept.counts)
    entries = {i: Entry(places[i], None, 0, measured[i], 0) for i in range(kept.entries)}
    if filled.size:
        for i, entry in zip(filled.tolist(), _filled(kept, question, places, filled, measured), strict=True):
            entries[i] = entry
    return list(entries.values())


def _filled(
    kept: SortedCells, question: Question, places: Places, filled: IntArray, measured: Sequence[int]
) -> list[Entry]:
    groups = groups_of(kept)
    reduced = reduced_values(groups, question.value)
    values = groups.mean(reduced)
    intervals = _intervals(groups, values, question)
    errors, freedom = mean_errors(groups) if question.value == "mean" else (np.full(values.size, np.nan),) * 2
    parts = np.split(reduced, groups.firsts[1:])
    over_benchmarks = question.over == ("benchmark",) and question.value == "mean"
    return [
        Entry(
            places[i],
            value,
            n,
            measured[i],
            int(part.size),
            interval,
            reason,
            t_interval(part, question.alpha, kept.cells) if over_benchmarks else None,
            Spread(float(part.std(ddof=1)), float(part.min()), float(part.max())) if part.size > 1 else None,
            error if error > 0 else None,
            df if error > 0 and math.isfinite(df) else None,
        )
        for i, value, n, part, (interval, reason), error, df in zip(
            filled.tolist(),
            values.tolist(),
            groups.counts.tolist(),
            parts,
            intervals,
            errors.tolist(),
            freedom.tolist(),
            strict=True,
        )
    ]


def groups_of(kept: SortedCells) -> Groups:
    """The cells by entries and levels of `over`."""
    new_entry = np.ones(kept.entry.size, dtype=np.bool_)
    new_entry[1:] = kept.entry[1:] != kept.entry[:-1]
    new_group = new_entry.copy()
    new_group[1:] |= kept.over[1:] != kept.over[:-1]
    starts = np.flatnonzero(new_group)
    return Groups(kept.cells, starts, np.searchsorted(starts, np.flatnonzero(new_entry)))


def reduced_values(groups: Groups, value: Reduction) -> FloatArray:
    """One number for each group: the mean, the best or the number of its cells."""
    if value == "count":
        return groups.sizes.astype(np.float64)
    if value == "mean":
        values = groups.cells.values
        found = np.add.reduceat(values, groups.starts)
        for one in np.flatnonzero(groups.sizes > 2).tolist():  # rounded once, as the mean of a name is
            found[one] = math.fsum(values[groups.starts[one] : groups.starts[one] + groups.sizes[one]].tolist())
        found /= groups.sizes
    else:
        best = np.minimum if groups.cells.direction == "lower" else np.maximum
        found = best.reduceat(groups.cells.values, groups.starts)
    return np.asarray(found, dtype=np.float64)


def _intervals(groups: Groups, values: FloatArray, question: Question) -> list[Found]:
    if question.value == "count":
        return [(None, "a number of cells has no noise")] * values.size
    if question.value == "best":
        return best_intervals(groups, question.alpha)
    return mean_intervals(groups, values, question.alpha)
