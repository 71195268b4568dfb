"""Find the best cells, for `describe.py`. An arg-max is the noisiest statistic, so what noise leaves of it is beside
it.

The peak is compared with the expected best of equal cells, kept in a guaranteed set, and shrunk towards the mean
(empirical Bayes as in Efron and Morris 1975) by the variance between cells of Paule and Mandel (1982, J. Res. NBS 87,
377-385), which cells with small errors do not settle among themselves; cells weigh by their trials, and have the noise
of what they are shrunk to. The chance of being the best is that of the shrunken cells: unrelated ones would each keep
their luck, and the lucky one would look sure.

Noise floor, the best of as many equal cells by chance: the floor that a peak has to pass. Trials have the binomial law
of the maximum of shares, which never goes beyond the bound; errors the normal one, Student's where they are estimated.

A set of cells that holds the best one with a guaranteed probability, whatever the truth is. Gupta (1965), Technometrics
7, 225-245: keep every cell that lies within d times the error of a difference of the best one seen. With the true best
cell in mind, d is the quantile of the largest of the k - 1 differences to it, which share its error and so correlate at
1/2; with unequal errors the independent bound (Sidak 1967) is used, which is larger (Slepian 1962). Proportions are
compared as arcsines of their roots (Anscombe 1948, Biometrika 35, 246-254), where cells of equal trials have equal
errors. It is Hsu's (1984) set of cells that cannot be told from the best.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import islice

import numpy as np
from scipy.special import bdtr, gammaln, log_ndtr, ndtr, ndtri, stdtr

from registry.results.peaks import Best, BestSet, CellChance, LevelBest, Peaks, RunnerUp, Shrunken
from registry.results.terms import Place
from workers.statistics.posteriors import (
    Posteriors,
    beta_posteriors,
    chances,
    expected_maximum,
    normal_posteriors,
    quadrature,
)
from workers.statistics.table import CellNoise, Table, by_level, cell_noise, unknown_noise
from workers.statistics.terms import (
    MOST_WRITTEN_LEVELS,
    BoolArray,
    FloatArray,
    IntArray,
    decimals_of,
    ticks_by_row,
    ticks_of,
)

MOST_TIES = 100
"""Tied coordinates that are written out; `ties` counts them all."""
MOST_SIZES, MOST_SHARES = 1_000, 200_000
"""Different errors, and different shares of their trials, that are told apart; beyond, an average cell stands for
all, and of more trials in one cell the normal law."""
MOST_CELLS = 100
"""Cells that a set writes out, the best ones first, and a list, the most probable ones first."""
OUT_OF_REACH = "too many different cells are within reach of the best, or their errors differ too much"


def peaks(table: Table) -> Peaks:
    """The peaks of a grid; on a tie all cells are peaks."""
    if table.metric.direction is None:
        return Peaks("undefined", reason="the metric has no better end")
    if table.cells == 0:
        return Peaks("insufficient", reason="no cell was measured")
    order = order_of(table)
    goodness = -order if table.metric.direction == "lower" else order
    floor = int(goodness[table.present].min()) - 1
    height = np.where(table.present, goodness, floor)
    top = int(height.max())
    best = Best(*cells_of(table, height == top))
    by = {axis.name: level_bests(table, height, floor, place) for place, axis in enumerate(table.axes)}
    return Peaks("ok", best, runner_up(table, height, floor), by)


def order_of(table: Table) -> IntArray:
    """The values as whole numbers in their order, those that tie alike: their ticks, unless some are so small beside
    the largest that they need digits of their own."""
    small = table.ticks[table.small]
    if small.all() and np.unique(small).size == small.size:
        return table.ticks
    rows = np.stack([table.values.ravel(), np.where(table.small, table.values, np.nan).ravel()])
    (coarse, fine), _ = ticks_by_row(rows, ticks_of(rows, table.decimals), table.decimals)
    # As complex numbers pairs are sorted by both.
    return np.unique(coarse + 1j * fine, return_inverse=True)[1].reshape(table.values.shape)


def cells_of(table: Table, mask: BoolArray) -> tuple[float, tuple[dict[str, Place], ...], int]:
    """The first of the tied values, the coordinates, and how many there are."""
    flat = np.flatnonzero(mask)
    return float(table.values.flat[flat[0]]), tuple(table.places_at(flat[:MOST_TIES])), int(flat.size)


def runner_up(table: Table, height: IntArray, floor: int) -> RunnerUp | None:
    """The next distinct value below the peak."""
    rest = height[(height < height.max()) & (height > floor)]
    if rest.size == 0:
        return None
    value, at, ties = cells_of(table, height == rest.max())
    both = np.array([float(table.values.flat[int(np.argmax(height))]), value])
    decimals = decimals_of(both)
    return RunnerUp(value, at, ties, abs(int(np.diff(ticks_of(both, decimals))[0])) / 10.0**decimals)


def level_bests(table: Table, height: IntArray, floor: int, place: int) -> tuple[LevelBest, ...]:
    """The best cells on every measured level of an axis."""
    rows, cells = by_level(height, place), by_level(np.arange(height.size).reshape(height.shape), place)
    tops = rows.max(axis=1)
    levels = np.flatnonzero(tops > floor)[:MOST_WRITTEN_LEVELS]
    level, column = np.nonzero(rows[levels] == tops[levels, None])
    flat, ties = cells[levels][level, column], np.bincount(level, minlength=levels.size)
    starts = np.cumsum(ties) - ties
    written = np.arange(flat.size) - starts[level] < MOST_TIES
    places = iter(table.places_at(flat[written]))
    values = table.values.ravel()[flat[starts]].tolist()
    names = [table.levels[place][i] for i in levels.tolist()]
    return tuple(
        LevelBest(name, value, tuple(islice(places, min(count, MOST_TIES))), count)
        for name, value, count in zip(names, values, ties.tolist(), strict=True)
    )


def floor_of(table: Table, found: CellNoise, level: float) -> tuple[float | None, float | None]:
    """The expected best value of equal cells, and the one that is not surpassed with probability `level`, in the
    metric's unit; `None` for a single cell, which is the best of nothing."""
    noise = found.noise
    if found.y.size < 2:
        return None, None
    # The law of very many trials is the normal one, and has no lattice that could be written out.
    if noise.k is not None and noise.n is not None and noise.n.max() <= MOST_SHARES:
        shares = shares_of_best(float(noise.k.sum() / noise.n.sum()), noise.n, level)
        expected, most = (noise.whole * (share if found.sign > 0 else 1 - share) for share in shares)
        return expected, most
    variances, counts = np.unique(found.v, return_counts=True)
    weight = float(np.sum(1 / found.v))
    mean = float(np.sum(found.y / found.v)) / weight
    if variances.size > MOST_SIZES:
        variances, counts = np.array([float(found.v.mean())]), np.array([found.y.size])
    errors = np.sqrt(variances)
    sizes, weights = np.ones((2, 1)) if noise.df is None else scale_law(noise.df)
    # An estimated error is too small by this factor on average.
    beyond = expected_maximum(errors, counts) / float(weights @ sizes)
    # The mean was estimated from the same cells, which vary less about it.
    about = np.sqrt(np.maximum(variances - 1 / weight, 1e-12 * variances))
    most = quantile_of_largest(about, counts, level, noise.df)
    return inside(table, found.sign * (mean + beyond)), inside(table, found.sign * (mean + most))


