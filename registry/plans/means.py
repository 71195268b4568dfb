"""The mean of some cells, its standard error and its 95 % interval, from the noise that was posted with the cells.

The noise of a cell is its posted standard error; else the spread of its repeats, pooled over the cells of the mean,
with Student's t of sum(r - 1) degrees of freedom (Fisher 1925, Statistical Methods for Research Workers, section 24);
else binomial by its trials, times the grid's design effect (see `with_effect`).
The errors of independent cells add in squares. Interval: where all cells are proportions Wilson's (1927), with as many
trials as would make this error of one proportion (the effective sample size of Korn and Graubard 1998, Survey
Methodology 24, 193-201), so that for one cell it is that cell's own and never leaves the bounds; else the mean and so
many errors on either side. It says where the mean would lie if these same cells were run again.

Quantiles of Student's t for whole degrees of freedom, without a numerical library. The law: Abramowitz and Stegun 1964,
Handbook of Mathematical Functions, 26.7.3 and 26.7.4, finite sums; its inverse by bisection. Beyond five hundred
degrees: the expansion about the normal quantile, 26.7.5.

The design effect of a grid without a numerical library: what was posted, or else what its repeats show. The estimate is
that of `workers.statistics.noise`, whose first lines have its sources.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from registry.grids.grid import Grid, Metric
from registry.plans.closed_forms import quantile
from registry.renderings.numbers import Z, wilson
from registry.results.lines import Estimate
from registry.results.terms import OF_REPEATS, Interval

_EXACT = 500
"""Degrees of freedom from which on the expansion has eight digits, far out too."""
_HALVINGS = 60
_UPPER = 0.975
LEVEL = 0.95
Reference = tuple[Grid, int]
"""A grid and the flat index of one of its cells, which is measured."""


@lru_cache(maxsize=1024)
def t_quantile(share: float, df: int) -> float:
    """The point below which Student's law with `df` degrees of freedom has this share, from 0.5 to below 1."""
    if df > _EXACT:
        return _expanded(quantile(share), df)
    inside, low, high = 2 * share - 1, 0.0, math.pi / 2
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if _between(middle, df) < inside else (low, middle)
    return math.sqrt(df) * math.tan((low + high) / 2)


def _between(angle: float, df: int) -> float:
    """The probability between -t and t, for t = sqrt(df) tan(angle)."""
    sine, square = math.sin(angle), math.cos(angle) ** 2
    odd = df % 2
    if df == 1:
        return 2 * angle / math.pi
    term = math.cos(angle) if odd else 1.0
    total = term
    for k in range(2 + odd, df - 1, 2):
        term *= square * (k - 1) / k
        total += term
    return 2 / math.pi * (angle + sine * total) if odd else sine * total


