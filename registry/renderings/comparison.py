"""A comparison: how far the contender is from the baseline, where, and how surely."""

from collections.abc import Iterator, Sequence
from typing import Any

from registry.renderings.numbers import (
    UNDEFINED,
    ends,
    ends_of,
    fixed,
    intervals,
    level_of,
    level_of_picked,
    p_value,
    places_of,
    places_shown,
    rough,
    signed,
)
from registry.renderings.sheet import Block, Heading, Lines
from registry.renderings.table import Column, Table, members, tidy
from registry.renderings.verdicts.comparison import comparison_verdict, state_of_side
from registry.renderings.words import (
    assumptions,
    attainable_p,
    axis_columns,
    counted,
    either,
    isolated,
    label,
    measure,
    named_test,
    place,
    said,
    slice_line,
    slope_per,
    times_interval,
    versus,
    why_not,
)
from registry.results.comparison import CellGap, ComparedGrid, Comparison, Flips, GapTest, GapTrend, ItemPairs, LevelGap

_FLIPS = ("both", "only_contender", "only_baseline", "neither")
_NOTHING = "no outcomes of items were posted"
_INTERVALS = {"mcnemar": "Tango's"}


def comparison_csv(document: Comparison) -> str:
    """One row a common cell: its coordinate, both values, the gap and its test."""
    axes = [axis["name"] for axis in document.axes]
    after = ["baseline", "contender", "gap", "better", "low", "high", "p", "p_holm", "test", *_FLIPS]
    return tidy([], (_row(cell, axes) for cell in document.cells), axes, after)


def _row(cell: CellGap, axes: Sequence[str]) -> list[Any]:
    found = [*(cell.at.get(axis) for axis in axes), cell.baseline, cell.contender, cell.gap]
    found += [cell.better, *ends(cell.interval), cell.p, cell.p_holm, cell.test]
    return [*found, *members(cell.items and cell.items.flips, *_FLIPS)]


def page(document: Comparison) -> Iterator[Block]:
    """The comparison's page: the whole first, the cells last."""
    yield Heading(f"{heading(document.contender, document.baseline)} — {measure(document.contender.metric)}", 1)
    yield comparison_verdict(document).text
    yield from slice_line(document.slice)
    yield Lines(tuple(_sides(document)))
    yield Lines(tuple(_findings(document)))
    yield from _items(document)
    yield from _margins(document)
    if document.along:
        yield Heading("How the gap changes", 2)
        yield Lines(tuple(_trend(trend, document) for trend in document.along))
    yield from _cells(document)


def heading(contender: ComparedGrid, baseline: ComparedGrid) -> str:
    """`A vs B` of the names that differ, or of two states of one grid."""
    mine, theirs = _names(contender), _names(baseline)
    return f"{state_of_side(contender)} vs {state_of_side(baseline)}" if mine == theirs else versus(mine, theirs)


def _names(side: ComparedGrid) -> tuple[str, str, str]:
    return side.benchmark, side.model, side.variant


def _sides(document: Comparison) -> Iterator[str]:
    baseline, contender = document.baseline, document.contender
    pairs = zip(_names(baseline), _names(contender), strict=True)
    if shared := [one for one, other in pairs if one and one == other]:
        yield f"both: {' · '.join(shared)}"
    for word, side in (("baseline", baseline), ("contender", contender)):
        yield f"{word}: " + (f"grid {side.grid}, revision {side.revision}" if side.grid else "not published")
    for warning in document.warnings:
        yield warning.detail
    if document.status != "ok":
        yield f"{said(document.status)}: {document.reason}"
    yield from assumptions(document.assumes)


