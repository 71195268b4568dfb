"""Whole reports: how often one says anything of a grid in which nothing differs, and what it finds where something
does."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

import numpy as np

from bench.scenarios import Chance, Outcome, Scenario
from bench.scenarios.worlds import (
    directions,
    proportions,
    repeated,
    repeated_trials,
    series_of,
    with_errors,
    without_trials,
    words_of,
)
from registry.grids.grid import Grid, Kind
from workers.statistics.comparison import gap
from workers.statistics.noise import RepeatedCells, between, within

Draw = Callable[[Chance], Grid]
KINDS: tuple[Kind, ...] = ("nominal", "numeric")


def says_anything(draw: Draw, chance: Chance) -> Outcome:
    return int(bool(words_of(draw(chance)))), 1


def says(word: str, draw: Draw, chance: Chance) -> Outcome:
    return int(word in words_of(draw(chance))), 1


def level(rows: int, columns: int, n: int, share: float, kind: Kind) -> Draw:
    return lambda chance: proportions(chance, np.full((rows, columns), share), n, rows=kind)


def printed(draw: Draw) -> Draw:
    """The same in whole percent."""

    def rounded(chance: Chance) -> Grid:
        grid = draw(chance)
        return replace(grid, values=tuple(None if one is None else float(round(one)) for one in grid.values))

    return rounded


def silent(rows: int, columns: int, n: int, share: float) -> Draw:
    return lambda chance: without_trials(level(rows, columns, n, share, "numeric")(chance))


def noise_of(name: str, rows: int, columns: int, chance: Chance) -> np.ndarray:
    """Standard deviations of the cells: alike, falling to a tenth along the axis, five times larger in a cell of each
    row, ten times in the last column, or drawn with a standard deviation of 1 in their logarithm."""
    found = np.ones((rows, columns))
    if name == "falling 10 : 1":
        found *= np.geomspace(10, 1, columns)
    if name == "last column × 10":
        found[:, -1] = 10
    if name == "one cell × 5":
        found[np.arange(rows), chance.integers(columns, size=rows)] = 5
    if name == "log-sd 1":
        found = np.exp(chance.normal(size=found.shape))
    return found


def runs(rows: int, columns: int, repeats: int, noise: str, kind: Kind) -> Draw:
    return lambda chance: repeated(
        chance, np.zeros((rows, columns)), repeats, noise_of(noise, rows, columns, chance), kind
    )


def uneven(rows: int, columns: int, least: int, most: int, share: float) -> Draw:
    """The trials of a cell lie anywhere between two numbers, alike on the logarithmic scale."""

    def draw(chance: Chance) -> Grid:
        trials = np.exp(chance.uniform(np.log(least), np.log(most + 1), size=(rows, columns))).astype(int)
        return proportions(chance, np.full((rows, columns), share), trials)

    return draw


def posted_errors(rows: int, columns: int, noise: str, kind: Kind) -> Draw:
    return lambda chance: with_errors(chance, np.zeros((rows, columns)), noise_of(noise, rows, columns, chance), kind)


def shocked(rows: int, columns: int, n: int, share: float, points: float) -> Draw:
    """What all cells of a column share."""

    def draw(chance: Chance) -> Grid:
        shocks = np.clip(share + points / 100 * chance.normal(size=columns), 0.01, 0.99)
        return proportions(chance, np.tile(shocks, (rows, 1)), n)

    return draw


def falls(rows: int, columns: int, points: float, n: int, chance: Chance) -> Outcome:
    """Whether the one row of some that falls is said to."""
    truth = np.full((rows, columns), 0.9)
    truth[0] = np.linspace(0.9, 0.9 - points / 100, columns)
    return int("creasing" in directions(proportions(chance, truth, n))[0]), 1


def seeds(rows: int, columns: int, repeats: int, n: int, spread: float, share: float) -> Draw:
    return lambda chance: repeated_trials(chance, np.full((rows, columns), share), repeats, n, spread)


def spread_misses(cells: int, trials: int, share: float, repeats: int, chance: Chance) -> Outcome:
    """Intervals of the spread that trials explain, and of that of repeats which nothing else moves."""
    runs = chance.binomial(trials, share, (cells, repeats)) / trials
    sd, free = (runs.std(axis=1, ddof=1), repeats) if repeats > 1 else (np.full(cells, np.nan), 0)
    n = np.full(cells, float(trials * repeats))
    found = RepeatedCells(sd, np.full(cells, free), runs.mean(axis=1), n, 1.0)
    spreads = [one for one in (within(found, 0.05), between(found, 0.05)) if one is not None]
    true = np.sqrt(share * (1 - share) / trials)
    return sum(not one.low <= true <= one.high for one in spreads), len(spreads)


def found_different(draw: Draw, cells: bool, chance: Chance) -> Outcome:
    """Whether two grids are shown to differ: all their cells together, or any cell by Holm's p."""
    found = gap(draw(chance), draw(chance))
    shown = [one.p_holm for one in found.cells or ()] if cells else [found.test.p if found.test else None]
    return int(any(p is not None and p < 0.05 for p in shown)), 1


