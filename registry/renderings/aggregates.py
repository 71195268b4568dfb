"""A table of means, bests or counts: as text and Markdown in two dimensions, as CSV one row an entry."""

import itertools
from collections.abc import Iterator, Mapping, Sequence

from registry.renderings.numbers import (
    MISSING,
    UNDEFINED,
    ends,
    fixed,
    intervals,
    level_of,
    places_between,
    places_of,
    places_of_means,
)
from registry.renderings.ranking import MARK, cells_of_means, what_marks, without_mean
from registry.renderings.sheet import Block, Heading, Lines
from registry.renderings.table import Column, Table, members, tidy
from registry.renderings.verdicts.ranking import compared_on
from registry.renderings.words import (
    about,
    asked_columns,
    assumptions,
    counted,
    every,
    isolated,
    label,
    left_out_and_warnings,
    spoken,
)
from registry.results.aggregates import Aggregates, DimensionLevels, Entry
from registry.results.ranking import Ranking
from registry.results.terms import Place, is_apart

AXIS = "axis:"
_NAMED = 3
"""Entries and levels that a sentence names."""
_ASKED = ("experiment", "metric", "reduced_by", "missing", "averaged_over")
_OF_ENTRY = (
    "value", "n", "cells", "levels", "interval_level", "interval_low", "interval_high", "no_interval",
    "new_benchmarks_low", "new_benchmarks_high", "sd", "lowest", "highest", "row_mean", "row_mean_low", "row_mean_high",
)  # fmt: skip


def aggregates_csv(found: Aggregates) -> str:
    """One row an entry, those without a value among them; a column for each dimension, for adjusted means where there
    are some, and for what was asked for."""
    head = (found.experiment, found.metric, found.value, found.missing, " ".join(found.over))
    also = asked_columns(found)
    names = [dimension_name(name) for name in found.group_by]
    labels, means = labels_of(found), {one.level: [one.mean, *ends(one.mean_interval)] for one in found.rows}
    marks = {one.level: [bool(one.adjusted)] for one in found.rows} if any(one.adjusted for one in found.rows) else {}
    nothing: list[float | None] = [None, None, None]
    rows = (
        [
            *head,
            *(labels[name][one.at[name]] for name in found.group_by),
            *_numbers(one),
            *means.get(one.at[found.group_by[0]], nothing),
            *marks.get(one.at[found.group_by[0]], ()),
            *also.values(),
        ]
        for one in found.entries
    )
    return tidy(_ASKED, rows, names, (*_OF_ENTRY, *(["row_adjusted"] if marks else []), *also))


def _numbers(one: Entry) -> list[str | float | None]:
    found = [*members(one, "value", "n", "cells", "over"), *members(one.interval, "level", "low", "high")]
    return [*found, one.interval_reason or "", *ends(one.new_benchmarks), *members(one.spread, "sd", "low", "high")]


def dimension_name(dimension: str) -> str:
    """A dimension as people name it: an axis by its name."""
    return dimension.removeprefix(AXIS)


def labels_of(found: Aggregates) -> Mapping[str, Mapping[Place, str]]:
    """The labels of the levels of every dimension; a variant without a name is a dash."""
    return {one.dimension: dict(zip(one.levels, _labels(one), strict=True)) for one in found.dimensions}


def _labels(one: DimensionLevels) -> Sequence[str]:
    return one.labels or [label(level) if level != "" else UNDEFINED for level in one.levels]


def heading(found: Aggregates) -> str:
    """What is tabulated: `Mean of accuracy (%) by model and benchmark`."""
    what = {"mean": "Mean of", "best": "Best", "count": "Measured cells of"}[found.value]
    unit = f" ({found.unit})" if found.unit and found.value != "count" else ""
    return f"{what} {found.metric}{unit} {by(found)}"


def by(found: Aggregates) -> str:
    """The dimensions of the table: `by model and benchmark`."""
    return f"by {_and([dimension_name(one) for one in found.group_by])}"


