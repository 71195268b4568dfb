"""Match two grids for a comparison or a gate: cell by cell on the coordinates that both have, then item by item.

Axes are the same by name, in whatever order; levels by their number where they have one, else by their label.

One cell of bits: exact McNemar (1947), two-sided, with its mid-p beside it, as Fagerland, Lydersen and Laake (2013, BMC
Medical Research Methodology 13:91) recommend, and the interval of `paired_score`. Scores: Student's t of the item
differences.

Several cells: an item that is in several of them is one cluster. With weights w of the cells, n items and differences
d, item i adds psi_i, the sum over its cells of w (d_i - mean of d) / n, and the variance of the weighted mean is the
sum over the item sets of G/(G-1) times the sum of psi^2 (Miller 2024, arXiv 2411.00640, equation 4, within cells; the
factor and Student's t as Cameron and Miller 2015 advise for few clusters). Degrees of freedom: G - 1, by Satterthwaite
where there are several sets.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import bdtr, gammaln

from registry.grids.grid import Axis, Metric
from registry.grids.outcomes import HeldItems, Outcomes
from registry.plans.closed_forms import Goal
from registry.plans.paired_items import PairedItems
from registry.results.comparison import CellItems, CellTest, Flips, GapTest, ItemPairs, McNemar, OnlyIn
from registry.results.terms import Interval
from workers.statistics.paired_score import PairedSample
from workers.statistics.power import detectable
from workers.statistics.score_matrix import ScoreMatrix
from workers.statistics.table import Table
from workers.statistics.terms import (
    SMALLEST_P,
    BoolArray,
    FloatArray,
    IntArray,
    decimals_of,
    reach_of,
    ticks_of,
    two_sided,
)

MOST_LISTED = 100
"""Coordinates that only one of the grids has, as far as an answer lists them; the rest is counted."""


@dataclass(frozen=True)
class Matched:
    """The cells of two grids that lie at the same coordinates.

    `axes` are the baseline's, with the levels that both grids declare. `present` says over these axes where both
    have a cell. The other arrays are flat, m cells in row-major order, the contender in row 0 and the baseline in
    row 1; `flat` is the index of a cell in its own grid, `trials` is 0 and `stderr` NaN where unknown, `repeats` 0
    where an error was not estimated from any.
    `design_effect` is that of each grid, NaN where none was posted.
    """

    axes: tuple[Axis, ...]
    present: BoolArray
    flat: IntArray
    values: FloatArray
    trials: IntArray
    stderr: FloatArray
    repeats: IntArray
    design_effect: FloatArray
    only_in_baseline: OnlyIn
    only_in_contender: OnlyIn

    @property
    def count(self) -> int:
        """Number of cells that both have."""
        return int(self.values.shape[1])

    @cached_property
    def decimals(self) -> int:
        """The submitted decimals of both grids together."""
        return decimals_of(self.values)

    @cached_property
    def ticks(self) -> IntArray:
        """The values as integers of 10^-decimals; ties are ties of these."""
        return ticks_of(self.values, self.decimals)

    @cached_property
    def gaps(self) -> IntArray:
        """Contender less baseline, in ticks."""
        return np.asarray(self.ticks[0] - self.ticks[1], dtype=np.int64)

    @cached_property
    def positions(self) -> IntArray:
        """The position of each cell on each axis: m x axes."""
        return np.argwhere(self.present).reshape(self.count, len(self.axes))

    def standings(self, metric: Metric, axis: int | None = None) -> ScoreMatrix:
        """The contender against the baseline, as a ranking compares two names on one benchmark. With an axis they are
        one name at each of its levels, first all of the contender, and slots are the places on the other axes."""

        def spread(array: Any, absent: Any) -> Any:
            if axis is None:
                return array
            whole = np.full((2, *self.present.shape), absent, dtype=array.dtype)
            whole[:, self.present] = array
            return np.moveaxis(whole, axis + 1, 1).reshape(2 * self.present.shape[axis], -1)

        values = spread(self.values, np.nan)
        return ScoreMatrix(
            tuple(np.repeat(("contender", "baseline"), len(values) // 2).tolist()),
            values,
            np.zeros(values.shape[1], dtype=np.int64),
            ("",),
            spread(self.trials, 0) if self.trials.any() else None,
            metric.direction,
            metric.lower,
            metric.upper,
            stderr=spread(self.stderr, np.nan) if np.isfinite(self.stderr).any() else None,
            repeats=spread(self.repeats, 0),
            design_effect=np.broadcast_to(np.repeat(self.design_effect, len(values) // 2)[:, None], values.shape),
        )


def matched(
    baseline: Table, contender: Table, effects: tuple[float | None, float | None] = (None, None)
) -> Matched | None:
    """The common cells; `None` when the grids do not have axes of the same names. `effects` are the posted design
    effects of baseline and contender."""
    names = [axis.name for axis in contender.axes]
    if {axis.name for axis in baseline.axes} != set(names):
        return None
    order = [names.index(axis.name) for axis in baseline.axes]
    pairs = [common_levels(axis, contender.axes[i]) for axis, i in zip(baseline.axes, order, strict=True)]
    mine, theirs = np.ix_(*(first for first, _ in pairs)), np.ix_(*(second for _, second in pairs))
    both = picked(contender, theirs, order), picked(baseline, mine, list(range(len(order))))
    present = np.isfinite(both[0].values) & np.isfinite(both[1].values)
    inside = [np.zeros(table.values.shape, dtype=np.bool_) for table in (baseline, contender)]
    inside[0][mine] = present
    # A view: what is written to the transposed array lands in the contender's own order of axes.
    inside[1].transpose(order)[theirs] = present
    return Matched(
        tuple(
            replace(axis, levels=tuple(axis.levels[i] for i in first))
            for axis, (first, _) in zip(baseline.axes, pairs, strict=True)
        ),
        present,
        np.stack([one.flat[present] for one in both]),
        np.stack([one.values[present] for one in both]),
        np.stack([one.trials[present] for one in both]),
        np.stack([one.stderr[present] for one in both]),
        np.stack([one.repeats[present] for one in both]),
        np.array([np.nan if one is None else one for one in reversed(effects)], dtype=np.float64),
        only_in(baseline, inside[0]),
        only_in(contender, inside[1]),
    )


@dataclass(frozen=True)
class Picked:
    """Some levels of a table, its axes in another order."""

    flat: IntArray
    values: FloatArray
    trials: IntArray
    stderr: FloatArray
    repeats: IntArray


def picked(table: Table, levels: tuple[IntArray, ...], order: Sequence[int]) -> Picked:
    """The arrays of a table at some levels of each axis; absent ones filled with what stands for unknown."""
    shape = table.values.shape
    none, unknown = np.zeros(shape, dtype=np.int64), np.full(shape, np.nan)
    given = (
        np.arange(table.values.size).reshape(shape),
        table.values,
        none if table.trials is None else table.trials,
        unknown if table.stderr is None else table.stderr,
        none if table.repeats is None else table.repeats,
    )
    flat, values, trials, stderr, repeats = (np.asarray(array.transpose(order)[levels]) for array in given)
    return Picked(flat, values, trials, stderr, repeats)


def common_levels(first: Axis, second: Axis) -> tuple[IntArray, IntArray]:
    """The positions, on either axis, of the levels that both have, in the order of the first."""
    by_number = all(len(set(axis.numbers)) == len(axis.levels) for axis in (first, second))
    keys = [level_keys(axis, by_number) for axis in (first, second)]
    places = {key: i for i, key in enumerate(keys[1])}
    mine = [i for i, key in enumerate(keys[0]) if key in places]
    theirs = [places[keys[0][i]] for i in mine]
    return np.array(mine, dtype=np.int64), np.array(theirs, dtype=np.int64)


def level_keys(axis: Axis, by_number: bool) -> list[str | float]:
    """Keys by which levels are the same; labels where an axis has two of one number ("32b" and "32B")."""
    return [level.number if by_number and level.number is not None else level.label for level in axis.levels]


def only_in(table: Table, shared: BoolArray) -> OnlyIn:
    """The cells of a table that are not shared."""
    rest = table.present & ~shared
    count = int(np.count_nonzero(rest))
    first = np.stack(np.unravel_index(np.flatnonzero(rest)[:MOST_LISTED], rest.shape), axis=-1) if rest.ndim else ()
    places = [table.places(tuple(map(int, at))) for at in first] if rest.ndim else [{}] * count
    return OnlyIn(count, tuple(places))


FEW_ITEMS = 30
Items = tuple[Mapping[int, HeldItems], Mapping[int, HeldItems]]
"""Outcomes of the baseline and of the contender, by the flat index of the cell in its grid."""
NO_ITEMS: Items = ({}, {})
_APART = "the item sets are not the same"


@dataclass(frozen=True)
class PairedCell:
    """Outcomes of the same items, or clusters of them, in a cell of both grids; `of` tells which and how many."""

    of: tuple[str, int]
    contender: Outcomes
    baseline: Outcomes

    @property
    def is_bits(self) -> bool:
        return self.contender.bits is not None and self.baseline.bits is not None

    @property
    def gaps(self) -> FloatArray:
        """Contender less baseline, from -1 to 1; they are unpacked each time, for all cells together may be many."""
        return array_of(self.contender) - array_of(self.baseline)


@dataclass(frozen=True)
class Pairs:
    """The common cells in row-major order, each with its items or the reason why it is not paired. `whole` is an
    outcome of 1 in the metric's unit; `by_trials`: cells weigh as their trials, else the same."""

    cells: Sequence[PairedCell | str]
    whole: float
    by_trials: bool


