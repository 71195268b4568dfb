"""The gap between two grids, contender less baseline, on the cells that both have, with what noise says about it.

Where only trials speak for the noise of both sides of a cell: the score test (`score_test`), with trials and successes
over the posted design effect. Where both have a standard error (a posted one goes before trials, these before one from
repeats): z, or Welch's t where an error comes from repeats. Else only the gap. Outcomes of the same items in both go
before all of these (`matching`). The interval of a gap that is shown has the level that its selection asks for
(`pairs`).

All cells together, and those of a level, are judged as the pair of a ranking, over benchmarks too. Where the noise of a
cell is not known, what the cells differ by is all there is: Student's t over them, as draws of their kind
(`exchangeable_cells`). That is about other cells of the kind; for these very ones it is cautious, as their spread holds
their noise and more (Neyman 1923).

A comparison answers for one difference. Where more than one of model, benchmark, variant and metric differs, the
numbers stand but nobody can say which of them the gap belongs to: `confounded`. Grids of different experiments share
no slot.
"""

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
from registry.results.sensitivity import BreslowDay, OddsRatio
from registry.results.terms import NO_SPREAD, OF_REPEATS, ROUNDED, Interval, Place
from workers.statistics.cells import noise
from workers.statistics.describe import OUT_OF_REACH
from workers.statistics.judging import adjusted
from workers.statistics.matching import (
    NO_ITEMS,
    CellPair,
    Items,
    Matched,
    PairedCell,
    Pairs,
    around,
    cell_pair,
    matched,
    pairs_of,
    together,
)
from workers.statistics.noise import assumed_of_effect, effect_of, uncertainty
from workers.statistics.pairs import ALIKE, UNKNOWN, LonePairs, lone_pairs
from workers.statistics.power import detectable
from workers.statistics.proportions import Tables, breslow_day, odds_ratio
from workers.statistics.ranks import inversions, tie_pattern, untied_pairs
from workers.statistics.score_test import Strata
from workers.statistics.table import Table, place_of
from workers.statistics.terms import (
    MOST_WRITTEN_LEVELS,
    ROUNDING,
    SMALLEST_P,
    BoolArray,
    FloatArray,
    IntArray,
    decimals_of,
    ticks_of,
    two_sided,
)
from workers.statistics.trend import gap_trends

OVER_CELLS = "t_over_cells"
MOST_CELLS = 10_000
"""Cells that an answer lists, in row-major order; the rest is counted and tested."""


@dataclass(frozen=True)
class Tested:
    """Tests of m cells as arrays: NaN and no name where there is none. Errors in the metric's unit, NaN of cells that
    are tested by their trials."""

    p: FloatArray
    stderr: FloatArray
    df: FloatArray
    names: list[CellTest | None]


def cell_gaps(
    found: Matched, whole: float | None, direction: Direction | None, alpha: float, pairs: Pairs
) -> tuple[CellGap, ...]:
    """The cells in row-major order, at most `MOST_CELLS`."""
    tested, paired = tests(found, whole), dict[int, CellPair]()
    for i, cell in enumerate(pairs.cells):
        if isinstance(cell, PairedCell):
            paired[i] = own = cell_pair(cell, pairs.whole, alpha)
            tested.p[i], tested.names[i] = (np.nan, None) if own.p is None else (own.p, own.test)
    holm = adjusted([None if np.isnan(p) else float(p) for p in tested.p], "holm")
    levels = [alpha if level is None else level for level in selected(holm, alpha)]
    for i in paired:
        paired[i] = cell_pair(pairs.cells[i], pairs.whole, levels[i])  # type: ignore[arg-type]
    low, high = ends_of(found, whole, tested, np.array(levels))
    scale = 10.0**found.decimals
    rows = []
    for i in range(min(found.count, MOST_CELLS)):
        places, ends = found.positions[i].tolist(), None
        if i in paired:
            ends = paired[i].interval
        elif np.isfinite(low[i]):
            ends = Interval(1 - levels[i], float(low[i]), float(high[i]))
        rows.append(
            CellGap(
                {axis.name: place_of(axis, place) for axis, place in zip(found.axes, places, strict=True)},
                float(found.values[1, i]),
                float(found.values[0, i]),
                float(found.gaps[i] / scale),
                better(int(found.gaps[i]), direction),
                ends,
                float(tested.p[i]) if np.isfinite(tested.p[i]) else None,
                holm[i],
                tested.names[i],
                paired[i].items if i in paired else None,
            )
        )
    return tuple(rows)


