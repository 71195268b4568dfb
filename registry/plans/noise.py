"""The noise of a cell for plans and views: from what was posted with it, without a numerical library.

It is its posted standard error; else the spread of its repeats; else binomial by its trials, times the grid's design
effect (see `with_effect`).

The design effect of a grid: what was posted, or else what its repeats show, and what rounding adds. The estimates are
those of `workers.statistics.noise`, whose first lines have their sources.
"""

import math
from dataclasses import replace

from registry.grids.grid import Grid
from registry.grids.intake.sent_cells import decimals
from registry.plans.closed_forms import Goal, quantile, smallest_factor
from registry.students_law import t_quantile

_UPPER = 0.975
_ROUNDED, _ROUNDED_NEAR_ENDS, _DIGITS = math.log(10.0), math.log(4.0), 10
_ROUNDING = 1e-12


def trials_of(grid: Grid, place: int) -> float | None:
    """Trials of a cell; None where there are none."""
    given = grid.trials[place] if isinstance(grid.trials, tuple) else grid.trials
    return float(given) if given else None


def effect_of(grid: Grid, beside: Grid | None = None) -> float | None:
    """The design effect of a grid: as posted or else as repeats show, and what rounding adds; None where nothing is."""
    whole = grid.metric.proportion_of
    if whole is None:
        return grid.design_effect
    shown = grid.design_effect or _effect_of_repeats(grid, whole)
    rounding = _effect_of_rounding(_by_trials(grid), whole, _by_trials(beside) if beside else [])
    return (shown or 1.0) + rounding if rounding else shown


def _by_trials(grid: Grid) -> list[tuple[float, float]]:
    cells = [(value, trials_of(grid, place)) for place, value in enumerate(grid.values)]
    return [(value, trials) for value, trials in cells if value is not None and trials]


def _effect_of_rounding(known: list[tuple[float, float]], whole: float, beside: list[tuple[float, float]]) -> float:
    if not known:
        return 0.0
    shares = [((value / whole * n + 0.5) / (n + 1), n) for value, n in known]
    variance = math.fsum(share * (1 - share) / n for share, n in shares) / len(shares)
    step = _printed_step(known, whole, variance)
    if not step:
        step, inside = _printed_step(known + beside, whole, variance), any(0 < value < whole for value, _ in known)
        # As workers.statistics.noise has it: it hides nothing where no trial lies half a step from all or none.
        step = step if inside or step * max(n for _, n in known) > 2 else 0.0
    if not step:
        return 0.0
    # As workers.statistics.noise has it: no share is nearer to an end than half a step.
    far = [(min(max(share, step / 2), 1 - step / 2), n) for share, n in shares]
    within = math.fsum(share * (1 - share) / n for share, n in far) / len(far)
    return step**2 / (12 if variance > step**2 else 4) / within


def _printed_step(known: list[tuple[float, float]], whole: float, variance: float) -> float:
    step: float = 10.0 ** -decimals([round(value, _DIGITS) for value, _ in known]) / whole
    evidence = math.fsum(math.log(step * n) for value, n in known if 0 < value < whole and step * n > 1)
    return step if evidence >= (_ROUNDED if variance > step**2 else _ROUNDED_NEAR_ENDS) - 1e-9 else 0.0


def _effect_of_repeats(grid: Grid, whole: float) -> float | None:
    if grid.repeats is None or grid.sd is None:
        return None
    df, between, explained = 0, 0.0, 0.0
    for place, value in enumerate(grid.values):
        trials = trials_of(grid, place)
        times, sd = grid.repeats[place], grid.sd[place]
        if value is not None and trials and times is not None and times > 1 and sd is not None:
            smooth = (value / whole * trials + 0.5) / (trials + 1)
            df += times - 1
            between += (times - 1) * sd**2
            explained += (times - 1) * smooth * (1 - smooth) * whole**2 * times / trials
    ratio = between / explained if df else 0.0
    return ratio * (t_quantile(_UPPER, df) / quantile(_UPPER)) ** 2 if ratio > 1 else None


def with_effect(grid: Grid, beside: Grid | None = None) -> Grid:
    """The grid with its design effect as if that had been posted; `beside` is one that it is compared with."""
    effect = effect_of(grid, beside)
    return grid if effect == grid.design_effect else replace(grid, design_effect=effect)


def stderr_of(grid: Grid, place: int) -> float | None:
    """The standard error of a measured cell; None where it is not known, as by repeats that came out the same."""
    posted = grid.stderr[place] if grid.stderr else None
    if posted is not None:
        return posted or None
    repeats, sd = grid.repeats[place] if grid.repeats else None, sd_of(grid, place)
    if repeats is not None and repeats > 1 and sd is not None:
        return sd / math.sqrt(repeats) or None
    return binomial_stderr(grid, place)


def sd_of(grid: Grid, place: int) -> float | None:
    """The spread of a cell's repeats; 0 where it is the rounding of the sum of equal values."""
    sd = grid.sd[place] if grid.sd else None
    return 0.0 if sd is not None and sd <= _ROUNDING * abs(grid.values[place] or 0.0) else sd


def binomial_stderr(grid: Grid, place: int) -> float | None:
    """The standard error of a cell by its trials, whatever else is known of its noise; None where it has none. It is
    that at (k + 1/2) / (n + 1), so that none is 0."""
    trials = trials_of(grid, place)
    whole, value = grid.metric.proportion_of, grid.values[place]
    if not trials or whole is None or value is None:
        return None
    effect = grid.design_effect or 1.0
    share = (value * trials / whole + 0.5) / (trials + 1)
    return whole * math.sqrt(share * (1 - share) * effect / trials)


def repeats_factor(stderr: float, effect: float, goal: Goal, df: float, count: float | None) -> float:
    """By how much repeats, `count` of a cell, are multiplied for a test with an estimated error to find an effect;
    without a number the items with scores of which the degrees of freedom are one fewer; two at least.

    The error is estimated twice: now, where the effect is c such errors once all is multiplied, and when the test is
    done, which finds it beyond t of its own. Their difference is normal enough (Johnson, Kotz and Balakrishnan 1994,
    chapter 18): its mean is c m - t m' errors and its variance 1 + c^2 (1 - m^2) + t^2 (1 - m'^2), with m the mean of
    an estimated error of 1. By the normal law plans of three to five repeats were found in 38 to 72 % where 80 % was
    meant.
    """
    count = count or df + 1
    mean, power = _mean_square(df), quantile(goal.power)

    def is_enough(times: float) -> bool:
        after = max(1.0, df * (count * times - 1) / (count - 1))
        errors, t, later = (
            abs(effect) * math.sqrt(times) / stderr,
            t_quantile(1 - goal.tail, int(after)),
            _mean_square(after),
        )
        variance = 1 + errors**2 * (1 - mean) + t**2 * (1 - later)
        return count * times >= 2 and errors * math.sqrt(mean) - t * math.sqrt(later) >= power * math.sqrt(variance)

    return smallest_factor(is_enough)


def _mean_square(df: float) -> float:
    """The square of the mean of an estimated standard deviation of 1."""
    return 2 / df * math.exp(2 * (math.lgamma((df + 1) / 2) - math.lgamma(df / 2))) if df < 1e6 else 1.0