def quantile_of_largest(errors: FloatArray, counts: IntArray, level: float, df: float | None) -> float:
    """What the largest of some deviations from their mean stays below with this probability, by bisection: Bonferroni's
    bound, which is all but reached at the usual levels (Nair 1948, Biometrika 35, 118-144)."""
    low, high = 0.0, (10.0 if df is None else 1000.0) * float(errors.max())
    while high - low > 1e-12 * float(errors.max()):
        middle = (low + high) / 2
        beyond = counts @ (ndtr(-middle / errors) if df is None else stdtr(df, -middle / errors))
        low, high = (middle, high) if beyond > 1 - level else (low, middle)
    return high


def shares_of_best(share: float, trials: FloatArray, level: float) -> tuple[float, float]:
    """The mean of the largest of independent binomial shares, the sum over their lattice of 1 - P(all are below), and
    its quantile."""
    sizes, counts = np.unique(np.maximum(1, np.rint(trials)).astype(np.int64), return_counts=True)
    if sizes.size > MOST_SIZES or int(sizes.sum()) > MOST_SHARES:
        sizes, counts = np.array([round(float(trials.mean()))]), np.array([trials.size])
    if share in (0.0, 1.0):
        return share, share
    lattice = np.unique(np.concatenate([np.arange(size) / size for size in sizes.tolist()]))
    law = np.zeros(lattice.size)
    for size, count in zip(sizes.tolist(), counts.tolist(), strict=True):
        # A share of this lattice, which was divided by one size, may be just below a whole number at another.
        below = bdtr(np.floor(lattice * size + 1e-9), size, share)
        law += count * np.log(np.maximum(below, 1e-300))
    reached = np.flatnonzero(law >= np.log(level))
    most = float(lattice[reached[0]]) if reached.size else 1.0
    return float(np.diff(np.append(lattice, 1.0)) @ -np.expm1(law)), most