def _expanded(z: float, df: int) -> float:
    first = (z**3 + z) / 4
    second = (5 * z**5 + 16 * z**3 + 3 * z) / 96
    third = (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384
    return z + first / df + second / df**2 + third / df**3


def trials_of(grid: Grid, place: int) -> float | None:
    """Trials of a cell; None where there are none."""
    given = grid.trials[place] if isinstance(grid.trials, tuple) else grid.trials
    return float(given) if given else None


def effect_of(grid: Grid) -> float | None:
    """The design effect of a grid; None where none was posted and repeats vary by no more than their trials explain."""
    whole = grid.metric.proportion_of
    if grid.design_effect is not None or whole is None or grid.repeats is None or grid.sd is None:
        return grid.design_effect
    df, ratios = 0, []
    for place, value in enumerate(grid.values):
        trials = trials_of(grid, place)
        times, sd = grid.repeats[place], grid.sd[place]
        if value is not None and trials and times is not None and times > 1 and sd is not None:
            smooth = (value / whole * trials + 0.5) / (trials + 1)
            explained = smooth * (1 - smooth) * whole**2 * times / trials
            df += times - 1
            ratios.append((times - 1) * sd**2 / explained)
    ratio = math.fsum(ratios) / df if df else 0.0
    return ratio * (t_quantile(_UPPER, df) / quantile(_UPPER)) ** 2 if ratio > 1 else None


def with_effect(grid: Grid) -> Grid:
    """The grid with its design effect as if that had been posted."""
    effect = effect_of(grid)
    return grid if effect == grid.design_effect else replace(grid, design_effect=effect)


@dataclass(frozen=True, slots=True)
class Mean:
    """A mean over so many slots. `stderr` is None where the noise of a cell is unknown, `df` where all errors are
    known and none is estimated; `low` and `high` are the ends of the interval."""

    value: float
    slots: int
    stderr: float | None = None
    df: int | None = None
    low: float | None = None
    high: float | None = None

    @property
    def estimate(self) -> Estimate:
        """The mean as it is served."""
        known = self.low is not None and self.high is not None
        interval = Interval(LEVEL, self.low, self.high) if known else None  # type: ignore[arg-type]
        return Estimate(self.value, self.slots, self.stderr, interval)


@dataclass(frozen=True, slots=True)
class _Noise:
    """The noise of one cell: its error, the degrees of freedom of one that is estimated (0: known) with the repeats
    behind it, and the share of successes at which a binomial error was taken."""

    error: float
    df: int = 0
    repeats: int = 1
    share: float | None = None


def mean_of(cells: Sequence[Reference], metric: Metric) -> Mean:
    """The mean of one cell or more of this metric; its interval stays within the bounds."""
    count = len(cells)
    value = _mean([grid.values[index] or 0.0 for grid, index in cells])
    noise = [_noise(grid, index) for grid, index in cells]
    known = _pooled([one for one in noise if one is not None])
    if known is None or None in noise:
        return Mean(value, count)
    stderr = math.hypot(*(one.error for one in known)) / count
    low, high = _interval(value, stderr, known, metric)
    if not all(map(math.isfinite, (low, high, stderr))):
        return Mean(value, count)
    low = low if metric.lower is None else max(low, metric.lower)
    high = high if metric.upper is None else min(high, metric.upper)
    return Mean(value, count, stderr, sum(one.df for one in known) or None, min(low, value), max(high, value))


def _interval(value: float, stderr: float, known: Sequence[_Noise], metric: Metric) -> tuple[float, float]:
    shares = [one.share for one in known if one.share is not None]
    whole = metric.proportion_of
    if whole is not None and len(shares) == len(known):
        share = math.fsum(shares) / len(shares)
        return wilson(value, share * (1 - share) / (stderr / whole) ** 2, whole)
    df = sum(one.df for one in known)
    t = t_quantile((1 + LEVEL) / 2, df) if df else Z
    # An error that is known counts with the normal quantile, one that is estimated with Student's.
    reach = math.hypot(*(one.error * (t if one.df else Z) for one in known)) / len(known)
    return value - reach, value + reach


def _mean(values: Sequence[float]) -> float:
    try:
        return math.fsum(values) / len(values)
    except OverflowError:
        return math.fsum(value / len(values) for value in values)


def _pooled(noise: Sequence[_Noise]) -> list[_Noise] | None:
    """The noise with the errors of repeats pooled; None where no repeats differ, for then nothing is known of them."""
    estimated = [one for one in noise if one.df]
    if not estimated:
        return list(noise)
    df = sum(one.df for one in estimated)
    # The deviation of one repeat, in units of the largest, so that no square overflows or vanishes.
    largest = max(one.error * math.sqrt(one.repeats) for one in estimated)
    if largest == 0.0:
        return None
    spread = [one.df * (one.error * math.sqrt(one.repeats) / largest) ** 2 for one in estimated]
    deviation = largest * math.sqrt(math.fsum(spread) / df)
    return [replace(one, error=deviation / math.sqrt(one.repeats)) if one.df else one for one in noise]


def _noise(grid: Grid, index: int) -> _Noise | None:
    posted = grid.stderr[index] if grid.stderr else None
    if posted is not None:
        return _Noise(posted) if posted > 0 else None
    repeats = grid.repeats[index] if grid.repeats else None
    sd = grid.sd[index] if grid.sd else None
    if repeats is not None and repeats > 1 and sd is not None:
        return _Noise(sd / math.sqrt(repeats), repeats - 1, repeats)
    return _binomial(grid, index)


def binomial_stderr(grid: Grid, index: int) -> float | None:
    """The standard error of a cell by its trials, whatever else is known of its noise; None where it has none."""
    found = _binomial(grid, index)
    return None if found is None else found.error


def _binomial(grid: Grid, index: int) -> _Noise | None:
    """Binomial noise; the error at (k + 1/2) / (n + 1), so that none is 0."""
    trials = trials_of(grid, index)
    whole, value = grid.metric.proportion_of, grid.values[index]
    if not trials or whole is None or value is None:
        return None
    effect = grid.design_effect or 1.0
    share = (value * trials / whole + 0.5) / (trials + 1)
    return _Noise(whole * math.sqrt(share * (1 - share) * effect / trials), share=share)


def assumes(grids: Sequence[Grid]) -> tuple[str, ...]:
    """Assumptions of the intervals, in the words of the statistics."""
    counted = (grid.trials is not None and grid.metric.proportion_of is not None for grid in grids)
    silent = [grid for given, grid in zip(counted, grids, strict=True) if given and grid.design_effect is None]
    shown = [effect_of(grid) is not None for grid in silent]
    told = {"independent_trials": not all(shown), OF_REPEATS: any(shown)}
    return tuple(name for name, is_so in told.items() if is_so)