def page(found: Aggregates) -> Iterator[Block]:
    """The table's page: what was left out before the numbers."""
    yield Heading(f"{heading(found)} — {about(found, metric_is_said=True)}", 1)
    yield from aggregates_blocks(found)


def aggregates_blocks(found: Aggregates) -> Iterator[Block]:
    """What the table is made of and leaves out, the table, and the doubts."""
    yield from told(found)
    if found.entries:
        yield from _list(found) if len(found.group_by) == 1 else _matrices(found)
    if notes := tuple(doubts(found)):
        yield Lines(notes)


def told(found: Aggregates) -> Iterator[str]:
    """What the entries are made of, and what was left out, in a sentence each."""
    yield made_of(found)
    if found.status != "ok":
        yield f"There is no table: {found.reason}."
    if found.slots.total:
        yield from left_out(found)
    if found.remedy:
        kept = counted(found.remedy.shared, "slot", "slots")
        labels = labels_of(found)
        without = _and_more((entry_name(one, labels) for one in found.remedy.without), found.remedy.count)
        yield f"Without {without} the others share {kept}."


def made_of(found: Aggregates) -> str:
    """How cells become an entry, a sentence."""
    reduced = [dimension_name(one) for one in found.reduced]
    how = {"mean": "the mean of its cells", "best": "the best of its cells", "count": "the number of its cells"}
    over = _and([dimension_name(one) for one in found.over])
    many = _and([f"levels of {dimension_name(one)}" if one.startswith(AXIS) else f"{one}s" for one in found.over])
    within = f" within each {over}, averaged over {many}" if over else ""
    rest = f" (over {_and(reduced)})" if reduced else ""
    return f"Each entry is {how[found.value]}{rest}{within}."


def left_out(found: Aggregates) -> Iterator[str]:
    """What was left out in one sentence, and one about grids."""
    total, shared, left = found.slots.total, found.slots.shared, found.left_out
    column = " of its column" if found.columns else ""
    if found.missing == "available":
        kept = f"Each entry over its own of {counted(total, 'slot', 'slots')}; all entries share {shared:,}"
    elif shared == total:
        kept = "The only slot was" if total == 1 else f"{every(total, 'slots').capitalize()} were"
        of = " that is not set aside" if found.set_aside else " that has cells" if left.empty else ""
        kept += f" measured for every entry{' of their column' if found.columns and total > 1 else ''}{of}"
    elif is_apart(found.warnings):
        kept = f"Each entry over its own of {counted(total, 'slot', 'slots')}"
    else:
        lost = f"{counted(left.slots, 'slot', 'slots')} with {counted(left.cells, 'measured cell', 'measured cells')}"
        kept = f"Compared on the {shared:,} of {total:,} slots that every entry{column} has; {lost} left out"
    empty = f"; {counted(left.empty, 'entry has', 'entries have')} no cell" if left.empty else ""
    yield f"{kept}{empty}."
    if left.grids:
        whole = counted(left.grids, "grid has", "grids have")
        yield f"{whole} not every axis that is asked for, and {'is' if left.grids == 1 else 'are'} not counted."


def beside_ranking(found: Aggregates, ranking: Ranking) -> Iterator[str]:
    """Over which slots a ranking is that stands above the table, and over which the table: a sentence where these are
    not the same."""
    if found.value != "count" and found.slots.total:
        shared = None if found.missing == "available" else found.slots.shared
        some = found.set_aside or found.left_out.empty
        yield from beside_slots(ranking, shared, "table", "entry", "entries with cells" if some else "entries")


def beside_slots(
    ranking: Ranking, shared: int | None, what: str, one: str, many: str, where: str = ""
) -> Iterator[str]:
    """The same of anything below a ranking, of which all have the `shared` slots, `where` it has a slice of its own;
    None: each has its own."""
    compared = ranking.slots.compared if ranking.slots else 0
    if not compared or (compared == shared and not where):
        return
    if shared is None:
        below = f"each {one} of the {what} below is over its own"
    else:
        below = f"the {what} below is over the {shared:,}{where} that all its {many} have"
    yield compared_on(ranking, below)


