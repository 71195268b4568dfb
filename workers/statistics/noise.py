"""Noise of some cells, for every test of a grid: trials, submitted errors, or repeats that estimate them.

Errors that were estimated from few repeats are not known errors. The variance within cells is pooled over the cells
that are compared, and tests have Student's t and F with sum(r - 1) degrees of freedom (Fisher 1925, Statistical
Methods for Research Workers, sections 24 and 40).

The design effect of a grid: what was posted, or else what repeats show that trials do not explain. Trials of one repeat
share what differs from repeat to repeat, such as a seed, so repeats may vary by more than the binomial law allows. The
effect is then the variance between repeats over the binomial one, each summed over the cells by their degrees of
freedom: the index of dispersion (Fisher 1925), by which quasi-likelihood scales variances (McCullagh and Nelder 1989,
section 4.5). The mean of the cells' own ratios would be too small beside an end of the scale (2.7 for 4.7 at .9 with 20
trials a repeat), where cells that came out low have the larger spread and the larger binomial variance. As it is an
estimate itself, it is multiplied by (t / z)^2 at 95 %, so that normal intervals with it are as wide as Student's. What
rounding hides is added (`effect_of_rounding`).

The variance between repeats of one cell, the one that their trials explain, and the ratio of both.

Between: the sample variances of the repeats, pooled over cells by their degrees of freedom. Within: the binomial
variance of the trials of one repeat at (k + 1/2) / (n + 1), with the weights of the former; its degrees of freedom by
Satterthwaite (1946), from the variance of p (1 - p) by the delta method. Ratio: the one over the unbiased estimate of
the other, which counts as known in its interval; its degrees of freedom from the kurtosis of binomial shares. All
intervals are those of a variance of normal values (Wilks 1962, 8.4): nu s^2 over the quantiles of the chi-squared law.
"""

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

import numpy as np
from scipy.special import chdtri, gammaincinv, ndtri, stdtrit

from registry.grids.grid import Grid
from registry.results.parameters import FALSE_ALARM, POWER
from registry.results.repeat_noise import RepeatSpread
from registry.results.terms import OF_REPEATS, ROUNDED, KnownNoise
from workers.statistics.terms import BoolArray, FloatArray, IntArray, decimals_of

Kind = Literal["trials", "stderr", "repeats"]
_TAIL = 0.025
_ROUNDED, _ROUNDED_NEAR_ENDS = math.log(10.0), math.log(4.0)


@dataclass(frozen=True)
class CellErrors:
    """The errors of m cells as they were submitted: each column belongs to every cell, or is `None`.

    `stderr` may be 0 where `repeats` says that it was estimated. `whole` is 1 or 100 for proportions.
    """

    y: FloatArray
    trials: IntArray | None
    stderr: FloatArray | None
    repeats: IntArray | None
    whole: float | None
    design_effect: float = 1.0


@dataclass(frozen=True)
class Noise:
    """The errors of m cells. `error` is the standard error of each in the metric's unit, all positive.

    `df` are the degrees of freedom of the estimate behind the errors, `None` where they are known. With `trials`,
    `k` of `n` are the effective successes and trials: those submitted, divided by the design effect; `counted` are
    the whole ones, `None` where a design effect makes exact tests impossible.
    """

    kind: Kind
    error: FloatArray
    df: float | None = None
    k: FloatArray | None = None
    n: FloatArray | None = None
    whole: float = 1.0
    counted: tuple[IntArray, IntArray] | None = None


def kind_of(
    trials: IntArray | None, stderr: FloatArray | None, repeats: IntArray | None, whole: float | None
) -> KnownNoise:
    """Source of the errors of some cells: trials, else repeats that differ, else submitted errors, none of them 0;
    `unknown` unless it is known of all cells. The columns are those of `CellErrors`."""
    if trials is not None and whole is not None:
        return "trials"
    if stderr is None:
        return "unknown"
    if repeats is not None and np.all(repeats > 1):
        return "repeats" if np.any(stderr > 0) else "unknown"
    return "stderr" if np.all(stderr > 0) else "unknown"


def noise_of_cells(given: CellErrors) -> Noise | None:
    """The noise of cells: by trials, else by estimated errors, else by submitted ones, else `None`."""
    if given.trials is not None and given.whole is not None:
        return by_trials(given, given.trials, given.whole)
    kind = kind_of(given.trials, given.stderr, given.repeats, given.whole)
    if given.stderr is None or kind == "unknown":
        return None
    if given.repeats is None or kind != "repeats":
        return Noise("stderr", given.stderr)
    error, df = pooled(given.stderr, given.repeats)
    return Noise("repeats", error, float(df))