def better(gap: int, direction: Direction | None) -> Better | None:
    """Better side in a cell: `contender`, `baseline` or `tie`; `None` for a metric without a better end."""
    if direction is None:
        return None
    turned = -gap if direction == "lower" else gap
    return "tie" if turned == 0 else "contender" if turned > 0 else "baseline"


def tests(found: Matched, whole: float | None) -> Tested:
    """Tests that the noise of every cell allows."""
    p, error, df = (np.full(found.count, np.nan) for _ in range(3))
    names: list[CellTest | None] = [None] * found.count
    trials = np.asarray(of_trials(found).all(axis=0) & bool(whole), dtype=np.bool_)
    if whole and trials.any():
        z = np.abs(table_of(found, whole, np.flatnonzero(trials)).deviate(np.zeros(int(trials.sum()))))
        p[trials] = np.maximum(erfc(z / np.sqrt(2.0)), SMALLEST_P)
    _, _, variance, free, _ = noise(found.standings(Metric("", None, None, 0.0 if whole else None, whole)))
    known = np.isfinite(variance).all(axis=0) & (variance.sum(axis=0) > 0) & ~trials
    total = variance[:, known].sum(axis=0)
    df[known] = cell_df(variance[:, known], free[:, known])
    error[known] = np.sqrt(total)
    size = np.abs(found.gaps[known]) / 10.0**found.decimals / error[known]
    normal = np.isinf(df[known])
    p[known] = np.where(normal, erfc(size / np.sqrt(2.0)), 2 * stdtr(np.where(normal, 1.0, df[known]), -size))
    for i in np.flatnonzero(trials | known).tolist():
        names[i] = "score" if trials[i] else "z" if np.isinf(df[i]) else "welch"
    return Tested(np.maximum(p, SMALLEST_P), error, df, names)


def cell_df(variance: FloatArray, df: FloatArray) -> FloatArray:
    """Welch's (1947) degrees of freedom of the difference in each of m cells (2 x m), infinite where no error was
    estimated; at most those that the shares of both sides in the variance of all cells give. Out of few repeats the
    noisier side happens to look quiet in some of many cells, and just there the difference looks large: 12 cells of
    3 repeats, of which one side is 6 times as noisy, have 8.3 % false alarms by Welch's and 2.1 % by these."""
    weight = uncertainty(variance[..., None], df[..., None])
    own = np.divide(variance.sum(axis=0) ** 2, weight, out=np.full(weight.shape, np.inf), where=weight > 0)
    estimated = np.isfinite(df).all(axis=0) & np.isfinite(own)
    sides = variance[:, estimated].sum(axis=1, keepdims=True)
    if not sides.any():
        return np.asarray(own, dtype=np.float64)
    shared = 1 / np.sum((sides / sides.sum()) ** 2 / df, axis=0)
    return np.asarray(np.where(estimated, np.fmin(own, shared), own), dtype=np.float64)


