"""Means with intervals by the noise of their cells: entries and rows of a table, scores of names by benchmark.

Means of proportions: Wilson's (1927) interval, with as many trials as would make the mean's error of one proportion
(the effective sample size of Korn and Graubard 1998, Survey Methodology 24, 193-201), as the lines of several models
have it: one cell keeps its own interval, and no limit leaves the bounds. Other means:
propagated errors, with Satterthwaite's (1946) degrees of freedom where errors were estimated from repeats.

The best of several cells: the largest of noisy values is biased upward, so an interval around it is wrong. The best
true value among K candidates lies above every candidate's lower limit, if all of these hold together (Sidak 1967,
JASA 62, 626-633: each at (1 - alpha/2)^(1/K)), and below the upper limit of the candidate that is truly best, so below
the largest upper limit, which needs no correction (Saxena and Tong 1969, JASA 64, 296-299). Over B levels of `over` the
ends are averaged, and the upper limits hold together too, at (1 - alpha/2)^(1/B). Cells with trials have Clopper and
Pearson's (1934) limits, others normal or Student's.

How good each row of a table is over its columns, and the rows in order.

The scores of names on each benchmark: means over the slots that all names have who are not set aside.

Where the noise of every cell is known, an interval, by the method of a table's entries: Wilson's (1927) where all cells
have trials, else the normal law, or Student's with Satterthwaite's (1946) degrees of freedom where errors were
estimated. It ends where the metric ends.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import connected_components
from scipy.special import betaincinv, ndtri, stdtrit

from registry.grids.grid import Direction
from registry.results.aggregates import Aggregation
from registry.results.ranking import BenchmarkScore, BenchmarkScores, Omission
from registry.results.terms import NO_SPREAD, Interval
from workers.statistics.cells import noise
from workers.statistics.proportions import shares_and_variances, wilson_limits
from workers.statistics.score_matrix import ScoreMatrix, only
from workers.statistics.set_aside import CellTable, of_names
from workers.statistics.terms import ROUNDING, BoolArray, FloatArray, IntArray, reach_of, within

OF_COLUMNS = 2
"""Dimensions of a table whose rows have means: names by something else."""


@dataclass(frozen=True)
class Groups:
    """The cells of entries and levels of `over`, sorted: where each group begins, and where each entry's groups do.

    E entries, G groups, N cells; every entry has a group and every group a cell.
    """

    cells: CellTable
    starts: IntArray
    """G: the first cell of each group."""
    firsts: IntArray
    """E: the first group of each entry."""

    @property
    def sizes(self) -> IntArray:
        """G: cells of each group."""
        return np.diff(np.append(self.starts, self.cells.values.size))

    @property
    def levels(self) -> IntArray:
        """E: groups of each entry."""
        return np.diff(np.append(self.firsts, self.starts.size))

    @property
    def parts(self) -> IntArray:
        """N: of how many parts each cell is one in the mean of means of its entry."""
        return np.repeat(self.sizes * np.repeat(self.levels, self.levels), self.sizes)

    @property
    def weights(self) -> FloatArray:
        """N: what each cell weighs there."""
        return np.asarray(1 / self.parts, dtype=np.float64)

    @property
    def counts(self) -> IntArray:
        """E: cells of each entry."""
        return np.add.reduceat(self.sizes, self.firsts)

    def total(self, column: FloatArray) -> FloatArray:
        """E: sums of a column of the cells."""
        return np.asarray(np.add.reduceat(column, self.starts[self.firsts]), dtype=np.float64)

    def all(self, mask: BoolArray) -> BoolArray:
        """E: whether it holds for all cells of an entry."""
        return np.asarray(np.logical_and.reduceat(mask, self.starts[self.firsts]), dtype=np.bool_)

    def mean(self, of_groups: FloatArray) -> FloatArray:
        """E: means over the groups of each entry."""
        return np.asarray(np.add.reduceat(of_groups, self.firsts) / self.levels, dtype=np.float64)


Found = tuple[Interval | None, str | None]
"""An interval, or why there is none."""


def mean_intervals(groups: Groups, values: FloatArray, alpha: float) -> list[Found]:
    """The interval of each entry's mean of means."""
    cells = groups.cells
    pure = groups.all(cells.n > 0)
    low, high = wilson_ends(groups, groups.weights, values, alpha)
    found: list[Found] = []
    for i, (value, error, df) in enumerate(
        zip(values.tolist(), *map(np.ndarray.tolist, mean_errors(groups)), strict=True)
    ):
        if pure[i]:
            found.append((_bounded(cells, 1 - alpha, low[i], high[i]), None))
        elif math.isnan(error):
            found.append((None, _unknown(groups, i)))
        elif error == 0:
            found.append((None, NO_SPREAD))
        else:
            reach = reach_of(1 - alpha, df if math.isfinite(df) else None) * error
            found.append((_bounded(cells, 1 - alpha, value - reach, value + reach), None))
    return found


