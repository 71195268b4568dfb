"""Statements about comparisons, gates and trade-offs: who is told apart, what passes, who is behind."""

import math
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from bench.gates import ACCURACY, LOSS, Scene, drawn, judge, row_of, truth_of
from bench.scenarios import Chance, Outcome, Scenario
from registry.grids.grid import Axis, Grid, Level
from registry.plans.closed_forms import Goal
from registry.plans.noise import repeats_factor
from registry.results.comparison import GapTest
from registry.results.gates import Per, Policy
from registry.views.trade_offs import Standing, places_of
from workers.statistics.comparison import cell_gaps, gap_of_all_cells
from workers.statistics.matching import NO_ITEMS, matched, pairs_of
from workers.statistics.proportions import wilson
from workers.statistics.score_test import Strata
from workers.statistics.table import Table

NAMES, CRITICAL = ("b", ""), 1.959964
RATES = (0.02, 0.1, 0.3, 0.5, 0.7, 0.9, 0.98)
UNEVEN = ((20, 1_000, 0.9), (50, 1_000, 0.9575), (1_000, 20, 0.9), (1_000, 20, 0.9725), (1_000, 50, 0.9))


def ends_miss(n1: int, n2: int, chance: Chance) -> Outcome:
    """Intervals of two proportions with rates drawn from a few, at the edges too."""
    p1, p2 = (chance.choice(RATES, 50) for _ in range(2))
    trials = (np.full(50, float(n)) for n in (n1, n2))
    k1, k2 = chance.binomial(n1, p1).astype(float), chance.binomial(n2, p2).astype(float)
    low, high = Strata.of(*(one for pair in zip((k1, k2), trials, strict=True) for one in pair)).ends(
        np.full(50, CRITICAL)
    )
    return int(((p1 - p2 < low) | (p1 - p2 > high)).sum()), 50


def end_misses(trials: int, chance: Chance) -> Outcome:
    """Wilson's intervals of one proportion, with rates drawn evenly: at a single rate few trials may miss more."""
    rates = chance.uniform(0.02, 0.98, 200)
    low, high = wilson(chance.binomial(trials, rates).astype(float), np.full(200, float(trials)))
    return int(((rates < low) | (rates > high)).sum()), 200


def cells_told_apart(trials: int, chance: Chance, rates: np.ndarray | None = None) -> Outcome:
    """Whether any of equal cells of two grids is shown to differ: of twenty, or of some with these rates."""
    rates = chance.uniform(0.05, 0.95, 20) if rates is None else rates
    both = [100 * chance.binomial(trials, rates) / trials for _ in range(2)]
    grids = [Grid(ACCURACY, (axis(rates.size),), tuple(values.tolist()), trials=trials) for values in both]
    found = matched(*map(Table.of, grids))
    assert found is not None
    cells = cell_gaps(found, 100.0, "higher", 0.05, pairs_of(found, NO_ITEMS, 100.0, by_trials=True))
    return int(any(cell.p_holm is not None and cell.p_holm < 0.05 for cell in cells)), 1


def printed_cell_told_apart(trials: int, least: float, most: float, chance: Chance) -> Outcome:
    """Whether two grids of one equal cell, each printed in whole percent, are shown to differ."""
    rate = chance.uniform(least, most)
    grids = [
        Grid(ACCURACY, (axis(1),), (float(round(100 * chance.binomial(trials, rate) / trials)),), trials=trials)
        for _ in range(2)
    ]
    found = gap_of_all_cells(*grids)
    return int(found.test is not None and found.test.p is not None and found.test.p < 0.05), 1


def axis(cells: int) -> Axis:
    return Axis("x", "nominal", tuple(Level(str(i), None) for i in range(cells)), None, None)


def twice(scene: Scene, chance: Chance, loss: float = 0.0) -> tuple[Any, Any]:
    """Both sides of a scene, the contender worse by a loss."""
    truth = truth_of(scene, chance)
    return drawn(scene, truth, chance), drawn(scene, truth - loss, chance)


