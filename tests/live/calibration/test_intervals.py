"""Intervals that no scenario of `bench` counts hold the truth as often as they say; those of a chart, too."""

import numpy as np
import pytest
from scipy import stats

from registry.grids.grid import Axis, Grid, Level
from registry.views.trade_offs import Standing, places_of
from tests.workers.statistics.documents import describe
from tests.workers.statistics.test_design_effects import PERCENT, grid_of
from workers.statistics.noise import effect_of


def test_the_interval_of_a_ratio_of_proportions_holds_the_truth_as_often_as_it_says() -> None:
    """400 pairs of cells at each of four pairs of truths: with 95 % of such intervals, 361 misses no more than 1 in
    10,000 times."""
    draw, length = np.random.default_rng(20), Axis("Length", "numeric", (Level("0", 0.0), Level("1", 1.0)))
    for before, after in ((0.99, 0.8), (0.9, 0.9), (0.6, 0.3), (0.3, 0.05)):
        hits = draw.binomial(100, [before, after], (400, 2))
        rows = Grid(
            metric=PERCENT,
            axes=(Axis("Run", "nominal", tuple(Level(str(n)) for n in range(400))), length),
            values=tuple(float(one) for one in hits.ravel()),
            trials=100,
        )
        held = [one["retained"] for one in describe(rows)["series"]]
        within = [
            one["interval"] is None or one["interval"]["low"] <= after / before <= one["interval"]["high"]
            for one in held
            if one is not None
        ]
        assert sum(within) >= stats.binom.ppf(1e-4, len(within), 0.95)
        assert all(one["interval"]["low"] <= one["value"] <= one["interval"]["high"] for one in held if one["interval"])


@pytest.mark.parametrize(("cells", "repeats"), [(1, 3), (1, 5), (8, 2), (8, 5)])
def test_intervals_with_it_keep_their_level_whatever_seeds_add(cells: int, repeats: int) -> None:
    """A share of 70 % whose seeds have a standard deviation of 8 points, and one without."""
    chance, worlds, trials = np.random.default_rng(7), 600, 200
    for spread in (0.0, 8.0):
        missed = 0
        for _ in range(worlds):
            rates = np.clip(0.7 + spread / 100 * chance.standard_normal((cells, repeats)), 0, 1)
            found = grid_of(100 * chance.binomial(trials, rates) / trials, trials)
            n = trials * repeats / (effect_of(found) or 1.0)
            share = (found.values[0] or 0.0) / 100
            error = 100 * np.sqrt((share * n + 0.5) / (n + 1) * (1 - (share * n + 0.5) / (n + 1)) / n)
            missed += abs((found.values[0] or 0.0) - 70) > 1.959964 * error
        # 5 % and three standard errors of the simulation.
        assert missed / worlds <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / worlds)


def test_a_point_that_is_truly_on_the_front_is_seldom_called_behind() -> None:
    """Five points on a line of trade-offs, where nobody is better in both: at most 5 % may be called behind."""
    random, rounds = np.random.default_rng(2), 2_000
    truth = np.array([[step, -step] for step in np.linspace(0, 1, 5)])
    wrong = np.zeros(5)
    for drawn in truth + random.normal(0, 1, (rounds, 5, 2)):
        points = [(Standing(float(x), 1.0), Standing(float(y), 1.0)) for x, y in drawn]
        wrong += [place == "behind" for place in places_of(points)]
    assert np.all(wrong / rounds <= 0.05)