def _findings(document: Comparison) -> Iterator[str]:
    """All cells together, one line a statistic."""
    alone = document.only_in_baseline.count, document.only_in_contender.count
    if document.status != "not_comparable" or any(alone):
        # Grids whose cells cannot be matched have counts of 0, which nobody counted.
        count = counted(document.n_common, "cell", "cells")
        yield f"{count} in common; only in the baseline {alone[0]}, only in the contender {alone[1]}"
    if document.wins is not None:
        yield f"the contender wins {document.wins}, ties {document.ties}, loses {document.losses}"
    places = _places(document)
    if document.mean is not None:
        yield f"gap: mean {signed(document.mean, places)}, median {signed(document.median, places)}"
    if document.test:
        yield tested(document.test, places)
    ratio = document.odds_ratio
    if ratio and ratio.value is not None and ratio.interval:
        within = ratio.interval
        yield f"odds ratio {ratio.value:.3g} [{within.low:.3g}, {within.high:.3g}] over all cells"
    elif ratio and ratio.strata:
        yield f"odds ratio without an interval: {ratio.reason}"
    if document.breslow_day and document.breslow_day.p is not None:
        yield f"the same odds ratio in all cells (Breslow–Day, Tarone): p {p_value(document.breslow_day.p)}"
    if document.agreement and document.agreement.tau is not None:
        yield f"agreement of both on the order of their cells: Kendall's tau {document.agreement.tau:.2f}"


def _places(document: Comparison) -> int | None:
    within = document.test.interval if document.test else None
    return places_of([document.mean, document.median, *ends(within)])


def tested(test: GapTest, places: int | None) -> str:
    """What a test of a mean difference found: its name, the difference with its interval, p."""
    if test.status != "ok":
        return f"no test: {why_not(test)}"
    within = test.interval
    about = f" {intervals([within], places)[0]} ({level_of(within)})" if within else ""
    seen = f"; could have shown {rough(test.detectable)}" if test.detectable is not None else ""
    return f"{named_test(test.name)}: {signed(test.difference, places)}{about}, p {p_value(test.p)}{seen}"


def _margins(document: Comparison) -> Iterator[Block]:
    if len(document.axes) < 2:  # the cells say it
        return
    for axis, margin in (document.by or {}).items():
        levels = [level for level in margin.levels if level.n_common]
        if not levels:
            continue
        yield Heading(f"By {axis}", 2)
        yield _margin(axis, levels)
        yield Lines(tuple(_margin_notes(axis, levels, document.alpha)))
        silent = len(margin.levels) - len(levels)
        if silent:
            yield f"{counted(silent, 'level', 'levels')} without a common cell"
        if margin.left_out:
            yield f"{counted(margin.left_out, 'more level', 'more levels')}"


def _margin(axis: str, levels: Sequence[LevelGap]) -> Table:
    tests = [level.test for level in levels]
    found = [test.interval if test else None for test in tests]
    places = places_of([*(level.mean for level in levels), *ends_of(found)])
    columns = [
        Column(axis, [label(level.level) for level in levels], True),
        Column("cells", [str(level.n_common) for level in levels], True),
    ]
    if levels[0].wins is not None:
        columns += [
            Column(name, [str(getattr(level, name)) for level in levels], True) for name in ("wins", "ties", "losses")
        ]
    return Table(
        [
            *columns,
            Column("mean", [signed(level.mean, places) for level in levels], True),
            Column("median", [signed(level.median, places) for level in levels], True),
            Column("interval", intervals(found, places)),
            Column("Holm p", [p_value(attainable_p(test)) for test in tests], True),
        ]
    )


def _margin_notes(axis: str, levels: Sequence[LevelGap], alpha: float) -> Iterator[str]:
    """Notes on the intervals and p-values of the levels."""
    tests = [level.test for level in levels if level.test and level.test.name]
    within = [test.name for test in tests if test.interval]
    if within:
        level = level_of_picked((test.interval for test in tests), alpha)
        yield f"interval: {either(map(named_test, within))}, {level}"
    if tests:
        yield f"Holm p: {either(named_test(test.name) for test in tests)}, over the levels of {isolated(axis)}"
    if silent := [test for test in tests if attainable_p(test) is None]:
        yield f"Holm p {UNDEFINED}: {why_not(silent[0])}"


def _trend(trend: GapTrend, document: Comparison) -> str:
    if trend.slope is None or trend.mann_kendall is None:
        return f"along {trend.along}: {trend.reason}"
    times, per, _ = slope_per(document.axes, trend.along, trend.x_scale)
    slope, within, test = times * trend.slope, times_interval(times, trend.slope_interval), trend.mann_kendall
    places = places_of([slope, *ends(within)])
    law = "exact p" if test.method == "exact" else "p"
    p = f"{law} {p_value(test.p)}" if trend.status == "ok" else str(trend.reason)
    reach = f" {intervals([within], places)[0]}" if within else ""
    series = counted(trend.series_count, "series", "series")
    apart = within and trend.status == "ok" and (within.low <= 0 <= within.high) == ((test.p or 0.0) < document.alpha)
    of_slope = "; the interval is of the slope alone: p tells whether the gap changes" if apart else ""
    return f"per {per}: {signed(slope, places)}{reach} over {series}; {p}{of_slope}"


