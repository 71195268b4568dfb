"""Places of a series: where a lasting decline begins, whether a course turns, and how wide its sharp steps are."""

from collections.abc import Iterator
from functools import partial

import numpy as np

from bench.scenarios import Chance, Outcome, Scenario
from bench.scenarios.worlds import proportions
from registry.results.courses import Series
from workers.statistics import describe

MARGIN = 0.02
"""The margin of equivalence of a metric from 0 to 100 %."""
FALLS_FROM = 0.9


def falling(cells: int, begin: int, loss: float) -> np.ndarray:
    """Level cells, and from `begin` on a fall in equal steps."""
    steps = np.arange(1, cells - begin + 1) / (cells - begin)
    return np.concatenate([np.full(begin, FALLS_FROM), FALLS_FROM - loss * steps])


PLACES = {
    "level, then 20 points in 5 steps, n 200": (falling(10, 5, 0.20), 200),
    "level, then 30 points in 4 steps, n 100": (falling(8, 4, 0.30), 100),
    "level, then 10 points in 6 steps, n 500": (falling(12, 6, 0.10), 500),
    "a step of 20 points after 2 of 10 cells, n 200": (np.repeat([0.9, 0.7], [2, 8]), 200),
    "two cells at exactly the margin, n 1,000": (np.array([0.9, 0.9, 0.88, 0.88, 0.7, 0.6]), 1_000),
    "a step of 60 points after 3 of 5 cells, n 10": (np.repeat([0.9, 0.3], [3, 2]), 10),
    "a line from 95 to 65 in 8 cells, n 200": (np.linspace(0.95, 0.65, 8), 200),
    "four cells and then 20 points lower, first n 20, others n 500": (
        np.repeat([0.9, 0.7], 4), np.array([[20] + [500] * 7]),
    ),
    "seven rows, one of them level and then 20 points lower, n 200": (
        np.vstack([falling(10, 5, 0.20), np.full((6, 10), 0.9)]), 200,
    ),
}  # fmt: skip
ZIGZAGS = {
    "90 and 60, 8 cells, n 200": (np.tile([0.9, 0.6], 4), 200),
    "90 and 84, 10 cells, n 200": (np.tile([0.9, 0.84], 5), 200),
    "90 and 75, 4 cells, n 100": (np.tile([0.9, 0.75], 2), 100),
}
WEAK_ZIGZAGS = {
    "90 and 60, 5 cells, n 30": (np.array([0.9, 0.6, 0.9, 0.6, 0.9]), 30),
    "90 and 75, 5 cells, n 100": (np.array([0.9, 0.75, 0.9, 0.75, 0.9]), 100),
}


def series_of(truth: np.ndarray, n: int, chance: Chance) -> tuple[Series, ...]:
    return describe(proportions(chance, np.atleast_2d(truth), n)).series


def begins(truth: np.ndarray) -> int:
    """The first cell from which on all are lower than the first by more than the margin; the number of cells if none
    is."""
    worse = truth < truth[0] - MARGIN - 1e-9
    return truth.size if not worse[-1] else truth.size - int(np.argmin(worse[::-1])) if not worse.all() else 0


def misplaced(truth: np.ndarray, n: int, chance: Chance) -> Outcome:
    """Whether the set of any series does not hold the place where it begins to decline."""
    places = [begins(row) for row in np.atleast_2d(truth)]
    sets = [one.onset for one in series_of(truth, n, chance)]
    return int(
        any(
            one is not None and one.by is not None and one.until is not None and not one.until < place <= one.by
            for one, place in zip(sets, places, strict=True)
        )
    ), 1


def declines(truth: np.ndarray, n: int, chance: Chance) -> Outcome:
    return int(any(one.onset is not None and one.onset.by is not None for one in series_of(truth, n, chance))), 1


def turns(truth: np.ndarray, n: int, chance: Chance) -> Outcome:
    return int(any("then" in one.direction for one in series_of(truth, n, chance))), 1


def missing_steps(rows: int, cells: int, n: int, loss: float, chance: Chance) -> Outcome:
    """How many of the intervals of sharp steps miss, and how many sharp steps there are."""
    truth = np.full((rows, cells), 0.7)
    truth[:, cells // 2 :] -= loss
    moves = 100 * np.diff(truth, axis=1)
    sharp = [
        (step.interval, moves[row, int(step.from_)])
        for row, one in enumerate(series_of(truth, n, chance))
        for step in one.changes
        if step.sharp
    ]
    missed = sum(within is not None and not within.low <= move <= within.high for within, move in sharp)
    return missed, len(sharp)


def share_of_missing(rows: int, cells: int, n: int, loss: float, chance: Chance) -> Outcome:
    """The same share of a grid in thousandths, none where no step is sharp."""
    missed, sharp = missing_steps(rows, cells, n, loss, chance)
    return round(1000 * missed / max(1, sharp)), 1000


def _scenarios() -> Iterator[Scenario]:
    for setting, world in PLACES.items():
        run = partial(misplaced, *world)
        yield Scenario("the place where a lasting decline begins is missed", setting, "at_most", 0.05, run, 500)
    for setting, world in ZIGZAGS.items():
        yield Scenario("a lasting decline of a zigzag", setting, "at_most", 0.05, partial(declines, *world), 500)
        yield Scenario("one turn of a zigzag", setting, "at_most", 0.05, partial(turns, *world), 500)
    for setting, world in WEAK_ZIGZAGS.items():
        yield Scenario("one turn of a zigzag within the noise", setting, "shown", None, partial(turns, *world), 500)
    for n, share in ((10, 0.9), (100, 0.98)):
        run = partial(declines, np.full((7, 8), share), n)
        yield Scenario("a lasting decline, flat truth", f"7 × 8, n {n}, p {share}", "at_most", 0.05, run, 500)
    for setting in list(PLACES)[:4]:
        run = partial(turns, *PLACES[setting])
        yield Scenario("one turn of a course that only falls", setting, "at_most", 0.05, run, 500)
    for rows, cells, n, loss in ((7, 6, 100, 0.04), (7, 10, 200, 0.03), (7, 6, 100, 0.08), (1, 5, 100, 0.10)):
        setting = f"{rows} × {cells}, n {n}, a step of {100 * loss:g} points"
        run = partial(share_of_missing, rows, cells, n, loss)
        yield Scenario("intervals of sharp steps that miss, of those of a grid", setting, "at_most", 0.05, run, 500)
        run = partial(missing_steps, rows, cells, n, loss)
        yield Scenario("the same, of those of all grids together", setting, "shown", None, run, 500)
    power = ("level, then 20 points in 5 steps, n 200", "a step of 20 points after 2 of 10 cells, n 200")
    for setting in power:
        run = partial(declines, *PLACES[setting])
        yield Scenario("power: a lasting decline is said", setting, "at_least", 0.80, run, 500)
    run = partial(turns, np.array([0.9, 0.85, 0.8, 0.75, 0.8, 0.85, 0.9]), 200)
    yield Scenario("power: a V of 15 points is said to turn", "7 cells, n 200", "at_least", 0.80, run, 500)


SCENARIOS = list(_scenarios())