def entry_name(at: Mapping[str, Place], labels: Mapping[str, Mapping[Place, str]]) -> str:
    """An entry in a sentence, by the labels of its levels."""
    return " · ".join(
        f"{dimension_name(name)} {isolated(spoken(_told(level, labels[name][level])))}"
        if name.startswith(AXIS)
        else isolated(spoken(level) or name)
        for name, level in at.items()
    )


def _told(level: Place, posted: str) -> Place:
    """A level that was posted as something else than its number is told as that."""
    return level if posted == label(level) else posted


def doubts(found: Aggregates, *, beside: bool = False) -> Iterator[str]:
    """What intervals say and assume, which a page has `beside` each entry, what was not counted, and the warnings."""
    known = [one.interval for one in found.entries if one.interval]
    has_column = beside or len(found.group_by) == 1 or any(one.mean_interval for one in found.rows)
    if known and not has_column:
        yield f"intervals of entries ({level_of(known[0])}) are in CSV and JSON"
    elif known and found.value == "best":
        bias, side = ("downward", "above") if found.direction == "lower" else ("upward", "below")
        yield (
            f"interval: {level_of(known[0])}, of the best true value among the candidates. The best of noisy cells is "
            f"biased {bias}, so it stands by simultaneous limits and may lie {side} the value"
        )
    elif known:
        yield f"interval: {level_of(known[0])}, these cells measured again"
    elif has_column and any(one.n for one in found.entries) and found.value != "count":
        reason = next((one.interval_reason for one in found.entries if one.interval_reason), None)
        yield f"no interval: {reason}"
    alike = "model" if found.group_by[0] == "benchmark" else "benchmark"
    if any(one.mean is not None for one in found.rows):
        over = cells_of_means((one.adjusted for one in found.rows), "rows")
        over = "its own cells" if found.missing == "available" else over
        which = "that of the ranking" if found.value == "mean" else "of the bests"
        yield f"mean: {which}: each {alike} alike, over {over}"
        yield from without_mean(((one.level, one.mean) for one in found.rows), found)
        if any(over_fewer(found)):
            yield what_marks(found.missing, (one.adjusted and one.mean_interval for one in found.rows))
    elif len(found.rows) > 1 and (found.value, found.missing) == ("mean", "matched") and not is_apart(found.warnings):
        yield f"no means: no {alike} links the most rows; missing=available has each row over its own cells"
    if len(found.group_by) == 1 and any(one.new_benchmarks for one in found.entries):
        yield "new benchmarks: Student's interval, the benchmarks taken as a sample of others like them"
    yield from assumptions(found.assumes) if known else ()
    yield from left_out_and_warnings(found, "counted")


def _list(found: Aggregates) -> Iterator[Block]:
    """The entries of one dimension, with all that is known of them."""
    [name], rows, labels = found.group_by, found.entries, labels_of(found)
    places = value_places(found)
    columns = [
        Column(dimension_name(name), [labels[name][one.at[name]] for one in rows]),
        Column(found.value, [written(one, places_between(ends(one.interval), places)) for one in rows], True),
    ]
    if any(one.interval for one in rows):
        columns.append(Column("interval", intervals([one.interval for one in rows], places)))
    if any(one.new_benchmarks for one in rows):
        columns.append(Column("new benchmarks", intervals([one.new_benchmarks for one in rows], places)))
    if any(one.spread for one in rows):
        columns.append(
            Column("sd", [fixed(one.spread.sd if one.spread else None, places, UNDEFINED) for one in rows], True)
        )
    columns += [
        Column("slots", [str(one.n) for one in rows], True),
        Column("cells", [str(one.cells) for one in rows], True),
    ]
    if found.over:
        over = _and([dimension_name(one) for one in found.over])
        columns.append(Column(f"over {over}", [str(one.over) for one in rows], True))
    yield Table(columns)


