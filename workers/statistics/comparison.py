"""The gap in each cell that two grids share, with what the cell's noise says about it.

Where only trials speak for the noise of both cells: Newcombe's interval and Fisher's exact test, with trials and
successes over the posted design effect. Where both have a standard error (a posted one goes before trials, these
before one from repeats): z, or Welch's t where an error comes from repeats. Else only the gap. Outcomes of the same
items in both go before all of these (`matching`).

The gap between two grids, contender less baseline, on the cells that both have.

A comparison answers for one difference. Where more than one of model, benchmark, variant and metric differs, the
numbers stand but nobody can say which of them the gap belongs to: `confounded`. Grids of different experiments share
no slot.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from scipy.special import erfc, ndtri, stdtr, stdtrit

from registry.grids.grid import Direction, Grid, Metric
from registry.grids.outcomes import scale_of
from registry.results.comparison import (
    Agreement,
    Better,
    CellGap,
    CellTest,
    Contrast,
    Gap,
    GapMargin,
    GapTest,
    LevelGap,
)
from registry.results.items import CellItems
from registry.results.sensitivity import BreslowDay, GapMantelHaenszel
from registry.results.terms import OF_REPEATS, Interval, Place
from workers.statistics.cells import noise
from workers.statistics.describe import OUT_OF_REACH
from workers.statistics.judging import adjusted
from workers.statistics.matching import (
    NO_ITEMS,
    Items,
    Matched,
    PairedCell,
    Pairs,
    cell_pair,
    matched,
    pairs_of,
    together,
)
from workers.statistics.noise import effect_of
from workers.statistics.pairs import WORK, pair_table
from workers.statistics.proportions import (
    EXACT_TRIALS,
    Tables,
    breslow_day,
    fisher_p,
    newcombe,
    odds_ratio,
    pooled_z_p,
    risk_difference,
)
from workers.statistics.ranks import inversions, tie_pattern, untied_pairs
from workers.statistics.score_matrix import ScoreMatrix, only
from workers.statistics.table import Table, place_of
from workers.statistics.terms import (
    MOST_WRITTEN_LEVELS,
    SMALLEST_P,
    BoolArray,
    FloatArray,
    IntArray,
    decimals_of,
    ticks_of,
)
from workers.statistics.trend import gap_trends

MOST_CELLS = 10_000
"""Cells that an answer lists, in row-major order; the rest is counted and tested."""
MOST_TABLES = 20_000_000
"""2 x 2 tables that all exact tests of one comparison may look at; above it they are normal."""


@dataclass(frozen=True)
class Tested:
    """Tests of m cells as arrays: NaN and an empty name where there is none. Ends in the metric's unit."""

    low: FloatArray
    high: FloatArray
    p: FloatArray
    names: list[CellTest | None]


def cell_gaps(
    found: Matched, whole: float | None, direction: Direction | None, alpha: float, pairs: Pairs
) -> tuple[CellGap, ...]:
    """The cells in row-major order, at most `MOST_CELLS`."""
    tested = tests(found, whole, alpha)
    told = put_item_tests(tested, pairs, alpha)
    holm = adjusted([None if np.isnan(p) else float(p) for p in tested.p], "holm")
    scale, known_ends = 10.0**found.decimals, np.isfinite(tested.low).tolist()
    rows = []
    for i in range(min(found.count, MOST_CELLS)):
        known = bool(np.isfinite(tested.p[i]))
        places = found.positions[i].tolist()
        rows.append(
            CellGap(
                {axis.name: place_of(axis, place) for axis, place in zip(found.axes, places, strict=True)},
                float(found.values[1, i]),
                float(found.values[0, i]),
                float(found.gaps[i] / scale),
                better(int(found.gaps[i]), direction),
                Interval(1 - alpha, float(tested.low[i]), float(tested.high[i])) if known_ends[i] else None,
                float(tested.p[i]) if known else None,
                holm[i],
                tested.names[i],
                told.get(i),
            )
        )
    return tuple(rows)


def put_item_tests(tested: Tested, pairs: Pairs, alpha: float) -> dict[int, CellItems]:
    """Put the paired tests of the cells that have items in the place of the others, and return these items."""
    told = {}
    for i, cell in enumerate(pairs.cells):
        if isinstance(cell, PairedCell):
            found = cell_pair(cell, pairs.whole, alpha)
            ends, p = found.interval, found.p
            tested.low[i], tested.high[i] = (ends.low, ends.high) if ends else (np.nan, np.nan)
            tested.p[i], tested.names[i] = (np.nan, None) if p is None else (p, found.test)
            told[i] = found.items
    return told


def better(gap: int, direction: Direction | None) -> Better | None:
    """Better side in a cell: `contender`, `baseline` or `tie`; `None` for a metric without a better end."""
    if direction is None:
        return None
    turned = -gap if direction == "lower" else gap
    return "tie" if turned == 0 else "contender" if turned > 0 else "baseline"