def ends_of(found: Matched, whole: float | None, tested: Tested, levels: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Ends of the intervals of the cells, each with its own alpha, by their trials or errors; NaN elsewhere."""
    gaps, normal = found.gaps / 10.0**found.decimals, np.isinf(tested.df)
    quantile = np.where(normal, ndtri(1 - levels / 2), stdtrit(np.where(normal, 1.0, tested.df), 1 - levels / 2))
    low, high = gaps - quantile * tested.stderr, gaps + quantile * tested.stderr
    chosen = np.array([i for i, name in enumerate(tested.names) if name == "score"], dtype=np.int64)
    if whole and chosen.size:
        ends = table_of(found, whole, chosen).ends(ndtri(1 - levels[chosen] / 2))
        low[chosen], high[chosen] = (end * whole for end in ends)
    return low, high


def table_of(found: Matched, whole: float, chosen: IntArray) -> Strata:
    """The contender's trials against the baseline's in some cells, each by itself."""
    (k1, k2), (n1, n2) = (array[:, chosen] for array in effective(found, whole))
    return replace(Strata.of(k1, n1, k2, n2), difference=found.gaps[chosen] / 10.0**found.decimals / whole)


def selected(p_holm: Sequence[float | None], alpha: float) -> list[float | None]:
    """The alpha of each interval: R alpha / m of those that Holm shows (Benjamini and Yekutieli 2005)."""
    known = [p for p in p_holm if p is not None]
    share = sum(p < alpha for p in known) / max(1, len(known))
    return [None if p is None else alpha * share if p < alpha else alpha for p in p_holm]


def of_trials(found: Matched) -> BoolArray:
    """Mask of the cells whose noise is known from trials alone, of the shape of the trials."""
    return np.asarray((found.trials > 0) & ~((found.stderr > 0) & (found.repeats == 0)), dtype=np.bool_)


def effective(found: Matched, whole: float) -> tuple[FloatArray, FloatArray]:
    """Successes (the nearest whole numbers) and trials, over the design effect."""
    effect = np.where(np.isfinite(found.design_effect), found.design_effect, 1.0)[:, None]
    return np.rint(found.values / whole * found.trials) / effect, found.trials / effect


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
    effects = effect_of(baseline, contender), effect_of(contender, baseline)
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
        words = dict.fromkeys(word for both in (sides, sides[::-1]) for word in assumed_of_effect(*both))
        free = ("independent_trials",) * (ROUNDED in words and OF_REPEATS not in words)
        frame = replace(frame, assumes=tuple(dict.fromkeys((*free, *frame.assumes, *words))))
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
    table = lone_pairs(found.standings(baseline.metric), frame.alpha)
    [whole] = contrasts(table, [0], baseline.metric.direction)
    assumes = ("exchangeable_cells",) if whole.test and whole.test.name == OVER_CELLS else table.assumes
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
    cells = cell_gaps(found, whole, direction, frame.alpha, pairs)
    frame = overall(frame, found, pairs, baseline)
    ratio, same = stratified(found, whole, frame.alpha)
    return replace(
        frame,
        assumes=assumed(frame.assumes, cells, found),
        by={
            axis.name: margin(found, place, baseline.metric, frame.alpha, pairs)
            for place, axis in enumerate(found.axes)
        },
        along=gap_trends(found, frame.alpha),
        odds_ratio=ratio,
        breslow_day=same,
        cells=cells,
        cells_left_out=found.count - len(cells),
    )


def shallow(found: Contrast) -> dict[str, Any]:
    """The fields of a contrast as they are."""
    return {field.name: getattr(found, field.name) for field in fields(Contrast)}


def assumed(words: tuple[str, ...], cells: Sequence[CellGap], found: Matched) -> tuple[str, ...]:
    """Assumptions of the tests of the whole and of the cells."""
    free = bool(np.isnan(found.design_effect).any()) and any(cell.test == "score" for cell in cells)
    return ("independent_trials", *words) if free and "independent_trials" not in words else words


def margin(found: Matched, place: int, metric: Metric, alpha: float, pairs: Pairs) -> GapMargin:
    """The gap by the levels of the axis at this place."""
    axis, table = found.axes[place], lone_pairs(found.standings(metric, place), alpha)

    def at(rows: Sequence[int], level: float) -> list[Contrast]:
        own = contrasts(replace(table, alpha=level), rows, metric.direction)
        slots = (np.flatnonzero(found.positions[:, place] == i) for i in rows)
        return [by_items(one, pairs, chosen, level) for one, chosen in zip(own, slots, strict=True)]

    kept = range(min(len(axis.levels), MOST_WRITTEN_LEVELS))
    levels = at(kept, alpha)
    holm = adjusted([one.test.p if one.test else None for one in levels], "holm")
    alphas = selected(holm, alpha)
    for level in {one for one in alphas if one is not None and one != alpha}:
        rows = [i for i in kept if alphas[i] == level]
        for i, one in zip(rows, at(rows, level), strict=True):
            levels[i] = one
    told = tuple(level_gap(place_of(axis, i), one, p) for i, one, p in zip(kept, levels, holm, strict=True))
    return GapMargin(told, len(axis.levels) - len(told))


def level_gap(level: Place, found: Contrast, p_holm: float | None) -> LevelGap:
    test = found.test and replace(found.test, p_holm=p_holm)
    return LevelGap(**shallow(found) | {"test": test}, level=level)


def stratified(found: Matched, whole: float | None, alpha: float) -> tuple[OddsRatio, BreslowDay]:
    """The common odds ratio and Breslow–Day over the cells for whose noise only trials speak, in both grids."""
    strata = np.flatnonzero(of_trials(found).all(axis=0))
    if whole is None or strata.size == 0:
        reason = "no common cell has trials in both grids"
        return OddsRatio("insufficient", 0, reason=reason), BreslowDay("insufficient", 0, reason=reason)
    (k1, k2), (n1, n2) = (array[:, strata] for array in effective(found, whole))
    tables = Tables.of(k1, n1, k2, n2)
    ratio = odds_ratio(tables, 1 - alpha)
    return ratio, breslow_day(tables, ratio)


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


def contrasts(table: LonePairs, rows: Sequence[int], direction: Direction | None) -> list[Contrast]:
    """Some of the pairs of contender and baseline, each over the slots that both have."""
    standings, half = table.standings, len(table.standings.names) // 2
    found = []
    for i, pair in zip(rows, table.pairs([(i, half + i) for i in rows]), strict=True):
        if not pair.n_common:
            found.append(Contrast("not_comparable", reason="no common cell"))
            continue
        shared = standings.present[i]
        gaps = (standings.ticks[i] - standings.ticks[half + i])[shared] / 10.0 ** standings.decimals[shared]
        if pair.reason in (UNKNOWN, NO_SPREAD):
            test = over_cells(gaps, table.alpha, pair.reason)
        else:
            estimate = pair.difference, pair.interval, pair.stderr, pair.df, pair.p
            test = GapTest(pair.status, pair.test, *estimate, detectable=pair.detectable, reason=pair.reason)
        wins, ties, losses = (pair.wins, pair.ties, pair.losses) if direction else (None, None, None)
        mean, median = math.fsum(gaps.tolist()) / gaps.size, float(np.median(gaps))
        found.append(Contrast("ok", pair.n_common, wins, ties, losses, mean, median, test))
    return found


def over_cells(gaps: FloatArray, alpha: float, alone: str) -> GapTest:
    """Student's t (1908) of gaps that are taken as draws of one kind; `alone` says why there is no test of one."""
    mean = math.fsum(gaps.tolist()) / gaps.size
    stderr = float(gaps.std(ddof=1)) / math.sqrt(gaps.size) if gaps.size > 1 else 0.0
    if stderr <= ROUNDING * abs(mean):
        return GapTest("insufficient", OVER_CELLS, mean, reason=ALIKE if gaps.size > 1 else alone)
    df = gaps.size - 1.0
    ends, p = around(mean, stderr, 1 - alpha, df), two_sided(mean / stderr, df)
    return GapTest("ok", OVER_CELLS, mean, ends, stderr, df, p, detectable=detectable(stderr, df, alpha))
