"""Statements about the best cell."""

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from bench.scenarios import Chance, Outcome, Scenario
from bench.scenarios.worlds import PERCENT, axis, flat, hits
from registry.grids.grid import Grid, Metric
from workers.statistics.best_cells import noisy_peaks
from workers.statistics.table import Table

Truth = Callable[[Chance, int], np.ndarray]


def anything(chance: Chance, cells: int) -> np.ndarray:
    return chance.uniform(0, 1, cells)


def alike(chance: Chance, cells: int) -> np.ndarray:
    return chance.uniform(0.4, 0.6, cells)


def one_better(chance: Chance, cells: int) -> np.ndarray:
    truth = np.full(cells, 0.5)
    truth[chance.integers(cells)] += 0.01
    return truth


def high(chance: Chance, cells: int) -> np.ndarray:
    return chance.uniform(0.95, 1.0, cells)


WORLDS: dict[str, Truth] = {
    "U(0, 1)": anything,
    "U(.4, .6)": alike,
    "one cell a point above equal ones": one_better,
    "U(.95, 1)": high,
}


def misses(truth: Truth, n: int, cells: int, spread: float, effect: float | None, chance: Chance) -> Outcome:
    """Whether the best cell is outside of the set."""
    share = truth(chance, cells)
    values = 100 * hits(chance, share, n, spread) / n
    found = noisy_peaks(Table.of(Grid(PERCENT, (axis("x", cells),), flat(values), n, design_effect=effect)))
    if found.best_set is None:
        return 1, 1
    return int(int(np.argmax(share)) not in {int(at["x"]) for at in found.best_set.at}), 1


def misses_with_repeats(repeats: int, cells: int, chance: Chance) -> Outcome:
    truth = chance.normal(0, 0.3, cells)
    runs = truth[:, None] + chance.normal(size=(cells, repeats))
    metric = Metric("score", None, "higher")
    grid = Grid(
        metric, (axis("x", cells),), flat(runs.mean(1)), repeats=(repeats,) * cells, sd=flat(runs.std(1, ddof=1))
    )
    found = noisy_peaks(Table.of(grid)).best_set
    return int(found is None or int(np.argmax(truth)) not in {int(at["x"]) for at in found.at}), 1


def said(truth: Truth, n: int, cells: int, unrelated: bool, chance: Chance) -> Outcome:
    """In thousandths: the probability that is given to the most probable cell."""
    share = truth(chance, cells)
    top = _top(share, n, cells, chance)
    return (0, 1_000) if top is None else (round(1_000 * (top[2] if unrelated else top[1])), 1_000)


def true(truth: Truth, n: int, cells: int, chance: Chance) -> Outcome:
    """Whether the most probable cell is the best one."""
    share = truth(chance, cells)
    top = _top(share, n, cells, chance)
    return int(top is not None and top[0] == int(np.argmax(share))), 1


def mean_towards_the_end(share: float, trials: int | tuple[int, ...], chance: Chance) -> Outcome:
    """Whether what equal cells are shrunk towards lies above what they have; all values alike count for neither."""
    n = np.broadcast_to(trials, 20)
    grid = Grid(PERCENT, (axis("x", 20),), flat(100 * chance.binomial(n, share) / n), tuple(n.tolist()))
    found = noisy_peaks(Table.of(grid)).shrunken
    return int(found is not None and found.mean > 100 * share + 1e-9), 1


def _top(share: np.ndarray, n: int, cells: int, chance: Chance) -> tuple[int, float, float] | None:
    values = 100 * chance.binomial(n, share) / n
    found = noisy_peaks(Table.of(Grid(PERCENT, (axis("x", cells),), flat(values), n))).probability_best
    if not found:
        return None
    return int(found[0].at["x"]), found[0].probability, found[0].if_unrelated or 0.0


def _scenarios() -> Iterator[Scenario]:
    for name, truth in WORLDS.items():
        for n in (30, 150, 300):
            for cells in (5, 20, 100):
                setting = f"{name}, n {n}, {cells} cells"
                run = partial(misses, truth, n, cells, 1.0, None)
                yield Scenario("the set of best cells misses the best", setting, "at_most", 0.05, run)
    for repeats in (2, 3, 5):
        run = partial(misses_with_repeats, repeats, 20)
        setting = f"{repeats} repeats, 20 cells, sd .3 of the noise"
        yield Scenario("the set of best cells misses the best", setting, "at_most", 0.05, run)
    for effect in (None, 2.0):
        posted = "not posted" if effect is None else "2 posted"
        run = partial(misses, alike, 150, 20, 2.0, effect)
        yield Scenario(
            f"the set of best cells misses the best, twice the variance, design effect {posted}",
            "U(.4, .6), n 150, 20 cells",
            "shown" if effect is None else "at_most",
            None if effect is None else 0.05,
            run,
        )
    for share, trials in ((0.9, 7), (0.9, 20), (0.98, 50), (0.9, (11, 200) * 10)):
        told = f"20 cells, p {share}, n {'11 and 200' if isinstance(trials, tuple) else trials}"
        run = partial(mean_towards_the_end, share, trials)
        yield Scenario("the mean that equal cells are shrunk towards is too near the end", told, "at_most", 0.55, run)
    for n in (30, 150, 300):
        setting = f"U(.4, .6), n {n}, 20 cells"
        run = partial(said, alike, n, 20, False)
        yield Scenario("P(best) of the most probable cell, as said", setting, "shown", None, run, 500)
        run = partial(said, alike, n, 20, True)
        yield Scenario("P(best) of the same cell, if unrelated", setting, "shown", None, run, 500)
        run = partial(true, alike, n, 20)
        yield Scenario("the most probable cell is the best", setting, "shown", None, run, 1_000)


SCENARIOS = list(_scenarios())