def false_alarm(scene: Scene, policy: Policy, chance: Chance) -> Outcome:
    """Whether a contender that is the baseline fails."""
    return int(judge(policy, *twice(scene, chance)).passes is False), 1


def wrong_pass(scene: Scene, per: Per, loss: float, chance: Chance) -> Outcome:
    """Whether a contender that is worse by the margin everywhere passes."""
    return int(judge(Policy(per=per, margin=100 * loss), *twice(scene, chance, loss)).passes is True), 1


def noisier(cells: int, repeats: int, times: float, per: Per, chance: Chance) -> Outcome:
    """A false alarm where the contender's repeats are so many times as noisy as the baseline's."""
    sides = []
    for spread in (1.0, times):
        runs = chance.normal(1.5, 0.1 * spread, (cells, repeats))
        sd = tuple(runs.std(axis=1, ddof=1).tolist())
        grid = Grid(LOSS, (axis(cells),), tuple(runs.mean(axis=1).tolist()), repeats=(repeats,) * cells, sd=sd)
        sides.append({NAMES: row_of(grid)})
    return int(judge(Policy(per=per), *sides).passes is False), 1


def few_against_many(runs: tuple[int, int], times: float, chance: Chance) -> Outcome:
    """Whether equal sides are shown to differ: so many repeats each, the contender's so many times as noisy."""
    sides = []
    for count, spread in zip(runs, (1.0, times), strict=True):
        found = chance.normal(0, spread, count)
        sides.append(Grid(LOSS, (axis(1),), (found.mean(),), repeats=(count,), sd=(found.std(ddof=1),)))
    test = gap_of_all_cells(*sides).test
    return int(test is not None and test.p is not None and test.p < 0.05), 1


def plan_of_repeats(repeats: int, effect: float, chance: Chance) -> Outcome:
    """Whether a difference is shown by as many repeats as a plan asks for, from few."""

    def shown(count: int) -> GapTest | None:
        runs = chance.normal([[0.0], [effect]], 1.0, (2, count))
        sd = runs.std(axis=1, ddof=1)
        sides = (
            Grid(LOSS, (axis(1),), (run.mean(),), repeats=(count,), sd=(s,)) for run, s in zip(runs, sd, strict=True)
        )
        return gap_of_all_cells(*sides).test

    first = shown(repeats)
    if first is None or not first.stderr or not first.df:
        return 0, 0
    test = shown(max(2, math.ceil(repeats * repeats_factor(first.stderr, effect, Goal(), first.df, repeats))))
    return int(test is not None and test.p is not None and test.p < 0.05), 1


def behind(trials: Sequence[int], rate: float, chance: Chance) -> Outcome:
    """Whether any of equal points, the cheapest first, is called behind the front."""
    n = np.asarray(trials)
    shares = chance.binomial(n, rate) / n
    smooth = (shares * n + 0.5) / (n + 1)
    errors = np.sqrt(smooth * (1 - smooth) / n)
    found = places_of([
        (Standing(-float(i), exact=True), Standing(float(share), float(error), whole=1.0))
        for i, (share, error) in enumerate(zip(shares, errors, strict=True))
    ])  # fmt: skip
    return int("behind" in found), 1