def inside(table: Table, value: float) -> float:
    """No further than the metric's bounds."""
    lower, upper = table.metric.lower, table.metric.upper
    return min(value if lower is None else max(value, lower), np.inf if upper is None else upper)


def kept_cells(found: CellNoise, level: float) -> IntArray:
    """The cells of the guaranteed set of a grid, the best value first."""
    kept = subset(*scale_of(found), found.noise.df, level)
    return kept[np.argsort(-found.y[kept], kind="stable")]


def scale_of(found: CellNoise) -> tuple[FloatArray, FloatArray, FloatArray]:
    """The cells on the scale on which they are compared, their variances there, and a quarter of a count, by which each
    of two cells may be further away for the steps between counts."""
    noise = found.noise
    if noise.k is None or noise.n is None:
        return found.y, found.v, np.zeros_like(found.y)
    # Anscombe's transformation: its variance is 1 / (4n + 2), whatever the share.
    share = (noise.k + 0.375) / (noise.n + 0.75)
    score = np.asarray(np.arcsin(np.sqrt(share)), dtype=np.float64)
    return score, 1 / (4 * noise.n + 2), 1 / (8 * (noise.n + 0.75) * np.sqrt(share * (1 - share)))


def subset(score: FloatArray, variance: FloatArray, slack: FloatArray, df: float | None, level: float) -> IntArray:
    """The positions of the cells that are kept."""
    if score.size < 2:
        return np.arange(score.size)
    alike = bool(np.ptp(variance) <= 1e-9 * variance.max())
    d = quantile_of_best(int(score.size), level, df, alike)
    if alike:
        behind = (np.max(score - slack) - score - slack) / np.sqrt(2 * variance.max())
        return np.flatnonzero(behind <= d * (1 + 1e-12))
    # The leader by score less its reach is not the same for every cell: groups of equal errors keep that cheap.
    groups, place_of = np.unique(variance, return_inverse=True)
    tops = np.full(groups.size, -np.inf)
    np.maximum.at(tops, place_of, score - slack)
    bars = np.max(tops[None, :] - d * np.sqrt(groups[:, None] + groups[None, :]), axis=1)
    return np.flatnonzero(score + slack >= bars[place_of] - 1e-12 * np.max(np.abs(score)))


@lru_cache(maxsize=512)
def quantile_of_best(cells: int, level: float, df: float | None, alike: bool) -> float:
    """The constant d of so many cells, by bisection; Student's with `df` degrees of freedom."""
    # Comparisons with one and the same best cell are positively correlated. With unequal errors they are taken as
    # independent, which can only make the set larger.
    if df is None and not alike:
        return float(ndtri(level ** (1 / (cells - 1))))
    low, high = 0.0, 8.0 if df is None else 1000.0
    while high - low > 1e-10 * high:
        middle = (low + high) / 2
        low, high = (middle, high) if coverage(middle, cells, df, alike) < level else (low, middle)
    return high


