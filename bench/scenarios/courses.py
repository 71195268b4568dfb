"""Series whose truth is no line: the change of the ends, the change of a line, and the word flat."""

from collections.abc import Iterator
from functools import partial

import numpy as np

from bench.scenarios import Chance, Outcome, Scenario
from bench.scenarios.worlds import directions, proportions, repeated, series_of
from registry.results.trend_tests import EndChange, FittedChange

COURSES = {
    "line": lambda u: 0.9 - 0.2 * u,
    "saturating": lambda u: 0.9 - 0.5 * np.exp(-5 * u),
    "step": lambda u: np.where(u < 0.5, 0.9, 0.7),
    "hinge": lambda u: 0.9 - 0.4 * np.maximum(u - 0.5, 0),
    "drop at the end": lambda u: np.where(u < 1, 0.9, 0.2),
    "spike": lambda u: np.where(np.arange(u.size) == u.size // 2, 0.6, 0.8),
    "zigzag": lambda u: np.where(np.arange(u.size) % 2, 0.6, 0.9),
}
MARGIN = {
    "a line": lambda m: np.linspace(0, 0.02, m),
    "a V": lambda m: 0.02 * np.abs(np.linspace(-1, 1, m)),
    "one cell": lambda m: np.where(np.arange(m) == m // 2, 0.02, 0.0),
}


def ends(course: str, n: int, columns: int, chance: Chance) -> Outcome:
    """Whether the interval of the change of the ends misses it."""
    truth = COURSES[course](np.linspace(0, 1, columns))
    (found,) = series_of(proportions(chance, truth[None], n))
    return _missed(found.end_change, 100 * (truth[-1] - truth[0]))


def _missed(change: EndChange | FittedChange | None, truth: float) -> Outcome:
    """Whether the interval of a change misses the true one; nothing is counted where there is none."""
    if change is None or change.interval is None:
        return 0, 0
    return int(not change.interval.low <= truth <= change.interval.high), 1


def ends_of_runs(repeats: int, apart: float, chance: Chance) -> Outcome:
    """The same of repeats, the last cell with so many times the noise of the first."""
    noise = np.geomspace(1, apart, 6)[None]
    (found,) = series_of(repeated(chance, np.linspace(0, 3, 6)[None], repeats, noise))
    return _missed(found.end_change, 3.0)


def line_given(course: str, n: int, columns: int, chance: Chance) -> Outcome:
    """Whether the change of a line is given although its interval misses that of the ends."""
    truth = COURSES[course](np.linspace(0, 1, columns))
    (found,) = series_of(proportions(chance, truth[None], n))
    return _missed(found.fitted_change, 100 * (truth[-1] - truth[0]))[0], 1


def said_flat(course: str, n: int, columns: int, chance: Chance) -> Outcome:
    """Whether a series with two cells exactly the margin apart is called flat."""
    truth = 0.88 + MARGIN[course](columns)
    return int(directions(proportions(chance, truth[None], n)) == ["flat"]), 1


def _scenarios() -> Iterator[Scenario]:
    for course in COURSES:
        for n, m in ((20, 8), (100, 5), (500, 5), (500, 12)):
            setting = f"{course}, n {n}, m {m}"
            run = partial(ends, course, n, m)
            limit = 0.05 if n > 20 else 0.06
            yield Scenario("the interval of the change of the ends misses it", setting, "at_most", limit, run, 500)
            if n > 20:
                run = partial(line_given, course, n, m)
                told = "a line's change is given, and its interval misses the change of the ends"
                yield Scenario(told, setting, "shown", None, run, 500)
    for repeats in (2, 3, 5):
        for apart in (1.0, 5.0):
            run = partial(ends_of_runs, repeats, apart)
            told = "the interval of the change of the ends misses it, out of repeats"
            yield Scenario(told, f"{repeats} repeats, noise 1 : {apart:g}", "at_most", 0.06, run, 500)
    for course in MARGIN:
        for n, m in ((3_000, 5), (20_000, 20)):
            run, setting = partial(said_flat, course, n, m), f"{course}, n {n:,}, m {m}"
            yield Scenario("flat, though two cells are the margin apart", setting, "at_most", 0.05, run, 500)


SCENARIOS = list(_scenarios())