def found_at_detectable(rows: int, columns: int, n: int, share: float, chance: Chance) -> Outcome:
    """Whether a straight change about the mean is called a trend that is as large as the report of a flat grid says."""
    flat = Grid(*_same(rows, columns, n, share))
    change = (series_of(flat)[0].detectable or 0.0) / 100
    truth = np.full((rows, columns), share)
    truth[0] += np.linspace(-change / 2, change / 2, columns)
    return int("creasing" in directions(proportions(chance, truth, n))[0]), 1


def _same(rows: int, columns: int, n: int, share: float) -> tuple:
    drawn = proportions(np.random.default_rng(0), np.full((rows, columns), share), n)
    return drawn.metric, drawn.axes, (100 * round(n * share) / n,) * (rows * columns), n


def found_out_of_repeats(rows: int, columns: int, repeats: int, chance: Chance) -> Outcome:
    """The same with normal noise, each change as large as another flat grid says."""
    change = series_of(repeated(chance, np.zeros((rows, columns)), repeats))[0].detectable or 0.0
    truth = np.zeros((rows, columns))
    truth[0] = np.linspace(-change / 2, change / 2, columns)
    return int("creasing" in directions(repeated(chance, truth, repeats))[0]), 1


def _nothing() -> Iterator[Scenario]:
    told = "a report says anything of a grid in which nothing differs"
    for rows, columns, n, share in (
        *((1, 7, 100, 0.8), (1, 20, 5, 0.6), (6, 10, 100, 0.8), (4, 5, 150, 0.7), (8, 12, 300, 0.9)),
        *((7, 7, 5, 0.6), (5, 8, 8, 0.9), (3, 20, 1_000, 0.95), (20, 6, 30, 0.5)),
    ):
        for kind in KINDS if rows > 1 else KINDS[:1]:
            setting = f"{rows} {kind} × {columns}, n {n}, p {share}"
            run = partial(says_anything, level(rows, columns, n, share, kind))
            yield Scenario(told, setting, "at_most", 0.05, run, 300)
    for rows, columns, repeats in ((1, 6, 3), (4, 6, 3), (4, 5, 2), (1, 10, 5)):
        for noise in ("equal", "falling 10 : 1", "one cell × 5", "log-sd 1"):
            run = partial(says_anything, runs(rows, columns, repeats, noise, "numeric"))
            setting = f"{rows} × {columns} out of {repeats} repeats, noise {noise}"
            if noise == "equal":
                yield Scenario(told, setting, "at_most", 0.05, run, 200)
            else:
                yield Scenario(f"{told}, noise unequal (equal_noise is assumed)", setting, "shown", None, run, 200)
    for rows, columns, least, most, share in ((1, 8, 20, 500, 0.7), (6, 8, 50, 1_000, 0.8), (5, 10, 10, 200, 0.95)):
        run = partial(says_anything, uneven(rows, columns, least, most, share))
        yield Scenario(told, f"{rows} × {columns}, n {least} to {most}, p {share}", "at_most", 0.05, run, 300)
    for rows, columns in ((1, 8), (4, 6), (7, 12)):
        for noise in ("equal", "falling 10 : 1", "one cell × 5", "log-sd 1"):
            run = partial(says_anything, posted_errors(rows, columns, noise, "numeric"))
            yield Scenario(told, f"{rows} × {columns}, posted errors {noise}", "at_most", 0.05, run, 300)
    for rows, columns, n, share in (
        (1, 12, 1_000, 0.995),
        (6, 6, 1_000, 0.995),
        (1, 12, 1_000, 0.985),
        (6, 8, 300, 0.8),
    ):
        run = partial(says_anything, printed(level(rows, columns, n, share, "numeric")))
        setting = f"{rows} × {columns}, n {n}, p {share}"
        yield Scenario(f"{told}, printed in whole percent", setting, "at_most", 0.05, run, 300)
    for rows in (1, 6):
        run = partial(says_anything, silent(rows, 8, 300, 0.8))
        yield Scenario(told, f"{rows} × 8 without trials", "at_most", 0.05, run, 200)