def coverage(d: float, cells: int, df: float | None, alike: bool) -> float:
    """The probability that the true best is kept when all cells are equal."""
    if df is not None:
        sizes, weights = scale_law(df)
        return float(sum(w * coverage(d * s, cells, None, alike) for s, w in zip(sizes, weights, strict=True)))
    if not alike:
        return float(np.exp((cells - 1) * log_ndtr(d)))
    nodes, weights = normal_nodes()
    return float(weights @ np.exp((cells - 1) * log_ndtr(nodes + np.sqrt(2.0) * d)))


@lru_cache(maxsize=1)
def normal_nodes() -> tuple[FloatArray, FloatArray]:
    """Nodes, and weights times the standard normal density."""
    nodes, weights = quadrature(np.linspace(-9.0, 9.0, 41))
    return nodes, np.asarray(weights * np.exp(-(nodes**2) / 2) / np.sqrt(2 * np.pi))


@lru_cache(maxsize=64)
def scale_law(df: float) -> tuple[FloatArray, FloatArray]:
    """Nodes and weights of the law of an estimated standard deviation over the true one: chi over its root df."""
    reach = 9 / np.sqrt(df)
    nodes, weights = quadrature(np.linspace(max(1e-9, 1 - reach), 1 + reach, 9))
    log_density = np.log(2.0) + df / 2 * np.log(df / 2) - gammaln(df / 2) + (df - 1) * np.log(nodes) - df * nodes**2 / 2
    return nodes, np.asarray(weights * np.exp(log_density))


@dataclass(frozen=True)
class _Posterior:
    """Every cell after shrinkage: means and variances, turned so that more is better; the target; the variance
    between cells and its share."""

    mean: FloatArray
    variance: FloatArray
    target: float
    tau2: float
    i2: float


def noisy_peaks(table: Table, level: float = 0.95) -> Peaks:
    """The peaks of a grid, and what noise leaves of them."""
    best = peaks(table)
    if table.metric.direction is None:
        return replace(best, noise_reason="the metric has no better end")
    if table.cells == 0:
        return replace(best, noise_status="insufficient", noise_reason="no cell was measured")
    found = cell_noise(table)
    if found is None:
        return replace(best, noise_status="insufficient", noise_reason=unknown_noise(table))
    posterior = shrink(found)
    probable = shrunken_chances(posterior)
    expected, most = floor_of(table, found, level)
    every = kept_cells(found, level)
    kept = every[:MOST_CELLS]
    return replace(
        best,
        noise=found.noise.kind,
        noise_status="ok",
        noise_reason=None if probable is not None else OUT_OF_REACH,
        expected_max_if_equal=expected,
        plausible_max_if_equal=most,
        probability_best=None if probable is None else listed(table, found, kept, probable, unrelated_chances(found)),
        best_set=BestSet(level, int(every.size), tuple(table.places_at(found.flat[kept]))),
        shrunken=shrunken_peak(table, found, posterior),
    )


def shrink(found: CellNoise) -> _Posterior:
    """Shrinks every cell."""
    if found.y.size < 2:
        return _Posterior(found.y, found.v, float(found.y[0]), 0.0, 0.0)
    v = trial_variances(found, None)
    tau2, i2 = between(found.y, v)
    inverse = 1 / (v + tau2)
    target = float(inverse @ found.y / inverse.sum())
    v = trial_variances(found, target + tau2 / (tau2 + v) * (found.y - target))
    kept = tau2 / (tau2 + v)
    return _Posterior(target + kept * (found.y - target), kept * v, target, tau2, i2)