def _scenarios() -> Iterator[Scenario]:
    for n1, n2 in ((5, 5), (10, 10), (20, 20), (50, 50), (10, 40), (30, 300)):
        run = partial(ends_miss, n1, n2)
        yield Scenario(
            "the interval of two proportions misses", f"n {n1} and {n2}, p .02 to .98", "at_most", 0.06, run, 400
        )
    for trials in (5, 8, 20, 100):
        setting = f"n {trials}, p from .02 to .98 alike"
        yield Scenario(
            "the interval of one proportion misses", setting, "at_most", 0.06, partial(end_misses, trials), 400
        )
    for trials in (5, 20, 100):
        setting = f"20 cells, n {trials}, p .05 to .95"
        yield Scenario(
            "a cell of equal grids is shown to differ", setting, "at_most", 0.05, partial(cells_told_apart, trials)
        )
    for trials in (12, 18):  # the score test is not exact: enumerated, 6.4 and 6.5 % of these
        told = partial(cells_told_apart, trials, rates=np.array([0.5]))
        yield Scenario("the only cell of equal grids is shown to differ", f"n {trials}, p .5", "at_most", 0.07, told)
    for trials, least, most in ((400, 0.98, 1.0), (1_000, 0.98, 1.0), (1_000, 0.5, 1.0), (2_000, 0.5, 1.0)):
        setting = f"n {trials:,} in whole percent, p {least:g} to {most:g}"
        told = partial(printed_cell_told_apart, trials, least, most)
        yield Scenario("the only cell of equal grids is shown to differ", setting, "at_most", 0.06, told)
    yield from _of_gates()
    for runs, times in (((2, 8), 1.0), ((8, 2), 3.0), ((3, 30), 1.0), ((5, 3), 3.0)):
        setting = f"{runs[0]} and {runs[1]} repeats, the second {times:g} times as noisy"
        run = partial(few_against_many, runs, times)
        yield Scenario("equal sides of few and many repeats are shown to differ", setting, "at_most", 0.06, run, 2_000)
    for repeats, effect in ((3, 1.0), (5, 1.0), (4, 1.5), (10, 0.5)):
        run = partial(plan_of_repeats, repeats, effect)
        setting = f"{repeats} repeats a side, {effect:g} standard deviations, and then as many as planned"
        yield Scenario("a difference of repeats is shown by as many as a plan asks for", setting, "at_least", 0.78, run)
    for points, trials in ((5, 150), (10, 150), (20, 150), (10, 20)):
        setting = f"{points} equal points of different cost, n {trials}"
        run = partial(behind, (trials,) * points, 0.6)
        yield Scenario("any point is wrongly behind the front", setting, "at_most", 0.06, run, 1_000)
    for n1, n2, rate in UNEVEN:  # the steps of the score test of the true counts: enumerated, 8.93 % at most of these
        setting = f"n {n1} at less cost and {n2}, p {rate:g}"
        run = partial(behind, (n1, n2), rate)
        yield Scenario("a point of unlike trials is wrongly behind the front", setting, "at_most", 0.09, run, 1_000)


def _of_gates() -> Iterator[Scenario]:
    for benchmarks, n, p in ((12, 20, 0.5), (12, 30, 0.4), (20, 50, 0.5)):
        setting = f"{benchmarks} benchmarks of one cell, each by itself, n {n}, p {p:g}"
        run = partial(false_alarm, Scene(benchmarks, 1, n, (p, p)), Policy(per="benchmark"))
        yield Scenario("a gate raises a false alarm", setting, "at_most", 0.05, run)
    for margin in (0.0, 0.2, 1.0):
        run = partial(false_alarm, Scene(1, 5, 100, (0.6, 0.6)), Policy(kind="equivalent", margin=margin))
        setting = f"equivalent within {margin:g} points, 5 cells, n 100, p 0.6"
        yield Scenario("a gate raises a false alarm", setting, "at_most", 0.05, run)
    for per, cells, n in (("overall", 4, 10), ("cell", 6, 20)):
        setting = f"3 benchmarks of {cells} cells, {per}, n {n}, p .3 to .9"
        run = partial(wrong_pass, Scene(3, cells, n, (0.3, 0.9)), per, 0.1)  # type: ignore[arg-type]
        yield Scenario("a gate lets a loss of its margin pass", setting, "at_most", 0.06, run)
    for cells, repeats, times in ((12, 3, 6.0), (12, 3, 1.0), (6, 5, 6.0), (1, 3, 6.0)):
        setting = f"{cells} cells of {repeats} repeats, the contender {times:g} times as noisy"
        run = partial(noisier, cells, repeats, times, "cell")
        yield Scenario("a gate raises a false alarm out of repeats", setting, "at_most", 0.06, run)


SCENARIOS = list(_scenarios())
