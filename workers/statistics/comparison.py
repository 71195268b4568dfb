"""The gap between two grids, contender less baseline, on the cells that both have.

A comparison answers for one difference. Where more than one of model, benchmark, variant and metric differs, the
numbers stand but nobody can say which of them the gap belongs to: `confounded`. Grids of different experiments share
no slot.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import fields, replace
from typing import Any

import numpy as np

from registry.grids.grid import Direction, Grid, Metric
from registry.grids.outcomes import scale_of
from registry.results.comparison import Agreement, Gap
from registry.results.gaps import CellGap, Contrast, GapMargin, GapTest, LevelGap
from registry.results.odds import BreslowDay, GapMantelHaenszel
from registry.results.terms import OF_REPEATS, Interval, Place
from workers.statistics.comparison_cells import cell_gaps, effective, of_trials
from workers.statistics.describe import OUT_OF_REACH
from workers.statistics.grid_trend import gap_trends
from workers.statistics.item_pairs import NO_ITEMS, Items, Pairs, pairs_of, together
from workers.statistics.kendall import inversions, tie_pattern, untied_pairs
from workers.statistics.matching import Matched, matched
from workers.statistics.multiplicity import adjusted
from workers.statistics.noise import effect_of
from workers.statistics.odds import Tables, breslow_day, odds_ratio, risk_difference
from workers.statistics.pairs import pair_table
from workers.statistics.score_matrix import ScoreMatrix, only
from workers.statistics.signs import WORK
from workers.statistics.table import Table, place_of
from workers.statistics.terms import MOST_WRITTEN_LEVELS, IntArray, decimals_of, ticks_of

ALL_LEVELS_WORK = 500_000_000
"""Additions that the exact tests of all levels may cost together."""


def gap(
    baseline: Grid, contender: Grid, differs: Sequence[str] = (), alpha: float = 0.05, items: Items = NO_ITEMS
) -> Gap:
    """The comparison of two grids; `differs` names what their identities differ in.

    Deterministic, for any grids; without NaN or Infinity; bounded by the limits that the modules state.
    """
    return compared((baseline, contender), differs, alpha, measured, items)


def gap_of_all_cells(
    baseline: Grid, contender: Grid, differs: Sequence[str] = (), alpha: float = 0.05, items: Items = NO_ITEMS
) -> Gap:
    """Gap of all common cells together, with its status; nothing of each cell, level or series."""
    return compared((baseline, contender), differs, alpha, overall, items)


Measure = Callable[[Gap, Matched, Pairs, Grid], Gap]
"""From a frame, the common cells, their items and the baseline."""


def compared(sides: tuple[Grid, Grid], differs: Sequence[str], alpha: float, measure: Measure, items: Items) -> Gap:
    """The comparison of two grids, the baseline first, measured so far as the numbers have a meaning."""
    baseline, contender = sides
    odd = other_scale(baseline.metric, contender.metric)
    named = (*differs, *(["metric"] if odd and "metric" not in differs else []))
    frame = Gap("ok", alpha=alpha, differs=named)

    def with_items(frame: Gap, found: Matched) -> Gap:
        return measure(frame, found, item_pairs(found, baseline, items), baseline)

    return filled(frame, sides, odd, with_items)


def item_pairs(found: Matched, baseline: Grid, items: Items) -> Pairs:
    """The common cells by their items."""
    by_trials = bool(of_trials(found).all())
    return pairs_of(found, items, scale_of(baseline.metric) or 1.0, by_trials=by_trials)


def filled(frame: Gap, sides: tuple[Grid, Grid], odd: str | None, measure: Callable[[Gap, Matched], Gap]) -> Gap:
    """Fills the frame as far as the numbers have a meaning."""
    if "experiment" in frame.differs:
        reason = "values of different experiments are not comparable (an alias joins two names of one experiment)"
        return replace(frame, status="not_comparable", reason=reason)
    baseline, contender = sides
    tables = Table.of(baseline), Table.of(contender)
    effects = effect_of(baseline), effect_of(contender)
    found = matched(*tables, effects)
    if found is None:
        return replace(frame, status="not_comparable", reason="the grids have not the same axes")
    frame = replace(
        frame,
        n_common=found.count,
        only_in_baseline=found.only_in_baseline,
        only_in_contender=found.only_in_contender,
    )
    if found.count == 0:
        return replace(frame, status="not_comparable", reason="no coordinate was measured in both")
    if not all(table.computable for table in tables):
        return replace(frame, status="undefined", reason=OUT_OF_REACH)
    frame = replace(frame, agreement=agreement(found))
    if odd is None:
        frame = measure(frame, found)
        if any(grid.design_effect is None and effect for grid, effect in zip(sides, effects, strict=True)):
            frame = replace(frame, assumes=(*frame.assumes, OF_REPEATS))
    return judged(frame, odd)


def judged(frame: Gap, odd: str | None) -> Gap:
    """The status of the whole."""
    if len(frame.differs) > 1:
        *most, last = frame.differs
        reason = f"{', '.join(most)} and {last} differ: the gap cannot be laid to one of them"
        return replace(frame, status="confounded", reason=f"{reason}; {odd}" if odd else reason)
    return replace(frame, status="undefined", reason=odd) if odd else frame


def other_scale(first: Metric, second: Metric) -> str | None:
    """Reason why the values of two metrics cannot be subtracted, or None."""
    for what in ("unit", "direction", "proportion_of"):
        mine, theirs = getattr(first, what), getattr(second, what)
        if mine != theirs:
            said = {"unit": "units", "direction": "directions", "proportion_of": "scales"}[what]
            return f"values of different {said} ({mine or 'none'} and {theirs or 'none'}) have no gap"
    return None


def overall(frame: Gap, found: Matched, pairs: Pairs, baseline: Grid) -> Gap:
    """All common cells together."""
    whole, assumes = contrast(found.standings(baseline.metric), baseline.metric.direction, frame.alpha, WORK)
    whole = by_items(whole, pairs, np.arange(found.count), frame.alpha)
    if whole.items and whole.items.paired:
        assumes = ("independent_items",)
    return replace(frame, **(shallow(whole) | {"status": frame.status}), assumes=assumes)


def by_items(found: Contrast, pairs: Pairs, chosen: IntArray, alpha: float) -> Contrast:
    """The contrast of some of the common cells; if all of them are paired, with the test of their items."""
    told, test = together(pairs, chosen, alpha)
    return replace(found, items=told, test=test or found.test)


def measured(frame: Gap, found: Matched, pairs: Pairs, baseline: Grid) -> Gap:
    """Everything that needs one scale."""
    direction, whole = baseline.metric.direction, baseline.metric.proportion_of
    standings = found.standings(baseline.metric)
    cells = cell_gaps(found, whole, direction, frame.alpha, pairs)
    frame = overall(frame, found, pairs, baseline)
    strata = stratified(found, whole, frame.alpha)
    return replace(
        frame,
        assumes=assumed(frame.assumes, cells, found),
        by=margins(found, standings, direction, frame.alpha, pairs),
        along=gap_trends(found, frame.alpha),
        mantel_haenszel=strata[0],
        breslow_day=strata[1],
        cells=cells,
        cells_left_out=found.count - len(cells),
    )


def shallow(found: Contrast) -> dict[str, Any]:
    """The fields of a contrast as they are."""
    return {field.name: getattr(found, field.name) for field in fields(Contrast)}


def assumed(words: tuple[str, ...], cells: Sequence[CellGap], found: Matched) -> tuple[str, ...]:
    """Assumptions of the tests of the whole and of the cells."""
    free = bool(np.isnan(found.design_effect).any()) and any(cell.test in ("fisher", "pooled_z") for cell in cells)
    return ("independent_trials", *words) if free and "independent_trials" not in words else words


def margins(
    found: Matched, standings: ScoreMatrix, direction: Direction | None, alpha: float, pairs: Pairs
) -> dict[str, GapMargin]:
    """The gap by the levels of each axis."""
    work = min(WORK, ALL_LEVELS_WORK // max(1, sum(len(axis.levels) for axis in found.axes)))
    by = {}
    for place, axis in enumerate(found.axes):
        kept = range(min(len(axis.levels), MOST_WRITTEN_LEVELS))
        slots = [np.flatnonzero(found.positions[:, place] == i) for i in kept]
        contrasts = [
            by_items(contrast(only(standings, chosen), direction, alpha, work)[0], pairs, chosen, alpha)
            for chosen in slots
        ]
        holm = adjusted([one.test.p if one.test else None for one in contrasts], "holm")
        levels = tuple(level_gap(place_of(axis, i), one, p) for i, one, p in zip(kept, contrasts, holm, strict=True))
        by[axis.name] = GapMargin(levels, len(axis.levels) - len(levels))
    return by


def level_gap(level: Place, found: Contrast, p_holm: float | None) -> LevelGap:
    """A contrast as one level of an axis."""
    test = found.test and replace(found.test, p_holm=p_holm)
    return LevelGap(**shallow(found) | {"test": test}, level=level)


def stratified(found: Matched, whole: float | None, alpha: float) -> tuple[GapMantelHaenszel, BreslowDay]:
    """Mantel–Haenszel and Breslow–Day over the cells for whose noise only trials speak, in both grids."""
    strata = np.flatnonzero(of_trials(found).all(axis=0))
    if whole is None or strata.size == 0:
        reason = "no common cell has trials in both grids"
        return GapMantelHaenszel("insufficient", 0, reason=reason), BreslowDay("insufficient", 0, reason=reason)
    (k1, k2), (n1, n2) = (array[:, strata] for array in effective(found, whole))
    risk = risk_difference(k1, n1, k2, n2, 1 - alpha)
    tables = Tables.of(k1, n1, k2, n2)
    ratio = odds_ratio(tables, 1 - alpha)
    return (
        GapMantelHaenszel(
            "ok" if risk.p is not None else "undefined",
            int(strata.size),
            risk.difference * whole,
            None if risk.stderr is None else risk.stderr * whole,
            risk.interval and Interval(1 - alpha, risk.interval.low * whole, risk.interval.high * whole),
            risk.p,
            risk.test,
            ratio,
            None if risk.p is not None else "every trial came out the same",
        ),
        breslow_day(tables, ratio),
    )


def agreement(found: Matched) -> Agreement:
    """Kendall's tau-b (1945) in O(m log m)."""
    if found.count < 2:
        return Agreement("insufficient", reason="one common cell has no order")
    ticks = [ticks_of(values, decimals_of(values)) for values in found.values]
    first, second = (np.unique(row, return_inverse=True)[1] for row in ticks)
    sizes = [untied_pairs(found.count, tie_pattern(ranks)) for ranks in (first, second)]
    if min(sizes) == 0:
        return Agreement("undefined", reason="every value of one grid is the same")
    return Agreement("ok", float(concordance(first, second) / np.sqrt(float(sizes[0]) * float(sizes[1]))))