def mean_errors(groups: Groups) -> tuple[FloatArray, FloatArray]:
    """The standard error of each entry's mean of means, NaN where that of a cell is unknown, and its degrees of freedom
    (Satterthwaite 1946), infinite where no error was estimated."""
    part = groups.weights**2 * groups.cells.variance
    variance, freedom = groups.total(part), groups.total(part**2 / groups.cells.df)
    with np.errstate(divide="ignore", invalid="ignore"):
        df = np.where(freedom > 0, variance**2 / freedom, np.inf)
    return np.sqrt(variance), df


def wilson_ends(groups: Groups, weight: FloatArray, values: FloatArray, alpha: float) -> tuple[FloatArray, FloatArray]:
    """The limits of each entry whose cells all have trials, in the metric's unit; without meaning for others."""
    cells = groups.cells
    share, error = shares_and_variances(np.where(cells.n > 0, cells.k, 0.0), np.where(cells.n > 0, cells.n, 1.0))
    middle, variance = groups.total(weight * share), groups.total(weight**2 * error)
    low, high = wilson_limits(values / cells.whole, middle, variance, alpha, groups.counts > 1)
    return low * cells.whole, high * cells.whole


def best_intervals(groups: Groups, alpha: float) -> list[Found]:
    """An interval for each entry's mean of best true values; see the module."""
    cells, falling = groups.cells, groups.cells.direction == "lower"
    known = groups.all((cells.n > 0) | (cells.variance > 0))
    # By cell: the level at which all candidates of its entry hold together, and that of its entry's groups.
    candidates = np.repeat(groups.counts, groups.counts)
    levels = np.repeat(groups.levels, groups.counts)
    every, each = (np.power(1 - alpha / 2, 1 / count) for count in (candidates, levels))
    low = limits(cells, each if falling else every, upper=False)
    high = limits(cells, every if falling else each, upper=True)
    best = np.minimum if falling else np.maximum
    ends = [groups.mean(np.asarray(best.reduceat(end, groups.starts), dtype=np.float64)) for end in (low, high)]
    return [
        (_bounded(cells, 1 - alpha, float(ends[0][i]), float(ends[1][i])), None)
        if known[i]
        else (None, _unknown(groups, i))
        for i in range(known.size)
    ]