def tests(found: Matched, whole: float | None, alpha: float) -> Tested:
    """Tests that the noise of every cell allows."""
    low, high, p = (np.full(found.count, np.nan) for _ in range(3))
    names: list[CellTest | None] = [None] * found.count
    trials = np.flatnonzero(of_trials(found).all(axis=0)) if whole else np.empty(0, dtype=np.int64)
    if whole and trials.size:
        counts = (np.rint(array[:, trials]).astype(np.int64) for array in effective(found, whole))
        (k2, k1), (n2, n1) = counts
        low[trials], high[trials] = (end * whole for end in newcombe(k1, n1, k2, n2, 1 - alpha))
        p[trials], name = exact_or_normal(k1, n1, k2, n2)
        for i in trials.tolist():
            names[i] = name
    standings = found.standings(Metric("", None, None, 0.0 if whole else None, whole))
    _, _, variance, df, _ = noise(standings)
    known = np.isfinite(variance).all(axis=0) & (variance.sum(axis=0) > 0)
    known[trials] = False
    chosen = np.flatnonzero(known)
    if chosen.size:
        gaps = found.gaps[chosen] / 10.0**found.decimals
        p[chosen], reach, free = welch(gaps, variance[:, chosen], df[:, chosen], alpha)
        low[chosen], high[chosen] = gaps - reach, gaps + reach
        for i, normal in zip(chosen.tolist(), np.isinf(free).tolist(), strict=True):
            names[i] = "z" if normal else "welch"
    return Tested(low, high, p, names)


def welch(
    gaps: FloatArray, variance: FloatArray, df: FloatArray, alpha: float
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Two-sided p of differences whose two parts have these variances (2 x m), how far the intervals reach, and the
    degrees of freedom of Welch (1947), infinite where both errors are known."""
    total = variance.sum(axis=0)
    weight = np.sum(variance**2 / df, axis=0)
    free = np.divide(total**2, weight, out=np.full(total.size, np.inf), where=weight > 0)
    normal, some = np.isinf(free), np.where(np.isinf(free), 1.0, free)
    size = np.abs(gaps) / np.sqrt(total)
    p = np.where(normal, erfc(size / np.sqrt(2.0)), 2 * stdtr(some, -size))
    quantile = np.where(normal, ndtri(1 - alpha / 2), stdtrit(some, 1 - alpha / 2))
    return np.maximum(p, SMALLEST_P), np.asarray(quantile * np.sqrt(total), dtype=np.float64), free


def of_trials(found: Matched) -> BoolArray:
    """Mask of the cells whose noise is known from trials alone, of the shape of the trials."""
    return np.asarray((found.trials > 0) & ~((found.stderr > 0) & (found.repeats == 0)), dtype=np.bool_)


def effective(found: Matched, whole: float) -> tuple[FloatArray, FloatArray]:
    """Successes (the nearest whole numbers) and trials, over the design effect."""
    effect = np.where(np.isfinite(found.design_effect), found.design_effect, 1.0)[:, None]
    return np.rint(found.values / whole * found.trials) / effect, found.trials / effect


def exact_or_normal(k1: IntArray, n1: IntArray, k2: IntArray, n2: IntArray) -> tuple[FloatArray, CellTest]:
    """Fisher's p of each pair in affordable portions, or the pooled z where they would cost too much."""
    most = int(np.minimum(np.minimum(k1 + k2, n1 + n2 - k1 - k2), np.minimum(n1, n2)).max()) + 1
    if int((n1 + n2).max()) > EXACT_TRIALS or most * k1.size > MOST_TABLES:
        return pooled_z_p(k1, n1, k2, n2), "pooled_z"
    portion = max(1, 1_000_000 // most)
    parts = [slice(start, start + portion) for start in range(0, k1.size, portion)]
    return np.concatenate([fisher_p(k1[part], n1[part], k2[part], n2[part]) for part in parts]), "fisher"


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
    frame = Gap("ok", alpha=alpha, differs=(*differs, *(["metric"] if odd and "metric" not in differs else [])))
    if "experiment" in frame.differs:
        reason = "values of different experiments are not comparable (an alias joins two names of one experiment)"
        return replace(frame, status="not_comparable", reason=reason)
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
        frame = measure(frame, found, item_pairs(found, baseline, items), baseline)
        if any(grid.design_effect is None and effect for grid, effect in zip(sides, effects, strict=True)):
            frame = replace(frame, assumes=(*frame.assumes, OF_REPEATS))
    return judged(frame, odd)


def item_pairs(found: Matched, baseline: Grid, items: Items) -> Pairs:
    """The common cells by their items."""
    by_trials = bool(of_trials(found).all())
    return pairs_of(found, items, scale_of(baseline.metric) or 1.0, by_trials=by_trials)


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