def _cells(document: Comparison) -> Iterator[Block]:
    cells = document.cells
    if not cells:
        return
    yield Heading("Cells", 2)
    yield Table(list(_cell_columns(cells)))
    yield Lines(tuple(_cell_notes(cells, document.alpha)))
    if left := document.cells_left_out:
        yield f"and {counted(left, 'more cell', 'more cells')}: at {place(cells[-1].at)} the list ends"


def _cell_columns(cells: Sequence[CellGap]) -> Iterator[Column]:
    values = places_shown(value for cell in cells for value in (cell.baseline, cell.contender))
    if cells[0].at:
        yield from axis_columns([cell.at for cell in cells])
    yield Column("baseline", [fixed(cell.baseline, values) for cell in cells], True)
    yield Column("contender", [fixed(cell.contender, values) for cell in cells], True)
    yield Column("gap", [signed(cell.gap, values) for cell in cells], True)
    found = [cell.interval for cell in cells]
    if any(found):
        yield Column("interval", intervals(found, places_of(ends_of(found))))
        yield Column("Holm p", [p_value(cell.p_holm) for cell in cells], True)


def _cell_notes(cells: Sequence[CellGap], alpha: float) -> Iterator[str]:
    """Notes on the intervals and p-values of the cells."""
    tests = [cell.test for cell in cells if cell.test]
    if tests:
        named = either(_INTERVALS.get(test) or named_test(test) for test in tests)
        yield f"interval: {named}, {level_of_picked((cell.interval for cell in cells), alpha)}"
        yield f"Holm p: {either(map(named_test, tests))}, each cell by itself, over all tested cells"


def _items(document: Comparison) -> Iterator[Block]:
    """The flips in words and as a table; nothing where neither grid has outcomes of items."""
    found = document.items
    if found is None or found.reason == _NOTHING:
        return
    yield Heading("Item by item", 2)
    if not found.paired:
        yield f"not paired, and taken as independent samples: {found.reason}"
        return
    right, wrong = _words_of(document)
    if found.flips:
        yield _in_words(found, right, wrong)
        yield _flips(found.flips, right, wrong)
    yield Lines(tuple(_item_notes(found)))


def _words_of(document: Comparison) -> tuple[str, str]:
    """What an outcome of 1 is, and one of 0."""
    return ("right", "wrong") if document.baseline.metric.get("direction") == "higher" else ("1", "0")


def _in_words(found: ItemPairs, right: str, wrong: str) -> str:
    """Who is right where the other is wrong, in a sentence."""
    flips = found.flips
    if flips is None:
        return ""
    cells = f" in {found.cells} cells" if found.cells > 1 else ""
    return (
        f"The same {counted(found.items, 'item', 'items')}{cells} in both: the contender is {right} and the baseline"
        f" {wrong} {_times(flips.only_contender)}, the other way round {_times(flips.only_baseline)}; both are {right}"
        f" {_times(flips.both)}, neither {_times(flips.neither)}."
    )


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count:,} times" if count else "never"


def _flips(flips: Flips, right: str, wrong: str) -> Table:
    """The 2 x 2 table: the contender in rows, the baseline in columns."""
    return Table(
        [
            Column("", [f"contender {right}", f"contender {wrong}"]),
            Column(f"baseline {right}", [f"{flips.both:,}", f"{flips.only_baseline:,}"], True),
            Column(f"baseline {wrong}", [f"{flips.only_contender:,}", f"{flips.neither:,}"], True),
        ]
    )


def _item_notes(found: ItemPairs) -> Iterator[str]:
    if found.mcnemar:
        yield f"McNemar: exact p {p_value(found.mcnemar.p)}, mid-p {p_value(found.mcnemar.mid_p)}"
    elif found.flips:
        yield "an item that is in several cells is one cluster of the error"
    if found.caution:
        yield f"caution: {found.caution}"
