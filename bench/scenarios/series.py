"""Words and intervals about series."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
from scipy.special import expit, logit

from bench.scenarios import Chance, Outcome, Scenario
from bench.scenarios.reports import runs
from bench.scenarios.worlds import (
    breaks,
    curves_of,
    directions,
    proportions,
    repeated,
    series_of,
    with_errors,
    without_trials,
)
from registry.grids.grid import Grid
from registry.results.terms import Interval
from registry.results.trend_tests import FittedChange
from workers.statistics.changes import largest
from workers.statistics.thresholds import thresholds
from workers.statistics.trend import trends_of

TRENDS = ("increasing", "decreasing", "slightly_increasing", "slightly_decreasing")
VARIES = ("varies_without_trend",)
SIZES, CHANCES, LENGTHS = (5, 30, 300, 1_000), (0.5, 0.9, 0.98), (2, 3, 5, 10, 20)


Draw = Callable[[Chance], Grid]


def says(words: Sequence[str], draw: Draw, chance: Chance) -> Outcome:
    """Whether any series of a grid has one of these words."""
    return int(any(word in words for word in directions(draw(chance)))), 1


def breaks_anywhere(draw: Draw, chance: Chance) -> Outcome:
    return int(breaks(draw(chance)) > 0), 1


def level(rows: int, columns: int, share: float) -> np.ndarray:
    return np.full((rows, columns), share)


def world(n: int, share: float, rows: int, columns: int, spread: float = 1.0, effect: float | None = None) -> Callable:
    return lambda chance: proportions(chance, level(rows, columns, share), n, spread, effect)


def blind(n: int, share: float, rows: int, columns: int) -> Callable:
    return lambda chance: without_trials(proportions(chance, level(rows, columns, share), n))


def falling(points: float, columns: int, n: int) -> Callable:
    truth = np.linspace(0.9, 0.9 - points / 100, columns)[None, :]
    return lambda chance: proportions(chance, truth, n)


def holds(interval: Interval | None, truth: float) -> Outcome:
    if interval is None:
        return 0, 0
    return int(interval.low - 1e-9 <= truth <= interval.high + 1e-9), 1


def change_holds(change: FittedChange | None, truth: float) -> Outcome:
    return (0, 0) if change is None else holds(change.interval, truth)


def fitted(n: int, first: float, last: float, columns: int, chance: Chance) -> Outcome:
    """Whether the interval of the fitted change holds the change of a logistic truth."""
    truth = expit(np.linspace(logit(first), logit(last), columns))[None, :]
    (trend,) = trends_of(curves_of(proportions(chance, truth, n)))
    return change_holds(trend.change, 100 * (last - first))


def largest_step(n: int, share: float, columns: int, chance: Chance) -> Outcome:
    (found,) = largest(curves_of(proportions(chance, level(1, columns, share), n)), [np.ones(columns - 1)], 0.05)
    return holds(found.drop.interval, 0.0) if found.drop else (0, 0)


def small_step(n: int, points: float, chance: Chance) -> Outcome:
    """Whether a step that is truly so small is called sharp; the threshold is 5 points."""
    grid = proportions(chance, np.array([[0.9] * 3 + [0.9 - points / 100] * 2]), n)
    return int(any(step.sharp for one in series_of(grid) for step in one.changes)), 1


def sen(columns: int, chance: Chance) -> Outcome:
    values = chance.normal(size=(1, columns)) + np.arange(columns)
    grid = replace(repeated(chance, np.zeros((1, columns)), 2), values=tuple(values[0]), repeats=None, sd=None)
    (trend,) = trends_of(curves_of(grid))
    return holds(trend.line.interval, 1.0)


def crossed(n: int, columns: int, chance: Chance) -> Outcome:
    """Whether the interval of a crossing holds it, of a truth that falls from 95 to 60 and crosses 80."""
    truth = np.linspace(0.95, 0.60, columns)
    [(found,)] = thresholds(curves_of(proportions(chance, truth[None, :], n)), (80.0,), "higher", 0.05)
    if found.interval is None:
        return 0, 1
    at = (0.95 - 0.80) / 0.35 * (columns - 1)
    low, high = (float(end) if end is not None else None for end in (found.interval.low, found.interval.high))
    return int((low is None or low <= at) and (high is None or at <= high)), 1


def _trends() -> Iterator[Scenario]:
    for n in SIZES:
        for share in CHANCES:
            for m in LENGTHS:
                run = partial(says, TRENDS, world(n, share, 1, m))
                setting = f"one series, n {n}, p {share}, m {m}"
                yield Scenario("a trend word, flat truth", setting, "at_most", 0.05, run, 200)
    for n, share, m in ((30, 0.5, 5), (100, 0.9, 10), (300, 0.98, 10), (300, 0.5, 20), (30, 0.98, 20)):
        yield Scenario(
            "a trend word in any row of seven, flat truth",
            f"n {n}, p {share}, m {m}",
            "at_most",
            0.05,
            partial(says, TRENDS, world(n, share, 7, m)),
            400,
        )
        yield Scenario(
            "varies without trend, in any row of seven, flat truth",
            f"n {n}, p {share}, m {m}",
            "at_most",
            0.05,
            partial(says, VARIES, world(n, share, 7, m)),
            400,
        )
    for m, least in ((3, 0.60), (4, 0.60), (5, 0.70), (10, 0.99)):
        run = partial(says, TRENDS, falling(20, m, 100))
        yield Scenario(
            "power: a straight fall of 20 points is called one", f"n 100, m {m}", "at_least", least, run, 200
        )


def _steps() -> Iterator[Scenario]:
    for n, share in ((30, 0.5), (150, 0.45), (300, 0.9), (100, 0.98)):
        yield Scenario(
            "a sharp step or an onset anywhere in 7 × 20, flat truth",
            f"n {n}, p {share}",
            "at_most",
            0.05,
            partial(breaks_anywhere, world(n, share, 7, 20)),
            400,
        )
    for n, share in ((150, 0.45), (300, 0.9)):
        yield Scenario(
            "a sharp step or an onset anywhere in 7 × 20, flat truth",
            f"without trials (n {n}, p {share})",
            "at_most",
            0.0,
            partial(breaks_anywhere, blind(n, share, 7, 20)),
            200,
        )
    for n, points in ((100, 4), (300, 4), (1_000, 4), (300, 2)):
        told = "a step that is truly below the threshold of 5 points is called sharp"
        setting = f"1 × 5, n {n}, a step of {points} points"
        yield Scenario(told, setting, "shown", None, partial(small_step, n, points), 400)


def _intervals() -> Iterator[Scenario]:
    for n, share in ((150, 0.45), (300, 0.9)):
        for m in LENGTHS:
            run = partial(largest_step, n, share, m)
            setting = f"n {n}, p {share}, m {m}"
            yield Scenario("the interval of the largest step holds the truth", setting, "at_least", 0.94, run)
    for m in (5, 8, 20):
        run = partial(sen, m)
        yield Scenario("Sen's interval of the slope holds the truth", f"normal noise, m {m}", "at_least", 0.94, run)
    for n in (30, 300):
        for first, last in ((0.5, 0.5), (0.9, 0.9), (0.98, 0.98), (0.95, 0.6)):
            for m in LENGTHS:
                run = partial(fitted, n, first, last, m)
                setting = f"n {n}, from {first} to {last}, m {m}"
                yield Scenario("the interval of the fitted change holds the truth", setting, "at_least", 0.94, run)
    for n, m in ((30, 10), (100, 10), (300, 20)):
        run = partial(crossed, n, m)
        yield Scenario("the interval of a crossing holds it", f"n {n}, m {m}", "at_least", 0.95, run)


def _few_repeats() -> Iterator[Scenario]:
    for repeats in (2, 3, 5):
        for m in (4, 10):
            for noise in ("equal", "falling 10 : 1", "one cell × 5", "log-sd 1"):
                setting, draw = f"{repeats} repeats, m {m}, noise {noise}", runs(1, m, repeats, noise, "nominal")
                run, limit = partial(says, TRENDS, draw), 0.06 if noise == "equal" else 0.08
                yield Scenario("a trend word out of few repeats, flat truth", setting, "at_most", limit, run, 200)
                run = partial(says, VARIES, draw)
                told = "varies without trend out of few repeats, flat truth"
                yield Scenario(told, setting, "at_most", 0.06, run, 200)


def _noisy_column() -> Iterator[Scenario]:
    for rows, m, repeats in ((1, 12, 2), (1, 8, 3), (1, 8, 5), (7, 8, 2), (7, 8, 3), (7, 10, 5)):
        run = partial(says, TRENDS, runs(rows, m, repeats, "last column × 10", "nominal"))
        told = "a trend word in a grid out of few repeats, flat truth, noise unequal (equal_noise is assumed)"
        yield Scenario(told, f"{rows} × {m}, {repeats} repeats, the last column × 10", "shown", None, run, 400)


def scattered(points: float, columns: int, chance: Chance) -> Outcome:
    """Whether levels in no order, whose true values scatter by so many posted errors, are called a trend."""
    truth = points * chance.normal(size=(1, columns))
    return int(directions(with_errors(chance, truth, np.ones_like(truth)))[0] in TRENDS), 1


def _scatter() -> Iterator[Scenario]:
    """Scatter beyond noise is held against least squares, unless a monotone course fits: few levels often have one."""
    told = "a trend word of levels in no order"
    for points in (1, 2, 3, 5, 20):
        for m in (3, 4, 5, 8, 12, 20):
            run, setting = partial(scattered, points, m), f"sd of {points} posted errors, m {m}"
            if m >= 8 and points >= 3:
                yield Scenario(told, setting, "at_most", 0.08, run, 500)
            else:
                few = "few or hardly scattered levels (a monotone course fits by chance)"
                yield Scenario(f"{told}, {few}", setting, "shown", None, run, 500)


def _dependent() -> Iterator[Scenario]:
    for m in (3, 5, 10, 20):
        setting = f"twice the binomial variance, n 300, p .5, m {m}"
        run = partial(says, TRENDS, world(300, 0.5, 1, m, 2.0))
        yield Scenario("a trend word, flat truth, design effect not posted", setting, "shown", None, run, 200)
        run = partial(says, TRENDS, world(300, 0.5, 1, m, 2.0, 2.0))
        yield Scenario("a trend word, flat truth, design effect 2 posted", setting, "at_most", 0.05, run, 200)
    setting = "twice the binomial variance, 7 × 20, n 300, p .5"
    run = partial(breaks_anywhere, world(300, 0.5, 7, 20, 2.0))
    yield Scenario("a sharp step or an onset, design effect not posted", setting, "shown", None, run, 200)
    run = partial(breaks_anywhere, world(300, 0.5, 7, 20, 2.0, 2.0))
    yield Scenario("a sharp step or an onset, design effect 2 posted", setting, "at_most", 0.05, run, 200)


SCENARIOS = [*_trends(), *_steps(), *_intervals(), *_few_repeats(), *_noisy_column(), *_scatter(), *_dependent()]