def by_trials(given: CellErrors, trials: IntArray, whole: float) -> Noise:
    """Binomial noise: the nearest whole numbers of successes out of the trials."""
    k, effect = np.rint(given.y * trials / whole).astype(np.int64), given.design_effect
    error = binomial_errors(k, trials, whole, effect)
    return Noise("trials", error, None, k / effect, trials / effect, whole, (k, trials) if effect == 1.0 else None)


def pooled(stderr: FloatArray, repeats: IntArray) -> tuple[FloatArray, FloatArray]:
    """The errors of cells, or of rows of cells, by the variance within cells, pooled along the last axis, and its
    degrees of freedom."""
    # The variance of one repeat in each cell: pooled, then divided by each cell's own number again.
    within = stderr**2 * repeats
    df = np.sum(repeats - 1, axis=-1).astype(np.float64)
    variance = np.sum((repeats - 1) * within, axis=-1) / df
    return np.sqrt(variance[..., None] / repeats), df


def added(variances: FloatArray, df: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The variances of independent parts, added along the last axis, and the degrees of freedom of the sum
    (Satterthwaite 1946); of a sum of 0 infinitely many."""
    total, uncertain = np.sum(variances, axis=-1), np.sum(variances**2 / df, axis=-1)
    free = np.divide(total**2, uncertain, out=np.full(total.shape, np.inf), where=uncertain > 0)
    return total, free


def uncertainty(variances: FloatArray, df: FloatArray) -> FloatArray:
    """The sum of v^2 / df over two sides (the first axis) and the last axis: Satterthwaite's degrees of freedom are the
    square of the sum over it. It is no less than if the runs of each cell were as noisy on both sides.

    By few repeats one side often seems to have no noise that counts, and just then a difference looks large: of 2
    repeats against 8, 9.2 % of tests are false alarms by Welch's degrees of freedom and 0.6 % by these, 11.3 and 5.2 %
    where the 2 are three times as noisy. As many repeats on both sides keep Welch's."""
    own = np.asarray((variances**2 / df).sum(axis=(0, -1)), dtype=np.float64)
    known = np.isfinite(df).all(axis=0)
    free = np.where(known, df, 1.0)
    if not np.any(free[0] != free[1]):
        return own
    runs = free + 1
    alike = np.where(known, (free * runs * variances).sum(axis=0) / free.sum(axis=0) / runs, variances)
    level = np.maximum(alike.sum(axis=(0, -1)), 1e-300)
    least = (alike**2 / df).sum(axis=(0, -1)) * (variances.sum(axis=(0, -1)) / level) ** 2
    return np.asarray(np.maximum(own, least), dtype=np.float64)


def successes_of(y: FloatArray, trials: IntArray, whole: float, decimals: int | IntArray) -> FloatArray:
    """The successes behind values of so many decimals: the nearest whole numbers, which printing has rounded; where no
    whole number prints as the value, the fraction that it says. An estimate then stays the one that was posted."""
    said = np.asarray(y * trials / whole, dtype=np.float64)
    # Rounded first, so that a tie is one on the scale of 1 and on that of 100.
    nearest = np.rint(np.round(said, 9))
    printed = np.abs(nearest * whole / np.maximum(trials, 1) - y)
    return np.where(printed <= 0.5 * 10.0 ** -np.asarray(decimals, dtype=np.float64) + 1e-9 * whole, nearest, said)


def binomial_errors(
    k: FloatArray | IntArray, n: FloatArray | IntArray, whole: float, effect: float | FloatArray
) -> FloatArray:
    """Standard errors of k/n in the metric's unit, at (k + 1/2) / (n + 1) so that none is 0."""
    share = (k + 0.5) / (n + 1)
    return np.asarray(np.sqrt(share * (1 - share) * effect / n) * whole, dtype=np.float64)


class Scores(NamedTuple):
    """What shows how a grid was printed: its values, their trials, one number or one a cell, and what all trials would
    make, None where values are no proportions."""

    values: Sequence[float | None]
    trials: Any
    whole: float | None

    @property
    def is_mute(self) -> bool:
        """Whether no score is between none and all: then they show nothing."""
        return bool(self.whole and self.trials) and all(one in (None, 0, self.whole) for one in self.values)


@dataclass
class Printing:
    """How the grids of each room are printed, of which one after the other is seen."""

    finest: dict[Hashable, float] = field(default_factory=dict)
    telling: dict[Hashable, Scores] = field(default_factory=dict)

    def see(self, room: Hashable, one: Scores) -> None:
        """Take up a grid: of those that are printed the most finely, the first that shows it by itself tells."""
        if not one.whole or not one.trials or not (known := _by_trials(one.values, one.trials)[0]).size:
            return
        key, step = (room, one.whole), _step(known, one.whole)
        if step < self.finest.get(key, math.inf):
            self.finest[key] = step
            self.telling.pop(key, None)
        if step == self.finest[key] and key not in self.telling and effect_of_rounding(*one):
            self.telling[key] = one

    def beside(self, room: Hashable, one: Scores) -> Scores | None:
        """What shows how a mute grid was printed; None where nothing does, and for others."""
        return self.telling.get((room, one.whole)) if one.is_mute else None


def beside_each(rooms: Sequence[Hashable], grids: Sequence[Scores]) -> list[Scores | None]:
    """For each mute grid, one of its room that shows how it was printed by itself. None for all others; where there is
    none, or one of the room is printed more finely."""
    printing = Printing()
    for room, one in zip(rooms, grids, strict=True):
        printing.see(room, one)
    return [printing.beside(room, one) for room, one in zip(rooms, grids, strict=True)]


def effect_of(grid: Grid, beside: Grid | Scores | None = None) -> float | None:
    """The design effect of a grid, as `known_effect` has it; `beside` is one that it is compared with."""
    parts = grid.values, grid.trials, grid.sd, grid.repeats
    return known_effect(grid.design_effect, grid.metric.proportion_of, *parts, beside)[0]


def assumed_of_effect(grid: Grid, beside: Grid | None = None) -> tuple[str, ...]:
    """What is assumed of the trials of a grid whose errors are larger than binomial ones though nobody said so."""
    parts = grid.values, grid.trials, grid.sd, grid.repeats
    return known_effect(grid.design_effect, grid.metric.proportion_of, *parts, beside)[1]


def known_effect(
    posted: float | None,
    whole: float | None,
    values: Any,
    trials: Any,
    sd: Any,
    repeats: Any,
    beside: Grid | Scores | None = None,
) -> tuple[float | None, tuple[str, ...]]:
    """How many times the binomial variance the cells of a grid have: as posted, else as repeats show, and what rounding
    adds; None where that is all known to be nothing. And what of it is assumed, as nobody posted it. Trials are those
    of `repeats_of`."""
    if whole is None:
        return posted, ()
    told = repeats_of(values, trials, sd, repeats, whole) if posted is None else None
    shown = told.effect(_TAIL) if told and told.ratio > 1 else posted
    rounding = effect_of_rounding(values, trials, whole, beside)
    assumed = (OF_REPEATS,) * (posted is None and (shown or 1.0) > 1.0) + (ROUNDED,) * (rounding > 0)
    return (shown or 1.0) + rounding if rounding else shown, assumed


def effect_of_rounding(values: Any, trials: Any, whole: float | None, beside: Grid | Scores | None = None) -> float:
    """What rounding adds to the binomial variance, as a multiple of it, where values are printed more coarsely than one
    trial; 0 unless as many scores as there are between none and all would rarely stand on such steps by chance: in one
    of ten at most, or of four where cells vary by no more than a step. So a single cell in whole percent counts from
    1,000 trials on, and near 100 from 400 on, the fewest of which the test tells 99 from 100. Scores `beside` them
    count too: 100 percent alone shows nothing of its printing. It hides nothing where half a step below it lies no
    trial.

    A step d adds d^2 / 12 where cells vary by more than it, and at most d^2 / 4, half of them on either side (Popoviciu
    1935); the variance is the mean over the cells, of shares half a step from the ends at least.
    """
    if whole is None or trials is None:
        return 0.0
    y, n = _by_trials(values, trials)
    if not y.size:
        return 0.0
    share = (y / whole * n + 0.5) / (n + 1)
    variance = float(np.mean(share * (1 - share) / n))
    step = _printed_step(y, n, whole, variance)
    if not step and beside is not None and beside.trials is not None:
        others = _by_trials(beside.values, beside.trials)
        step = _printed_step(np.append(y, others[0]), np.append(n, others[1]), whole, variance)
        step = step if step * n.max() > 2 or np.any((y > 0) & (y < whole)) else 0.0
    if not step:
        return 0.0
    # A printed 100 may be half a step less: what rounding adds is many times the variance of a share nearer to the end.
    share = np.clip(share, step / 2, 1 - step / 2)
    return step**2 / (12 if variance > step**2 else 4) / float(np.mean(share * (1 - share) / n))


def _by_trials(values: Any, trials: Any) -> tuple[FloatArray, FloatArray]:
    """The measured values that have trials, and these."""
    y = np.array(values, dtype=np.float64).ravel()
    n = np.broadcast_to(np.array(trials, dtype=np.float64).ravel(), y.shape)
    known = np.isfinite(y) & (n > 0)
    return y[known], n[known]


def _step(y: FloatArray, whole: float) -> float:
    return float(10.0 ** -decimals_of(y) / whole)


def _printed_step(y: FloatArray, n: FloatArray, whole: float, variance: float) -> float:
    """The step of shares that are printed more coarsely than one trial; 0 where they are not known to be."""
    step = _step(y, whole)
    inside = (y > 0) & (y < whole) & (step * n > 1)
    needed = _ROUNDED if variance > step**2 else _ROUNDED_NEAR_ENDS
    return step if np.sum(np.log(step * n[inside])) >= needed - 1e-9 else 0.0


class Repeats(NamedTuple):
    """What repeats show beside trials: the degrees of freedom of their variance, and times these that variance and the
    one that the trials explain."""

    df: float
    found: float
    explained: float

    @property
    def ratio(self) -> float:
        """The design effect as it was found."""
        return self.found / self.explained

    def effect(self, tail: float) -> float:
        """That by which normal quantiles become Student's, at this share in one tail."""
        return self.ratio * float(stdtrit(self.df, tail) / ndtri(tail)) ** 2


def repeats_of(values: Any, trials: Any, sd: Any, repeats: Any, whole: float | None) -> Repeats | None:
    """The repeats of a grid of proportions; None where there are none, or no trials. Trials are all those of a cell,
    one number or one a cell; what is None is unknown."""
    if whole is None or sd is None or repeats is None:
        return None
    y, spread = (np.array(column, dtype=np.float64) for column in (values, sd))
    times, n = (np.array(column, dtype=np.float64) for column in (repeats, trials))
    free = np.where((times > 1) & np.isfinite(spread) & (n > 0) & np.isfinite(y), times - 1, 0.0)
    df = float(np.sum(free))
    if df == 0:
        return None
    # The binomial variance of one repeat, with half a success and half a failure more.
    smooth = (y / whole * n + 0.5) / (n + 1)
    explained = smooth * (1 - smooth) * whole**2 * times / n
    return Repeats(df, float(np.nansum(free * spread**2)), float(np.nansum(free * explained)))


def effects_of_pairs(rooms: Sequence[Hashable], known: Sequence[Repeats | None], names: int) -> list[float | None]:
    """The design effects of grids of which each two of so many names are compared, with Holm's correction: as the
    repeats of a grid show, or together with those of its room where that is less (Rao and Scott 1992, Biometrics 48,
    577-585), at Holm's first level. 1 at least; None without repeats beside trials.

    One or two degrees of freedom are below 1 in every third grid whose variance is several times that of its trials;
    of six such models with one cell of 2 repeats two were told apart in 18 %, by these effects in 3 %.
    """
    pooled = dict[Hashable, Repeats]()
    for room, one in zip(rooms, known, strict=True):
        if one:
            pooled[room] = Repeats(*(a + b for a, b in zip(one, pooled.get(room, (0.0, 0.0, 0.0)), strict=True)))
    tail = _TAIL / max(1, names * (names - 1) // 2)
    return [
        max(1.0, min(one.effect(tail), max(one.ratio, pooled[room].effect(tail)))) if one else None
        for room, one in zip(rooms, known, strict=True)
    ]


def next_run(mean: float, sd: float, runs: int, direction: int) -> tuple[float, float]:
    """The value that one more run is worse than with the probability `FALSE_ALARM`, and the change for the worse that
    lets it be so with the probability `POWER`; `direction` is 1 where more is better, else -1.

    The prediction limit of a normal value by others of its kind, mean - t sd sqrt(1 + 1 / runs) with runs - 1 degrees
    of freedom (Hahn and Meeker 1991, Statistical Intervals, 4.8): the rate holds on average over what was learnt from.
    The change is that distance and the same for `POWER`: on average over what was learnt from, it is found so often.
    """
    error = sd * math.sqrt(1 + 1 / runs)
    reach, more = (float(stdtrit(runs - 1, one)) * error for one in (1 - FALSE_ALARM, POWER))
    return mean - direction * reach, reach + more


@dataclass(frozen=True)
class RepeatedCells:
    """The measured cells of a benchmark: `sd` of their repeats (NaN: unknown), numbers of repeats (0: unknown), shares
    of successes with all trials of a cell (0: unknown) over the design effect, and the unit of a share of 1."""

    sd: FloatArray
    repeats: IntArray
    share: FloatArray
    trials: FloatArray
    whole: float

    @property
    def repeated(self) -> FloatArray:
        """Degrees of freedom of each cell's `sd`, 0 without one."""
        known = np.isfinite(self.sd) & (self.repeats > 1)
        return np.where(known, self.repeats - 1.0, 0.0)

    @property
    def unit(self) -> FloatArray:
        """What p (1 - p) is multiplied by for an unbiased variance of one repeat by its trials; 0 without two."""
        scale = self.whole**2 * np.maximum(self.repeats, 1) / np.maximum(self.trials - 1, 1e-300)
        return np.asarray(np.where(self.trials > 1, scale, 0.0), dtype=np.float64)

    @property
    def explained(self) -> FloatArray:
        """The variance of one repeat by its trials."""
        return np.asarray(self.share * (1 - self.share) * self.unit, dtype=np.float64)


def between(cells: RepeatedCells, alpha: float) -> RepeatSpread | None:
    """The spread of repeats that differ; None where all agree, which may be chance or rounding."""
    free = cells.repeated
    variance = float(np.sum(free * np.nan_to_num(cells.sd) ** 2)) / max(float(free.sum()), 1.0)
    if variance == 0:
        return None
    df, known = float(free.sum()), (free > 0) & (cells.trials > 1)
    if bool((cells.explained[known] > 0).any()):
        df *= _df_of_repeats(cells, known) / float(free[known].sum())
    return _spread(variance, df, int(np.count_nonzero(free)), alpha)


def within(cells: RepeatedCells, alpha: float) -> RepeatSpread | None:
    """The spread that the trials of one repeat explain, of the cells that are repeated if any have both."""
    known = cells.trials > 1
    both = known & (cells.repeated > 0)
    weights = np.where(both, cells.repeated, 0.0) if both.any() else known.astype(np.float64)
    mean = float(np.sum(weights * cells.explained))
    if mean <= 0:
        return None
    # d of p (1 - p) is (1 - 2 p) d p - (d p)^2, and the variance of p is p (1 - p) / n, here of a share that is no end.
    n = np.maximum(cells.trials, 1.0)
    share = (cells.share * n + 0.5) / (n + 1)
    error = share * (1 - share) / n
    spread = float(np.sum((weights * cells.unit) ** 2 * error * ((1 - 2 * share) ** 2 + 2 * error)))
    df = 2 * mean**2 / spread if spread > 0 else math.inf
    return _spread(mean / weights.sum(), min(df, _MOST_DF), int(np.count_nonzero(weights)), alpha)


_MOST_DF = 1e9
"""Degrees of freedom beyond which an interval has no width that anybody would see."""


def ratio(cells: RepeatedCells, alpha: float) -> RepeatSpread | None:
    """The variance of repeats over the explained one; None where all trials came out the same, or all repeats agree."""
    used = (cells.repeated > 0) & (cells.trials > 1)
    explained = float(np.sum(cells.repeated[used] * cells.explained[used]))
    found = float(np.sum(cells.repeated[used] * cells.sd[used] ** 2))
    if explained <= 0 or found == 0:
        return None
    df = _df_of_repeats(cells, used)
    low, high = _ends(df, alpha)
    return RepeatSpread(found / explained, found / explained * low, found / explained * high, df, int(used.sum()))


def _df_of_repeats(cells: RepeatedCells, used: BoolArray) -> float:
    """Degrees of freedom of the pooled variance of repeats: fewer where failures are rare, for the variance of a sample
    variance is s^4 (2 / (r - 1) + kurtosis / r)."""
    free, share, variance = cells.repeated[used], cells.share[used], cells.explained[used]
    of_one = share * (1 - share) * cells.trials[used] / cells.repeats[used]
    kurtosis = np.where(of_one > 0, (1 - 6 * share * (1 - share)) / np.maximum(of_one, 1e-300), 0.0)
    spread = float(np.sum((free * variance) ** 2 * (2 / free + np.maximum(kurtosis, 0.0) / cells.repeats[used])))
    return min(2 * float(np.sum(free * variance)) ** 2 / spread, float(free.sum()))


def _spread(variance: float, df: float, cells: int, alpha: float) -> RepeatSpread:
    low, high = _ends(df, alpha)
    return RepeatSpread(math.sqrt(variance), math.sqrt(variance * low), math.sqrt(variance * high), df, cells)


def _ends(df: float, alpha: float) -> tuple[float, float]:
    """The ends of the interval of a variance, over its estimate: by both tails of chi-squared."""
    return df / float(chdtri(df, alpha / 2)), df / (2 * float(gammaincinv(df / 2, alpha / 2)))