def concordance(first: IntArray, second: IntArray) -> int:
    """Pairs in the same order less pairs in the opposite order; a pair that ties in either counts for neither."""
    against = inversions(second[np.lexsort((second, first))])
    turned = int(second.max()) - second
    return inversions(turned[np.lexsort((turned, first))]) - against


def contrast(
    standings: ScoreMatrix, direction: Direction | None, alpha: float, work: int
) -> tuple[Contrast, tuple[str, ...]]:
    """The contender against the baseline over all slots of the standings, which both have, and what that assumes."""
    if standings.values.shape[1] == 0:
        return Contrast("not_comparable", reason="no common cell"), ()
    table = pair_table(standings, alpha, work=work)
    [pair] = table.pairs
    gaps = (standings.ticks[0] - standings.ticks[1]) / 10.0**standings.decimals
    test = GapTest(
        pair.status,
        pair.test,
        pair.difference,
        pair.interval,
        pair.stderr,
        pair.df,
        pair.p,
        None,
        pair.detectable,
        pair.min_attainable_p,
        pair.reason,
    )
    wins, ties, losses = (pair.wins, pair.ties, pair.losses) if direction else (None, None, None)
    mean, median = math.fsum(gaps.tolist()) / gaps.size, float(np.median(gaps))
    return Contrast("ok", pair.n_common, wins, ties, losses, mean, median, test), table.assumes