def pairs_of(found: Matched, items: Items, whole: float, *, by_trials: bool) -> Pairs:
    """Pair the common cells of two grids."""
    if not items[0] and not items[1]:
        return Pairs([_missing(None)] * found.count, whole, by_trials)
    contender, baseline = found.flat.tolist()
    cells = [_paired(items[0].get(b), items[1].get(c)) for b, c in zip(baseline, contender, strict=True)]
    return Pairs(cells, whole, by_trials)


def _paired(baseline: HeldItems | None, contender: HeldItems | None) -> PairedCell | str:
    if baseline is None or contender is None:
        return _missing("baseline" if contender is not None else "contender" if baseline is not None else None)
    baseline, contender = baseline.by_cluster(), contender.by_cluster()
    mine, theirs = baseline.outcomes, contender.outcomes
    if (baseline.digest, mine.count) != (contender.digest, theirs.count):
        return _APART
    return PairedCell((baseline.digest, mine.count), theirs, mine)


def _missing(side: str | None) -> str:
    return "no outcomes of items were posted" + (f" for the {side}" if side else "")


def array_of(given: Outcomes) -> FloatArray:
    """The outcomes as numbers."""
    if given.bits is None:
        return np.array(given.scores, dtype=np.float64)
    return np.unpackbits(np.frombuffer(given.bits, dtype=np.uint8), count=given.count).astype(np.float64)