def trial_variances(found: CellNoise, mean: FloatArray | None) -> FloatArray:
    """The variances of the cells: of proportions at these means, else one of a trial in all cells. By its own value, a
    cell that came out near an end would weigh more: equal cells of 20 trials at 90 % would have the mean 93.2 %."""
    n, whole = found.noise.n, found.noise.whole
    if n is None:
        return found.v
    if mean is None:
        return np.asarray(n**2 @ found.v / n.sum() / n, dtype=np.float64)
    share = (np.abs(mean) / whole * n + 0.5) / (n + 1)
    return np.asarray(share * (1 - share) / n * whole**2, dtype=np.float64)


def between(y: FloatArray, v: FloatArray) -> tuple[float, float]:
    """The variance between cells beyond noise, and the share of their variation that noise leaves unexplained.

    Q = sum (y - centre)^2 / (v + tau2) has its expected value, m - 1. By Newton's method on 1 / Q, which is concave: it
    never goes beyond the root. Errors below the resolution of the numbers are raised to it.
    """
    unit, free = float(np.ptp(y)), y.size - 1
    if unit == 0:
        return 0.0, 0.0
    away, noise = (y - y.min()) / unit, np.clip(np.sqrt(v) / unit, 1e-15, 1e100) ** 2
    tau2 = i2 = 0.0
    for _ in range(100):
        weight = 1 / (noise + tau2)
        rest = away - weight @ away / weight.sum()
        q = float(weight @ rest**2)
        i2 = i2 or max(0.0, 1 - free / q)
        gain = q * (q / free - 1) / float(np.sum((weight * rest) ** 2))
        if gain <= 1e-13 * tau2:
            break
        tau2 += gain
    return tau2 * unit**2, i2


def shrunken_chances(posterior: _Posterior) -> FloatArray | None:
    """The probability of each cell to be the best; all alike where nothing but noise is between them."""
    if posterior.mean.size == 1 or posterior.tau2 == 0:
        return np.full(posterior.mean.size, 1 / posterior.mean.size)
    return chances_of_cells(normal_posteriors, posterior.mean, np.sqrt(posterior.variance))


def unrelated_chances(found: CellNoise) -> FloatArray | None:
    """The same with a flat prior on every cell: Jeffreys' for proportions."""
    noise = found.noise
    if noise.k is not None and noise.n is not None:
        return chances_of_cells(beta_posteriors, noise.k, noise.n)
    return chances_of_cells(normal_posteriors, found.y, np.sqrt(found.v))


def chances_of_cells(
    law: Callable[[FloatArray, FloatArray, IntArray], Posteriors], first: FloatArray, second: FloatArray
) -> FloatArray | None:
    """The probability of each cell to be the best, given the two numbers that its law has."""
    # As complex numbers pairs are sorted at once, and by both.
    cells, group, counts = np.unique(first + 1j * second, return_inverse=True, return_counts=True)
    found = chances(law(cells.real, cells.imag, counts))
    return None if found is None else found[group]


def listed(
    table: Table, found: CellNoise, kept: IntArray, probable: FloatArray, unrelated: FloatArray | None
) -> tuple[CellChance, ...]:
    """These cells, the most probable first; of equally probable ones the better first."""
    order = kept[np.lexsort([-found.y[kept], -probable[kept]])]
    cells = found.flat[order]
    rows = zip(
        table.places_at(cells),
        table.values.ravel()[cells].tolist(),
        probable[order].tolist(),
        [None] * order.size if unrelated is None else unrelated[order].tolist(),
        strict=True,
    )
    return tuple(CellChance(*row) for row in rows)


def shrunken_peak(table: Table, found: CellNoise, posterior: _Posterior) -> Shrunken | None:
    """The best cell without its luck; `None` for a single cell."""
    if found.y.size < 2:
        return None
    top = float(posterior.mean.max())
    at = np.flatnonzero(posterior.mean >= top - 1e-9 * abs(top))[:MOST_CELLS]
    cells = tuple(table.places_at(found.flat[at]))
    return Shrunken(found.sign * top, cells, found.sign * posterior.target, posterior.tau2, posterior.i2)