def written(one: Entry, places: int | None) -> str:
    """An entry; without a value a dash where something was measured, which is not compared."""
    return fixed(one.value, places, UNDEFINED if one.cells else MISSING)


def aside_text(found: Aggregates, one: Entry) -> str:
    """How many of the slots that most have an entry has that is set aside: `5 of 7`; "" of others."""
    level, *column = one.at.values()
    for lacks in found.set_aside:
        if lacks.name == str(level) and [*(lacks.at or {}).values()] == column:
            return f"{lacks.slots - lacks.missing:,} of {lacks.slots:,}"
    return ""


def value_places(found: Aggregates) -> int | None:
    """The decimals that values are written with; none for whole counts."""
    if found.value == "count" and all(one.value == int(one.value) for one in found.entries if one.value is not None):
        return 0
    return places_of_means((one.value, one.n) for one in found.entries)


def _matrices(found: Aggregates) -> Iterator[Block]:
    """The second-last dimension down, the last one across; one table for each level of a third."""
    places, labels = value_places(found), labels_of(found)
    *leading, down, across = found.group_by
    size = len(labels[down]) * len(labels[across])
    for number, start in enumerate(range(0, len(found.entries), size)):
        entries = found.entries[start : start + size]
        if leading:
            [above] = leading
            yield Heading(f"{dimension_name(above)} {list(labels[above].values())[number]}", 2)
        columns = [
            Column(column, [written(one, places) for one in entries[place :: len(labels[across])]], True)
            for place, column in enumerate(labels[across].values())
        ]
        keys = [Column(dimension_name(down), list(labels[down].values())), *mean_columns(found)]
        yield Table([*keys, *columns], len(keys), dimension_name(across))


def mean_texts(found: Aggregates) -> list[str]:
    """The mean of each row, marked where it is over fewer slots than another one's."""
    places, marked = mean_places(found), over_fewer(found)
    blank = " " if any(marked) else ""
    written = [fixed(one.mean, places_between(ends(one.mean_interval), places), UNDEFINED) for one in found.rows]
    return [f"{text}{MARK if mark else blank}" for text, mark in zip(written, marked, strict=True)]


def mean_places(found: Aggregates) -> int | None:
    """The decimals of the means of rows: those of the entries, where these are means of cells too."""
    lone = all(one.n < 2 for one in found.entries)
    return places_of(one.mean for one in found.rows) if lone and len(found.columns) > 1 else value_places(found)


def over_fewer(found: Aggregates) -> list[bool]:
    """Say of each row whether its mean is over fewer slots than that of another one: as each has its own, or as it is
    adjusted."""
    if found.missing != "available":
        return [bool(one.adjusted) for one in found.rows]
    width = len(found.entries) // max(1, len(found.rows))
    rows = [found.entries[start : start + width] for start in range(0, len(found.entries), width or 1)]
    counting = [sum(one.value is not None for one in column) > 1 for column in zip(*rows, strict=True)]
    slots = [
        sum(one.n for one, counts in zip(row, counting, strict=True) if counts and one.value is not None)
        for row in rows
    ]
    most = max(slots, default=0)
    return [one.mean is not None and count < most for one, count in zip(found.rows, slots, strict=False)]


def mean_columns(found: Aggregates) -> Iterator[Column]:
    """The mean of each row over the columns, and its interval where any has one."""
    if any(one.mean is not None for one in found.rows):
        places = mean_places(found)
        yield Column("mean", mean_texts(found), True)
        if any(one.mean_interval for one in found.rows):
            yield Column("interval", intervals([one.mean_interval for one in found.rows], places), True)


def _and(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}" if names else ""


def _and_more(names: Iterator[str] | Sequence[str], total: int) -> str:
    shown = list(itertools.islice(names, _NAMED * 4))
    return _and(shown) if len(shown) == total else f"{', '.join(shown)} and {total - len(shown)} more"