# --- one cell ---------------------------------------------------------------------------------------------------------


def flips_of(cell: PairedCell) -> Flips:
    """The 2 x 2 table of a cell of bits."""
    ones = [int.from_bytes(one.bits or b"") for one in (cell.contender, cell.baseline)]
    both, contender, baseline = (ones[0] & ones[1]).bit_count(), ones[0].bit_count(), ones[1].bit_count()
    return Flips(both, contender - both, baseline - both, cell.of[1] - contender - baseline + both)


def mcnemar(flips: Flips) -> McNemar:
    """Both p of the discordant items; 1 without any."""
    n, least = flips.only_contender + flips.only_baseline, min(flips.only_contender, flips.only_baseline)
    if n == 0:
        return McNemar(1.0, 1.0)
    exact = min(1.0, 2 * float(bdtr(least, n, 0.5)))
    here = math.exp(float(gammaln(n + 1) - gammaln(least + 1) - gammaln(n - least + 1)) - n * math.log(2))
    mid = 1 - here / 2 if 2 * least == n else exact - here
    return McNemar(max(SMALLEST_P, exact), max(SMALLEST_P, mid))


def sample_of(cell: PairedCell) -> PairedSample:
    """The items of a cell of bits in which both differ."""
    flips = flips_of(cell)
    return PairedSample(flips.only_contender, flips.only_baseline, cell.of[1])


@dataclass(frozen=True)
class CellPair:
    """One cell: its items, and the test of their differences in the metric's unit; no test of a single score."""

    items: CellItems
    test: CellTest
    difference: float
    stderr: float | None
    interval: Interval | None
    p: float | None


def cell_pair(cell: PairedCell, whole: float, alpha: float) -> CellPair:
    """The paired test of one cell."""
    gaps, count = cell.gaps, cell.of[1]
    difference = float(gaps.mean()) * whole
    stderr = float(gaps.std(ddof=1)) / math.sqrt(count) * whole if count > 1 else None
    if cell.is_bits:
        flips = flips_of(cell)
        exact, found = mcnemar(flips), sample_of(cell).span(alpha / 2)
        ends = Interval(1 - alpha, found.low * whole, found.high * whole)
        return CellPair(CellItems(count, flips, exact), "mcnemar", difference, stderr, ends, exact.p)
    if stderr is None or stderr == 0:
        p = 1.0 if stderr == 0 and difference == 0 else None
        return CellPair(CellItems(cell.contender.items), "paired_t", difference, stderr, None, p)
    ends = around(difference, stderr, 1 - alpha, count - 1)
    return CellPair(
        CellItems(cell.contender.items), "paired_t", difference, stderr, ends, two_sided(difference / stderr, count - 1)
    )