def _seeds() -> Iterator[Scenario]:
    told = "a report says anything of a grid in which nothing differs, repeats vary by more than their trials"
    for rows, columns, repeats, n, spread in (
        *((1, 4, 2, 20, 5), (1, 4, 2, 200, 5), (1, 7, 2, 20, 5), (1, 7, 3, 50, 3)),
        *((3, 7, 2, 20, 5), (3, 7, 2, 200, 1.5), (3, 7, 5, 50, 5), (7, 20, 2, 20, 5)),
    ):
        for share in (0.5, 0.9):
            run = partial(says_anything, seeds(rows, columns, repeats, n, spread, share))
            setting = f"{rows} × {columns} out of {repeats} repeats of {n}, {spread:g} times the variance, p {share}"
            yield Scenario(told, setting, "at_most", 0.05, run, 400)
            for cells, what in ((False, "all cells together"), (True, "any cell")):
                differ = f"two equal grids are shown to differ, repeats vary by more than their trials: {what}"
                run = partial(found_different, seeds(rows, columns, repeats, n, spread, share), cells)
                yield Scenario(differ, setting, "at_most", 0.05, run, 400)


def _spreads() -> Iterator[Scenario]:
    for cells, trials, share, repeats in (
        *((30, 20, 0.97, 1), (5, 40, 0.95, 1), (10, 100, 0.8, 1), (20, 10, 0.95, 3), (3, 50, 0.9, 3)),
        *((1, 200, 0.9, 5), (1, 100, 0.5, 1)),
    ):
        run = partial(spread_misses, cells, trials, share, repeats)
        setting = f"{cells} cells of {repeats} × {trials} trials, p {share:g}"
        yield Scenario(
            "the interval of a spread by trials, or of repeats, misses", setting, "at_most", 0.06, run, 1_000
        )


def _shocks() -> Iterator[Scenario]:
    for points in (1, 3):
        draw, setting = shocked(6, 8, 200, 0.8, points), f"6 × 8, n 200, p .8, shocks of sd {points} points"
        told = "a common direction, though columns only share shocks"
        yield Scenario(told, setting, "at_most", 0.05, partial(says, "common direction", draw), 200)
        told = "a report says anything, though columns only share shocks (rows_share_nothing is assumed)"
        yield Scenario(told, setting, "shown", None, partial(says_anything, draw), 200)


def _power() -> Iterator[Scenario]:
    for rows, columns, least in ((1, 7, 0.85), (7, 7, 0.33), (7, 12, 0.92)):
        run = partial(falls, rows, columns, 20, 100)
        told = "power: a straight fall of 20 points in one row is called one"
        yield Scenario(told, f"n 100, {rows} × {columns}", "at_least", least, run, 200)
    told = "a change as large as `detectable` is called a trend"
    for rows in (1, 7):
        for m, n, share in ((3, 50, 0.6), (5, 100, 0.7), (8, 100, 0.6), (12, 1_000, 0.8), (20, 50, 0.5)):
            run = partial(found_at_detectable, rows, m, n, share)
            yield Scenario(told, f"{rows} × {m}, n {n}, p {share}", "at_least", 0.77, run, 200)
        for m, repeats in ((4, 2), (6, 3), (10, 5), (20, 3)):
            run = partial(found_out_of_repeats, rows, m, repeats)
            yield Scenario(f"{told}, out of repeats", f"{rows} × {m}, {repeats} repeats", "shown", None, run, 200)


SCENARIOS = [*_nothing(), *_seeds(), *_spreads(), *_shocks(), *_power()]