def limits(cells: CellTable, level: FloatArray, *, upper: bool) -> FloatArray:
    """One-sided confidence limits of every cell, each at its own level, in the metric's unit."""
    found = np.full(cells.values.size, np.nan)
    binomial = cells.n > 0
    if binomial.any():
        # Cells repeat themselves, and the inverse of the incomplete beta function is dear.
        results, of = np.unique(cells.k[binomial] + 1j * cells.n[binomial], return_inverse=True)
        shares, which = np.unique(level[binomial], return_inverse=True)
        pairs, at = np.unique(of * shares.size + which, return_inverse=True)
        n, share = results.imag[pairs // shares.size], shares[pairs % shares.size]
        k = np.clip(results.real[pairs // shares.size], 0, n)
        if upper:
            end = np.where(k < n, betaincinv(k + 1, np.maximum(n - k, 1e-12), share), 1.0)
        else:
            end = np.where(k > 0, betaincinv(np.maximum(k, 1e-12), n - k + 1, 1 - share), 0.0)
        found[binomial] = end[at] * cells.whole
    other = ~binomial & (cells.variance > 0)
    if other.any():
        df, share = cells.df[other], level[other]
        reach = np.where(np.isfinite(df), stdtrit(np.where(np.isfinite(df), df, 1.0), share), ndtri(share))
        found[other] = cells.values[other] + (1 if upper else -1) * reach * np.sqrt(cells.variance[other])
    return found


def t_interval(values: FloatArray, alpha: float, cells: CellTable) -> Interval | None:
    """Student's interval of the mean of some values that are a sample; `None` below two, or where all are equal."""
    if values.size < 2 or np.ptp(values) <= ROUNDING * np.max(np.abs(values)):
        return None
    mean, error = float(values.mean()), float(values.std(ddof=1)) / math.sqrt(values.size)
    reach = reach_of(1 - alpha, float(values.size - 1)) * error
    return _bounded(cells, 1 - alpha, mean - reach, mean + reach)


def _bounded(cells: CellTable, level: float, low: float, high: float) -> Interval:
    return within(Interval(level, float(low), float(high)), cells.lower, cells.upper)


def _unknown(groups: Groups, entry: int) -> str:
    first, total = int(groups.starts[groups.firsts[entry]]), int(groups.counts[entry])
    own = groups.cells.variance[first : first + total]
    if not own.any():
        return NO_SPREAD
    silent = np.count_nonzero(~(own > 0))
    return f"the noise of {silent} of {total} cells is unknown" if total > 1 else "the noise of the cell is unknown"


def in_order(table: Aggregation, sort: str, direction: Direction | None) -> Aggregation:
    """The table with its rows in order: `name` leaves them, `mean` goes by their means (by the values of a table of one
    dimension), another word by that column; the better first, or the larger where neither end is better. Rows that are
    equal keep their order, those without a number come last. `undefined` where there is no such column."""
    if sort == "name" or not table.entries:
        return table
    down = table.dimensions[0]
    width = len(table.entries) // len(down.levels)
    keys: Sequence[float | None]
    if len(table.dimensions) == 1:
        keys = [one.value for one in table.entries]
    elif sort == "mean":
        keys = [one.mean for one in table.rows]
    else:
        column = next((i for i, level in enumerate(table.dimensions[1].levels) if str(level) == sort), None)
        if column is None:
            return replace(Aggregation("undefined", reason=f'there is no column "{sort}"'), reduced=table.reduced)
        keys = [one.value for one in table.entries[column::width]]
    sign = 1 if direction == "lower" else -1
    order = sorted(range(len(keys)), key=lambda i: (keys[i] is None, sign * (keys[i] or 0.0)))
    return replace(
        table,
        dimensions=(replace(down, levels=tuple(down.levels[i] for i in order)), *table.dimensions[1:]),
        entries=tuple(one for i in order for one in table.entries[i * width : (i + 1) * width]),
        rows=tuple(table.rows[i] for i in order) if table.rows else (),
    )


MOST_SCORES = 1_000
"""Scores, names times benchmarks, up to which a ranking lists them: there they tell more than the cells themselves."""


def benchmark_scores(
    standings: ScoreMatrix, alpha: float, missing: str = "matched", set_aside: Sequence[str] = ()
) -> tuple[tuple[BenchmarkScores, ...], tuple[Omission, ...]]:
    """The scores by benchmark, or what is said in their place; neither where benchmarks themselves are ranked."""
    if standings.group != "benchmark":
        return (), ()
    kept = only(standings, np.flatnonzero(standings.present.sum(axis=0) > 1))
    used = np.unique(kept.benchmarks)
    if len(kept.names) * used.size > MOST_SCORES:
        return (), (left_out(f"more than {MOST_SCORES:,} scores; ask about fewer names or benchmarks"),)
    if kept.mixed:
        return (), (left_out("values on different scales have no mean"),)
    return tuple(
        BenchmarkScores(kept.benchmark_names[one], tuple(_scores(kept, one, alpha, missing, set_aside)))
        for one in used.tolist()
    ), ()


class NameMean(NamedTuple):
    """The mean of a name with its interval; `adjusted` where it lacks what others have, else None."""

    mean: float
    interval: Interval | None = None
    adjusted: bool | None = None


def means_of(
    standings: ScoreMatrix, alpha: float, missing: str = "matched", set_aside: Sequence[str] = ()
) -> Mapping[str, NameMean]:
    """The mean of each name over the benchmarks, which weigh the same, with its interval: on each over the slots that
    all have who have any there and are not set aside; see `means_by_name` for those that lack a benchmark. With
    `available` over its own slots. A slot that one name has alone does not count. Nothing over several scales."""
    there = standings.present.copy()
    if missing != "available":
        for benchmark in np.unique(standings.benchmarks):
            here = np.flatnonzero(standings.benchmarks == benchmark)
            own = there[:, here]
            own[of_names(only(standings, here), set_aside)] = False
            there[:, here] = own & own[own.any(axis=1)].all(axis=0)
    there &= there.sum(axis=0) > 1
    if standings.mixed or not there.any():
        return {}
    n, k, variance, df, _ = noise(standings)
    name, slot = np.nonzero(there)
    cells = OwnCells(*(column[name, slot] for column in (standings.values, variance, df, n, k)))
    ends = (standings.lower, standings.upper, standings.proportion_of or 1.0)
    found = means_by_name(name, standings.benchmarks[slot], cells, alpha, ends, fill=missing != "available")
    return {standings.names[i]: one for i, one in found.items()}


Ends = tuple[float | None, float | None, float]
"""The ends of a metric, and the whole of its shares."""
MOST_FILLED = 2_000
"""Names up to which benchmarks that some of them lack are allowed for; beyond, these names have no mean."""


def means_by_name(
    name: IntArray, benchmark: IntArray, cells: "OwnCells", alpha: float, ends: Ends, *, fill: bool
) -> dict[int, NameMean]:
    """The mean of each name over its benchmarks, and its interval. Where `fill`, a name that lacks benchmarks has what
    least squares make of an effect of each name and one of each benchmark, the mean over all of them (the adjusted or
    least-squares mean, Searle 1987); a name that lacks none has the mean of its own. Who shares no benchmark with
    the most names has none, nor who would lie outside of the ends. Equal for any order of the cells."""
    shape = int(name.max(initial=-1)) + 1, int(benchmark.max(initial=-1)) + 1
    code = name * shape[1] + benchmark
    count = np.bincount(code, minlength=shape[0] * shape[1]).reshape(shape)
    there = count > 0
    if fill:
        there[~_linked(there)] = False
    parts = count[name, benchmark] * there.sum(axis=1)[name]
    lacks = there.any(axis=1) & ~there[:, there.any(axis=0)].all(axis=1) & fill
    found = {
        i: weighted_mean(cells.of(own), parts[own], alpha, ends)
        for i in np.flatnonzero(there.any(axis=1) & ~lacks).tolist()
        for own in [np.flatnonzero(name == i)]
    }
    if lacks.any() and np.count_nonzero(there.any(axis=1)) <= MOST_FILLED:
        found |= _adjusted(np.flatnonzero(lacks), there, count, code, cells, alpha, ends)
    return found


def _adjusted(
    lacking: IntArray, there: BoolArray, count: IntArray, code: IntArray, cells: "OwnCells", alpha: float, ends: Ends
) -> dict[int, NameMean]:
    """The means of names that lack benchmarks: sums of the entries of all names, by the weights of least squares."""
    number = count.ravel()[code]
    share, variances = cells.noise(ends[2])
    part = variances / number**2

    def entries(of_cells: FloatArray) -> FloatArray:
        order = np.lexsort([of_cells, code])  # A sum of floats depends on the order, and is not to depend on the slots.
        summed = np.bincount(code[order], of_cells[order], there.size)
        return np.asarray(np.where(there.ravel(), summed, 0.0).reshape(there.shape), dtype=np.float64)

    columns = [entries(one) for one in (cells.values / number, part, share / number, part**2 / cells.df)]
    found = dict[int, NameMean]()
    for i, weight in zip(lacking.tolist(), adjusted_weights(there, lacking), strict=True):
        mean, variance, middle, estimated = (
            float(np.sum(weight**power * column)) for power, column in zip((1, 2, 1, 4), columns, strict=True)
        )
        if (ends[0] is None or mean >= ends[0]) and (ends[1] is None or mean <= ends[1]):
            told = interval_of(mean, variance, middle, estimated, alpha, ends, several=True)
            found[i] = NameMean(mean, told, adjusted=True)
    return found


def adjusted_weights(there: BoolArray, names: IntArray) -> Iterator[FloatArray]:
    """What each entry of a table (names x columns) weighs in the adjusted mean of some of the names: names x columns
    for each. All names that are there share columns with each other, if through others."""
    own = there.astype(np.float64)
    own[:, own.sum(axis=0) < 2] = 0.0  # A column that one name has alone says nothing of the others.
    held = np.maximum(own.sum(axis=0), 1.0)
    column = own / (held * np.count_nonzero(own.any(axis=0)))
    # The normal equations of the names' effects, the columns' eliminated. Where nobody is, the diagonal is 1.
    matrix = np.diag(np.where(own.any(axis=1), own.sum(axis=1), 1.0)) - (own / held) @ own.T
    inverse = np.linalg.inv(matrix + np.outer(own.any(axis=1), own.any(axis=1)) / len(own))
    of_columns = column.sum(axis=1) @ inverse
    for i in names.tolist():
        effect = inverse[i] - of_columns
        yield own * (effect[:, None] - (effect @ own) / held) + column


def _linked(there: BoolArray) -> BoolArray:
    """The names (names x benchmarks) of the largest part that shares benchmarks; nobody where several are as large."""
    filled = there.any(axis=1)
    _, part = connected_components(csr_matrix(there.astype(np.int64) @ there.T), directed=False)
    sizes = np.bincount(part[filled], minlength=1)
    alone = np.count_nonzero(sizes == sizes.max()) == 1
    return np.asarray(filled & (part == np.argmax(sizes)) & alone, dtype=np.bool_)


@dataclass(frozen=True)
class OwnCells:
    """The cells that a mean is of. `n` and `k` are effective trials and successes, 0 where noise is not binomial."""

    values: FloatArray
    variance: FloatArray
    df: FloatArray
    n: FloatArray
    k: FloatArray

    def of(self, index: IntArray) -> "OwnCells":
        """Some of the cells."""
        return OwnCells(*(getattr(self, one.name)[index] for one in fields(self)))

    def noise(self, whole: float) -> tuple[FloatArray, FloatArray]:
        """The share at which the variance of each cell is taken, NaN where that is not binomial, and the variance."""
        share, error = shares_and_variances(self.k, np.maximum(self.n, 1e-300))
        return np.where(self.n > 0, share, np.nan), np.where(self.n > 0, error * whole**2, self.variance)


def weighted_mean(cells: OwnCells, parts: IntArray, alpha: float, ends: Ends) -> NameMean:
    """The sum of values that each weigh 1 / `parts`, which make 1 together, and its interval within the ends of the
    metric; none where the noise of a cell is unknown, or all is 0. Equal for any order of the cells."""
    weights = 1.0 / parts
    alike = bool((parts == parts[0]).all())  # then divided once, as an entry of a table is
    mean = math.fsum(cells.values.tolist()) / int(parts[0]) if alike else math.fsum((weights * cells.values).tolist())
    share, variances = cells.noise(ends[2])
    spread = weights**2 * variances
    if not np.isfinite(spread).all():
        return NameMean(mean)
    middle = math.fsum((weights * share).tolist()) if (cells.n > 0).all() else math.nan
    total, estimated = math.fsum(spread.tolist()), math.fsum((spread**2 / cells.df).tolist())
    return NameMean(mean, interval_of(mean, total, middle, estimated, alpha, ends, several=parts.size > 1))


def interval_of(
    mean: float, variance: float, middle: float, estimated: float, alpha: float, ends: Ends, *, several: bool
) -> Interval | None:
    """The interval of a weighted sum of `several` cells or of one by its variance, NaN where unknown. `middle` is the
    sum of the shares at which that was taken, NaN where not all noise is binomial; `estimated` the sum of v^2 / df over
    its parts."""
    low, high, whole = ends
    if not variance > 0:
        return None
    if 0 < middle < 1:
        p, at, of_share = (np.array([one]) for one in (mean / whole, middle, variance / whole**2))
        limits = (float(end[0]) * whole for end in wilson_limits(p, at, of_share, alpha, several))
        return within(Interval(1 - alpha, *limits), low, high)
    reach = reach_of(1 - alpha, variance**2 / estimated if estimated else None) * math.sqrt(variance)
    return within(Interval(1 - alpha, mean - reach, mean + reach), low, high)


def left_out(reason: str) -> Omission:
    """Scores by benchmark that a ranking does without."""
    return Omission("by_benchmark", reason)


def _scores(
    standings: ScoreMatrix, benchmark: int, alpha: float, missing: str, set_aside: Sequence[str]
) -> Iterator[BenchmarkScore]:
    """Each name that is compared on a benchmark, in the order of the names."""
    here = only(standings, np.flatnonzero(standings.benchmarks == benchmark))
    cells = dict(zip(here.names, here.present.sum(axis=1).tolist(), strict=True))
    for name, one in means_of(here, alpha, missing, set_aside).items():
        yield BenchmarkScore(name, one.mean, cells[name], one.interval)