def around(middle: float, stderr: float, level: float, df: float) -> Interval:
    reach = reach_of(level, df) * stderr
    return Interval(level, middle - reach, middle + reach)


# --- several cells ----------------------------------------------------------------------------------------------------


def together(pairs: Pairs, chosen: IntArray, alpha: float) -> tuple[ItemPairs, GapTest | None]:
    """Some of the common cells: what their items say, and the test if all of them are paired."""
    cells = [pairs.cells[i] for i in chosen.tolist()]
    paired = [cell for cell in cells if isinstance(cell, PairedCell)]
    if len(paired) < len(cells) or not cells:
        return ItemPairs(0, paired=False, cells=len(paired), reason=_why_not(cells)), None
    sets = Counter(cell.of for cell in paired)
    items = sum({cell.of: cell.contender.items for cell in paired}.values())
    flips = added([flips_of(cell) for cell in paired]) if all(cell.is_bits for cell in paired) else None
    exact = mcnemar(flips) if flips and max(sets.values()) == 1 else None
    few = min(count for _, count in sets)
    caution = f"the spread of {few} items is known only roughly" if few < FEW_ITEMS else None
    told = ItemPairs(items, flips, exact, paired=True, cells=len(paired), caution=caution)
    return told, single(paired[0], pairs.whole, alpha) if len(paired) == 1 else clustered(paired, pairs, alpha)


def _why_not(cells: Sequence[PairedCell | str]) -> str:
    reasons = Counter(cell for cell in cells if isinstance(cell, str))
    if not reasons:
        return "no cell is in common"
    [(first, count)] = reasons.most_common(1)
    return first if count == len(cells) else f"{first} in {count} of {len(cells)} common cells"


def added(flips: Sequence[Flips]) -> Flips:
    names = ("both", "only_contender", "only_baseline", "neither")
    return Flips(*(sum(getattr(one, name) for one in flips) for name in names))


def single(cell: PairedCell, whole: float, alpha: float) -> GapTest:
    """The test of one cell as that of the whole."""
    found = cell_pair(cell, whole, alpha)
    if found.p is None:
        reason = "one item has no spread" if found.stderr is None else "every item differs by the same"
        return GapTest("undefined", found.test, found.difference, stderr=found.stderr, reason=reason)
    df = None if cell.is_bits else cell.of[1] - 1.0
    if found.items.flips:
        seen = PairedItems.of(found.items.flips, whole).detectable(Goal(alpha))
    else:
        seen = detectable(found.stderr, df or 0.0, alpha) if found.stderr else None
    return GapTest("ok", found.test, found.difference, found.interval, found.stderr, df, found.p, detectable=seen)


def clustered(cells: Sequence[PairedCell], pairs: Pairs, alpha: float) -> GapTest:
    """The weighted mean of the differences of several cells, with its error by the items."""
    counts = np.array([cell.contender.items if pairs.by_trials else 1 for cell in cells], dtype=np.float64)
    weights = counts / counts.sum()
    difference = math.fsum(w * float(cell.gaps.mean()) for w, cell in zip(weights, cells, strict=True)) * pairs.whole
    shares: dict[tuple[str, int], FloatArray] = {}
    for weight, cell in zip(weights, cells, strict=True):
        psi = weight / cell.of[1] * (cell.gaps - cell.gaps.mean())
        shares[cell.of] = shares.get(cell.of, 0.0) + psi
    name = "clustered_t" if len(shares) < len(cells) else "paired_t"
    if min(count for _, count in shares) < 2:
        return GapTest("undefined", name, difference, reason="a set of one item has no spread")
    parts = [(count / (count - 1) * float((psi**2).sum()), count - 1) for (_, count), psi in shares.items()]
    variance = math.fsum(part for part, _ in parts)
    stderr = math.sqrt(variance) * pairs.whole
    if stderr == 0:
        if difference == 0:
            return GapTest("ok", name, 0.0, stderr=0.0, p=1.0)
        return GapTest("undefined", name, difference, stderr=0.0, reason="every item differs by the same")
    df = variance**2 / math.fsum(part**2 / free for part, free in parts)
    ends, p = around(difference, stderr, 1 - alpha, df), two_sided(difference / stderr, df)
    return GapTest("ok", name, difference, ends, stderr, df, p, detectable=detectable(stderr, df, alpha))
